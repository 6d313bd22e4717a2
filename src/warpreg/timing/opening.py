"""Named tuples of arrays as one array of addresses, and the function that makes the tuple of it in compiled code."""

from __future__ import annotations

import linecache
from collections.abc import Mapping
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray


def identity() -> FunctionType:
    """For plain Python, which is handed the tuple itself."""
    return made("opened", "def opened(d):\n    return d\n", {})


def opener(value: tuple[Any, ...]) -> tuple[NDArray[np.int64], FunctionType]:
    """The addresses, shapes and numbers of named tuples in each other, and ``opened(table)``, which makes such a tuple
    that stands for the same memory.

    The tuple must outlive the table; ``opened`` is to be compiled, for tables of tuples of the same types only.  Its
    text holds the types, so that a fingerprint of it covers them.
    """
    import numba

    typeof: Any = numba.typeof
    text = f'def opened(table):\n    """{_outline(value)}"""\n    return native(table)\n'
    return np.array(_words(value), np.int64), made("opened", text, {"native": _native(typeof(value))})


def made(name: str, text: str, names: Mapping[str, Any]) -> FunctionType:
    """The function of that name in a text, which tracebacks can show."""
    file = f"<bound {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"__name__": __name__, **names}
    exec(compile(text, file, "exec"), namespace)
    function: FunctionType = namespace[name]
    return function


def _words(value: Any) -> list[int]:
    """An array's address and shape, a number's bits; those of a tuple's items one after the other."""
    if isinstance(value, tuple):
        return [word for one in value for word in _words(one)]
    if isinstance(value, np.ndarray):
        return [value.ctypes.data, *value.shape]
    return [int(np.float64(value).view(np.int64)) if isinstance(value, float) else int(value)]


def _outline(value: Any) -> str:
    if isinstance(value, tuple):
        names: tuple[str, ...] = getattr(value, "_fields", ())
        inner = ", ".join(f"{name}: {_outline(one)}" for name, one in zip(names, value, strict=True))
        return f"{type(value).__name__}({inner})"
    if isinstance(value, np.ndarray):
        return f"{value.dtype.name}[{value.ndim}]"
    return type(value).__name__


def _native(kind: Any) -> Any:
    """The intrinsic that makes a tuple of type ``kind``: loads, which the optimizer drops where nothing uses them."""
    from numba.core import cgutils, types
    from numba.extending import intrinsic
    from numba.np import arrayobj

    make_array: Any = arrayobj.make_array
    populate: Any = arrayobj.populate_array
    element: Any = cgutils.gep_inbounds

    def array(context: Any, builder: Any, wanted: Any, words: Any) -> Any:
        item = context.get_data_type(wanted.dtype)
        data = builder.inttoptr(next(words), item.as_pointer())
        shape = [next(words) for _ in range(wanted.ndim)]
        step = context.get_constant(types.intp, context.get_abi_sizeof(item))
        strides = [step]
        for extent in reversed(shape[1:]):
            strides.insert(0, builder.mul(strides[0], extent))
        found = make_array(wanted)(context, builder)
        populate(found, data=data, shape=shape, strides=strides, itemsize=step, meminfo=None)
        return found._getvalue()

    def value(context: Any, builder: Any, wanted: Any, words: Any) -> Any:
        if isinstance(wanted, types.BaseTuple):
            parts: Any = wanted
            items = [value(context, builder, one, words) for one in parts.types]
            return context.make_tuple(builder, wanted, items)
        if isinstance(wanted, types.Array):
            return array(context, builder, wanted, words)
        word = next(words)
        return builder.bitcast(word, context.get_value_type(wanted)) if isinstance(wanted, types.Float) else word

    @intrinsic
    def native(typing_context: Any, table: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            data = make_array(signature.args[0])(context, builder, arguments[0]).data

            def words() -> Any:
                position = 0
                while True:
                    yield builder.load(element(builder, data, position))
                    position += 1

            return value(context, builder, signature.return_type, words())

        return kind(table), generate

    return native
