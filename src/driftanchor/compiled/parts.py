"""How the functions of a kernel become parts of it, and not kernels of their own.

Left to itself Numba makes machine code of every function that compiled code calls, each time with
all that the function calls, although only the kernel is ever called from Python. A kernel is made
of about a hundred functions, so most of the time went into code that nobody runs. Here a function
becomes a part: it is translated, and left at that. The kernel puts its parts together, once, and
all of them are made into machine code together.

Numba asks for this with a compiler of one's own (`pipeline_class`), which is a row of passes. The
functions of this package are plain scalar code, so their row leaves out the passes for what they do
not use: closures, `with`, literals and array expressions. Functions of the user's own take all.

The module imports Numba: import it where Numba is known to be there.
"""

from __future__ import annotations

from typing import Any

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
        "dump_parfor_diagnostics",
    )
)


class PartLibrary(_library):  # type: ignore[misc]
    """The code of one function, to be put into a kernel; what it calls is not in it."""

    def finalize(self) -> None:
        """Let any number of kernels take a copy."""
        self._raise_if_finalized()
        for function in self._final_module.functions:
            if not function.is_declaration:
                function.linkage = "linkonce_odr"
        self._finalized = True


class KernelLibrary(_library):  # type: ignore[misc]
    """The code of a kernel with all its parts."""

    def finalize(self) -> None:
        """Put the parts in, callers before what they call, and make machine code of all.

        What nobody in the kernel calls yet would be left out when it is put in.
        """
        called_first = dict[Any, None]()
        for library in self._linking_libraries:
            _add_with_called(library, called_first)
        self._linking_libraries: list[Any] = list(reversed(called_first))
        super().finalize()


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
        state.targetctx.insert_user_function(known_by, described, [library])
        state.reload_init.extend(getattr(library, "_reload_init", ()))  # from Numba 0.63 on
        state["cr"] = lowered._replace(cfunc=known_by)
        return True


@_machinery.register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(_lowering):  # type: ignore[misc]
    """Makes a kernel of a loop and its parts."""

    _name = "driftanchor_kernel_lowering"

    def run_pass(self, state: Any) -> bool:
        """Translate, put the parts in, and make machine code."""
        codegen = state.targetctx.codegen()
        state.library = KernelLibrary(codegen, state.func_id.func_qualname)
        state.library.enable_object_caching()
        super().run_pass(state)
        for variable in state.library._final_module.global_variables:
            # As when a kernel is loaded from disk: parts have no machine code that had done it.
            if variable.name.startswith("_ZN08NumbaEnv"):
                environment = _lookup_environment(variable.name)
                if environment is not None:
                    codegen.set_env(variable.name, environment)
        return True


class _Compiler(_base):  # type: ignore[misc]
    """Numba's own row of passes, with another one at its end."""

    lowering = _lowering
    unused: frozenset[str] = frozenset()

    def define_pipelines(self) -> list[Any]:
        """The one row of passes that there is."""
        passes = _machinery.PassManager("driftanchor")
        usual = _compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        for step, text in usual.passes:
            if step._name not in self.unused:
                passes.add_pass(self.lowering if step is _lowering else step, text)
        passes.finalize()
        return [passes]


class PartCompiler(_Compiler):
    """For functions that a kernel calls."""

    lowering = PartLowering


class PlainPartCompiler(PartCompiler):
    """For those of them that are plain scalar code."""

    unused = UNUSED


class KernelCompiler(_Compiler):
    """For the loop of a kernel."""

    lowering = KernelLowering
