"""How the functions of this package are translated for LLVM.

Numba's own translation serves everything that Numba can compile, and LLVM then removes what a
function did not need: that takes longer than all the rest. Functions of ours are plain scalar code
that counts no references, so their translation is shorter, and LLVM makes the same machine code of
it:

- No variable is deleted, and none is read before it is written to.
- A cell of an array is found by the array's data, without a copy of the array.
- A part that LLVM inlines gets each argument whole, where Numba would take apart all arrays in all
  tuples and put them together again. An error in it goes straight to whoever called its caller.

These are inner parts of Numba, tried with 0.60 and 0.68. Where one is missing, `FITS` is false and
Numba's own translation serves. The module imports Numba: import it where Numba is known to be
there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from driftanchor.errors import require


def _numba(module: str) -> Any:
    return require(f"numba.{module}", extra="fast", why="compiled simulation")


_lower: Any = _numba("core.lowering").Lower
_types = _numba("core.types")
_cgutils = _numba("core.cgutils")
_callconv = _numba("core.callconv")
_arrays = _numba("np.arrayobj")
_ir = require("llvmlite.ir", extra="fast", why="compiled simulation")

FITS = (
    all(hasattr(_arrays, name) for name in ("load_item", "store_item", "fix_integer_index"))
    and all(hasattr(_callconv, name) for name in ("errcode_t", "excinfo_ptr_t"))
    and hasattr(_callconv.CPUCallConv, "_get_return_status")
    and hasattr(_cgutils, "get_item_pointer2")
    and hasattr(_lower, "_find_singly_assigned_variable")
    and hasattr(_lower, "extract_function_arguments")
)
_PLAIN = "driftanchor_plain"  # on a function of LLVM whose translator is one of these


class Translator(_lower):  # type: ignore[misc]
    """Translates the loop of a kernel."""

    def setup_function(self, fndesc: Any) -> None:
        """Begin the function."""
        super().setup_function(fndesc)
        setattr(self.function, _PLAIN, True)

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        """A place for a variable."""
        return _cgutils.alloca_once(self.builder, lltype, name=name)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Set a variable, whatever it was."""
        if self.context.enable_nrt:
            super().storevar(value, name, argidx)
        elif name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        """Let it be, where no references are counted."""
        if self.context.enable_nrt:
            super().delvar(name)

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """Read a cell of an array, or whatever else is indexed."""
        cell = self._cell(value, index)
        if cell is None:
            return super().lower_getitem(resty, expr, value, index, signature)
        array = self.typeof(value.name)
        found = _arrays.load_item(self.context, self.builder, array, cell)
        return self.context.cast(self.builder, found, array.dtype, resty)

    def lower_setitem(self, target: Any, index: Any, value: Any, signature: Any) -> Any:
        """Write to a cell of an array, or to whatever else is indexed."""
        cell = self._cell(target, index)
        if cell is None:
            return super().lower_setitem(target, index, value, signature)
        array, given = self.typeof(target.name), self.typeof(value.name)
        number = self.context.cast(self.builder, self.loadvar(value.name), given, array.dtype)
        _arrays.store_item(self.context, self.builder, array, number, cell)
        return None

    def _cell(self, value: Any, index: Any) -> Any:
        """Where a cell of an array is; `None` for what is no single cell, or must be checked."""
        context, builder = self.context, self.builder
        array, at = self.typeof(value.name), self.typeof(index.name)
        kinds = at.types if isinstance(at, _types.BaseTuple) else (at,)
        if (
            not isinstance(array, _types.Array)
            or not isinstance(array.dtype, _types.Number | _types.Boolean)
            or len(kinds) != array.ndim
            or not all(isinstance(kind, _types.Integer) for kind in kinds)
            or context.enable_boundscheck
        ):
            return None
        numbers, place = self.loadvar(value.name), self.loadvar(index.name)
        places = [place]
        if isinstance(at, _types.BaseTuple):
            places = _cgutils.unpack_tuple(builder, place, count=len(kinds))
        model = context.data_model_manager[array]
        shape = _cgutils.unpack_tuple(builder, model.get(builder, numbers, "shape"))
        strides = _cgutils.unpack_tuple(builder, model.get(builder, numbers, "strides"))
        places = [
            _arrays.fix_integer_index(context, builder, kind, x, size)
            for kind, x, size in zip(kinds, places, shape, strict=True)
        ]
        data = model.get(builder, numbers, "data")
        return _cgutils.get_item_pointer2(
            context, builder, data, shape, strides, array.layout, places
        )


class PartTranslator(Translator):
    """Translates a part of a kernel."""

    def setup_function(self, fndesc: Any) -> None:
        """Begin the function."""
        self.function = _declared(self.context, self.module, fndesc)
        self.entry_block = self.function.append_basic_block("entry")
        self.builder = _ir.IRBuilder(self.entry_block)
        self.call_helper = self.call_conv.init_call_helper(self.builder)
        setattr(self.function, _PLAIN, True)

    def extract_function_arguments(self) -> Any:
        """The arguments, as they are."""
        if not self.fndesc.inline:
            return super().extract_function_arguments()
        given = iter(self.call_conv.get_arguments(self.function))
        self.fnargs = [next(given) if _is_given(kind) else None for kind in self.fndesc.argtypes]
        return self.fnargs


def _declared(context: Any, module: Any, described: Any) -> Any:
    """The function of a part, for LLVM."""
    if described.inline:
        given = [context.get_value_type(kind) for kind in described.argtypes if _is_given(kind)]
        result = context.call_conv.get_return_type(described.restype)
        error = _ir.PointerType(_callconv.excinfo_ptr_t)
        kind = _ir.FunctionType(_callconv.errcode_t, [result, error, *given])
    else:
        kind = context.call_conv.get_function_type(described.restype, described.argtypes)
    function = _cgutils.get_or_insert_function(module, kind, described.mangled_name)
    function.attributes.add("alwaysinline" if described.inline else "noinline")
    return function


def _is_given(kind: Any) -> bool:
    """Whether an argument is passed. One that was left out has its default in the function."""
    return not isinstance(kind, _types.Omitted)


def call_of(described: Any, library: Any) -> Callable[..., Any]:
    """How a part is called, as `numba.core.imputils.user_function` says it of other functions."""

    def call(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        function, caller = _declared(context, builder.module, described), builder.function
        result = _cgutils.alloca_once(builder, function.args[0].type.pointee)
        kinds = described.argtypes
        if described.inline:
            values = [x for x, kind in zip(values, kinds, strict=True) if _is_given(kind)]
        else:
            values = context.get_arg_packer(kinds).as_arguments(builder, values)
        if hasattr(caller, _PLAIN):
            code = builder.call(function, [result, caller.args[1], *values])
            failed = builder.icmp_unsigned("!=", code, code.type(0))
            with _cgutils.if_unlikely(builder, failed):
                builder.ret(code)
        else:  # in which there may be a `try`
            error = _cgutils.alloca_once(builder, function.args[1].type.pointee)
            code = builder.call(function, [result, error, *values])
            status = context.call_conv._get_return_status(builder, code, builder.load(error))
            with _cgutils.if_unlikely(builder, status.is_error):
                context.call_conv.return_status_propagate(builder, status)
        found = builder.load(result)
        return context.get_returned_value(builder, described.restype, found)

    call.__dict__["libs"] = (library,)  # what the caller needs
    return call
