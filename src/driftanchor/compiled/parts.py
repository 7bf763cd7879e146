"""How the functions of a kernel become parts of it, and not kernels of their own.

Left to itself Numba makes machine code of every function that compiled code calls, each time with
all that the function calls, although only the kernel is ever called from Python. A kernel is made
of about a hundred functions, so most of the time went into code that nobody runs. Here a function
becomes a part: it is translated, and left at that. The kernel puts its parts together, once, and
all of them are made into machine code together.

Numba asks for this with a compiler of one's own (`pipeline_class`), which is a row of passes. The
functions of this package are plain scalar code, so their row leaves out the passes for what they do
not use: closures, `with`, literals and array expressions. They also have a translator of their own
(see `translation`). Functions of the user's own take all passes, and Numba's translator.

The module imports Numba: import it where Numba is known to be there.
"""

from __future__ import annotations

from typing import Any, ClassVar

from driftanchor.compiled.plain_builtins import INSTEAD
from driftanchor.compiled.translation import FITS, PartTranslator, Translator, call_of
from driftanchor.errors import require


def _numba(module: str) -> Any:
    return require(f"numba.{module}", extra="fast", why="compiled simulation")


_compiler = _numba("core.compiler")
_machinery = _numba("core.compiler_machinery")
_library: Any = _numba("core.codegen").JITCodeLibrary
_lowering: Any = _numba("core.typed_passes").NativeLowering
_base: Any = _compiler.CompilerBase
_lookup_environment = _numba("core.environment").lookup_environment
_make_function = _numba("_dynfunc").make_function
_ir = _numba("core.ir")
_processing: Any = _numba("core.untyped_passes").IRProcessing

_Linkage: Any = require("llvmlite.binding", extra="fast", why="compiled simulation").Linkage
_CALLED_BY_PYTHON = "_ZN7cpython"  # how Numba begins the name

UNUSED = frozenset(  # passes, by the names that Numba gives them
    (
        "with_lifting",
        "inline_closure_likes",
        "rewrite_semantic_constants",
        "dead_branch_prune",
        "Rewrite dynamic raises",
        "make_function_op_code_to_jit_function",
        "inline_inlinables",
        "find_literally",
        "literal_unroll",
        "LiteralPropagation",
        "inline_overloads",
        "nopython_rewrites",
        "nopython_supported_feature_validation",
        "annotate_types",
        "ir_legalization",
        "dump_parfor_diagnostics",
    )
)


class _Library(_library):  # type: ignore[misc]
    """As Numba's, but it skips functions that are only declared, of which there are many."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Optimise the functions one at a time."""
        try:
            passes, builder = self._codegen._function_pass_manager()
        except TypeError:  # an older Numba
            super()._optimize_functions(ll_module)
            return
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration and not self._left_alone(function):
                passes.run(function, builder)

    def _left_alone(self, function: Any) -> bool:
        """Whether a function is not optimised."""
        return False


class PartLibrary(_Library):
    """The code of one function, to be put into a kernel; what it calls is not in it."""

    def finalize(self) -> None:
        """Let any number of kernels take a copy."""
        self._raise_if_finalized()
        for function in self._final_module.functions:
            if not function.is_declaration:
                function.linkage = "linkonce_odr"
        self._finalized = True


class KernelLibrary(_Library):
    """The code of a kernel with all its parts."""

    is_brief = False

    def _left_alone(self, function: Any) -> bool:
        """Whether Python calls a long loop by this function, which takes its arguments apart.

        There are more than a hundred, in arrays in tuples, and LLVM takes a tenth of its time for
        what then runs for microseconds.
        """
        if self.is_brief or not function.name.startswith(_CALLED_BY_PYTHON):
            return False
        function.add_function_attribute("noinline")  # LLVM wants both
        function.add_function_attribute("optnone")
        return True

    def finalize(self) -> None:
        """Put the parts in, callers before what they call, and make machine code of all.

        What nobody in the kernel calls yet would be left out when it is put in.
        """
        called_first = dict[Any, None]()
        for library in self._linking_libraries:
            _add_with_called(library, called_first)
        self._linking_libraries: list[Any] = list(reversed(called_first))
        super().finalize()

    def _optimize_final_module(self) -> None:
        """Optimise all of it: nobody else calls the parts."""
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == _Linkage.linkonce_odr:
                function.linkage = "internal"
        super()._optimize_final_module()


def _add_with_called(library: Any, called_first: dict[Any, None]) -> None:
    """Add a library after all that its parts call."""
    if library in called_first:
        return
    if isinstance(library, PartLibrary):
        for called in library._linking_libraries:
            _add_with_called(called, called_first)
    called_first[library] = None


@_machinery.register_pass(mutates_CFG=True, analysis_only=False)
class PartLowering(_lowering):  # type: ignore[misc]
    """Makes a part of a function."""

    _name = "driftanchor_part_lowering"

    def run_pass(self, state: Any) -> bool:
        """Translate, and stop before machine code."""
        state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        # Set here, and not as an option: Numba compiles a function again for callers with other
        # options, although these are no different.
        state.flags.forceinline = not getattr(state.func_id.func, "apart", False)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered, library = state["cr"], state.library
        described = lowered.fndesc
        name = described.qualname.rpartition(".")[2]
        # Numba finds the function by this object; nobody calls it.
        known_by = _make_function(described.lookup_module(), name, "", 0, lowered.env, (library,))
        self.make_known(state.targetctx, known_by, described, library)
        state.reload_init.extend(getattr(library, "_reload_init", ()))  # from Numba 0.63 on
        state["cr"] = lowered._replace(cfunc=known_by)
        return True

    def make_known(self, context: Any, known_by: Any, described: Any, library: Any) -> None:
        """Let others call the part."""
        context.insert_user_function(known_by, described, [library])


@_machinery.register_pass(mutates_CFG=True, analysis_only=False)
class PlainPartLowering(PartLowering):
    """Makes a part of a function of ours."""

    _name = "driftanchor_plain_part_lowering"

    @property
    def lowering_class(self) -> Any:
        """What translates it."""
        return PartTranslator

    def make_known(self, context: Any, known_by: Any, described: Any, library: Any) -> None:
        """Let others call the part, in the way that its translator begins it."""
        call = call_of(described, library)
        context.insert_func_defn([(call, known_by, described.argtypes)])


@_machinery.register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(_lowering):  # type: ignore[misc]
    """Makes a kernel of a loop and its parts."""

    _name = "driftanchor_kernel_lowering"

    @property
    def lowering_class(self) -> Any:
        """What translates the loop."""
        return Translator if FITS else super().lowering_class

    def run_pass(self, state: Any) -> bool:
        """Translate, put the parts in, and make machine code."""
        codegen = state.targetctx.codegen()
        state.library = KernelLibrary(codegen, state.func_id.func_qualname)
        state.library.is_brief = not state.flags.release_gil
        state.library.enable_object_caching()
        super().run_pass(state)
        for variable in state.library._final_module.global_variables:
            # As when a kernel is loaded from disk: parts have no machine code that had done it.
            if variable.name.startswith("_ZN08NumbaEnv"):
                environment = _lookup_environment(variable.name)
                if environment is not None:
                    codegen.set_env(variable.name, environment)
        return True


@_machinery.register_pass(mutates_CFG=True, analysis_only=False)
class PlainNames(_processing):  # type: ignore[misc]
    """Puts functions of ours in place of some of Python's, before types are found."""

    _name = "driftanchor_plain_names"

    def run_pass(self, state: Any) -> bool:
        """Look at all names that the function reads."""
        done: bool = super().run_pass(state)
        for block in state.func_ir.blocks.values():
            for step in block.find_insts(_ir.Assign):
                name = step.value
                if isinstance(name, _ir.Global) and callable(name.value):
                    name.value = INSTEAD.get(name.value, name.value)
        return done


class _Compiler(_base):  # type: ignore[misc]
    """Numba's own row of passes, with others in place of some."""

    instead: ClassVar[dict[Any, Any]] = {}
    unused: frozenset[str] = frozenset()

    def define_pipelines(self) -> list[Any]:
        """The one row of passes that there is."""
        passes = _machinery.PassManager("driftanchor")
        usual = _compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        for step, text in usual.passes:
            if step._name not in self.unused:
                passes.add_pass(self.instead.get(step, step), text)
        passes.finalize()
        return [passes]


class PartCompiler(_Compiler):
    """For functions that a kernel calls."""

    instead: ClassVar = {_lowering: PartLowering}


class PlainPartCompiler(PartCompiler):
    """For those of them that are plain scalar code."""

    instead: ClassVar = {
        _lowering: PlainPartLowering if FITS else PartLowering,
        _processing: PlainNames,
    }
    unused = UNUSED


class KernelCompiler(_Compiler):
    """For the loop of a kernel."""

    instead: ClassVar = {_lowering: KernelLowering, _processing: PlainNames}
