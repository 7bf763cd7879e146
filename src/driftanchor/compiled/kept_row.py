"""How compiled code reads and writes what is kept of an arm: a row of numbers, as a named tuple.

The module imports Numba: import it where Numba is known to be there.
"""

from __future__ import annotations

from typing import Any

from driftanchor.errors import require


def _numba(module: str) -> Any:
    return require(f"numba.{module}", extra="fast", why="compiled simulation")


_extending = _numba("extending")
_types = _numba("core.types")
_cgutils = _numba("core.cgutils")


def reader(kind: Any, first: int) -> Any:
    """A function for compiled code: (array, row) -> the numbers from column `first` on, as `kind`.

    Numba has one that makes tuples of arrays, which it compiles as a kernel of its own.
    """
    columns = range(first, first + len(kind._fields))

    @_extending.intrinsic  # type: ignore[untyped-decorator]
    def read(context: Any, array: Any, row: Any) -> Any:
        found = _types.NamedUniTuple(array.dtype, len(columns), kind)

        def translate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            given, at = values
            cells = _cells(context, builder, array, given, at, columns)
            return context.make_tuple(builder, found, [builder.load(cell) for cell in cells])

        return found(array, row), translate

    return read


def writer(kind: Any, first: int) -> Any:
    """A function for compiled code: (array, row, a `kind`) writes it, from column `first` on.

    A loop over the numbers of a tuple would be compiled as a jump for each of them.
    """
    columns = range(first, first + len(kind._fields))

    @_extending.intrinsic  # type: ignore[untyped-decorator]
    def write(context: Any, array: Any, row: Any, kept: Any) -> Any:
        def translate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            given, at, numbers = values
            cells = _cells(context, builder, array, given, at, columns)
            for i, cell in enumerate(cells):
                number = builder.extract_value(numbers, i)
                builder.store(context.cast(builder, number, kept[i], array.dtype), cell)
            return context.get_dummy_value()

        return _types.void(array, row, kept), translate

    return write


def _cells(context: Any, builder: Any, array: Any, given: Any, at: Any, columns: range) -> Any:
    """Where the numbers of a row are."""
    numbers = context.make_array(array)(context, builder, given)
    places = [(at, context.get_constant(_types.intp, column)) for column in columns]
    return [_cgutils.get_item_pointer(context, builder, array, numbers, place) for place in places]
