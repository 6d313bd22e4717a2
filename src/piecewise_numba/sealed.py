"""Sealed records: references to named tuples that most functions only pass on.

The fields of a record differ between designs.  A function that takes a sealed record and uses none of its fields is
the same machine code for all of them; one that uses a field depends on that field, and on those before it.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

from piecewise_numba.natives import native
from piecewise_numba.references import inner_of, loaded_inner

Use = Callable[[Any, str], None]
_watchers: list[Use] = []


@contextmanager
def watched(use: Use) -> Iterator[None]:
    """In this context, ``use(kind, field)`` is called where compiled code uses a field of a sealed record."""
    _watchers.append(use)
    try:
        yield
    finally:
        _watchers.pop()


def sealed(record: Any) -> Any:
    """The named tuple; compiled code passes its address, as with `piecewise_numba.records.by_reference`.  Fields that
    are records are by reference.
    """
    return record


def place_of(record: Any) -> str:
    """The class of the record of a sealed type, as text: functions that use no field know no more of it."""
    return f"{record.instance_class.__module__}.{record.instance_class.__qualname__}"


def digest_up_to(record: Any, field: str, digest_of: Callable[[Any], str]) -> str:
    """What a function depends on that uses a field: where it is and its type; of all fields, without a name."""
    last = record.fields.index(field) + 1 if field else len(record.fields)
    parts = (field, *map(digest_of, record.types[:last]))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


_numbers = itertools.count()


@functools.cache
def _short_name(record: Any) -> str:
    """A short name per type, unique in this process; see `piecewise_numba.bare_arrays`."""
    return f"Sealed{next(_numbers)}"


@functools.cache
def sealed_type() -> Any:
    """The numba type of a sealed record."""
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.core.typing import templates
    from numba.extending import infer_getattr, lower_getattr_generic, models, register_model

    numba, llvm = cast(Any, cgutils), cast(Any, ir)

    class Sealed(types.Type):
        """Reference to a ``record`` in the frame of a caller."""

        def __init__(self, record: Any) -> None:
            self.record = record
            super().__init__(_short_name(record))

    class Model(models.PrimitiveModel):
        def __init__(self, manager: Any, kind: Any) -> None:
            cast(Any, super()).__init__(manager, kind, llvm.IntType(8).as_pointer())

    class Attributes(templates.AttributeTemplate):
        key = Sealed

        def generic_resolve(self, kind: Any, name: str) -> Any:  # type: ignore[override]
            if name not in kind.record.fields:
                return None
            for use in _watchers:
                use(kind, name)
            return inner_of(kind.record.types[kind.record.fields.index(name)])

    def load(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
        """The field, whose address depends on the fields before it."""
        place = kind.record.fields.index(name)
        parts = [context.get_value_type(one) for one in kind.record.types[: place + 1]]
        whole = builder.bitcast(value, llvm.LiteralStructType(parts).as_pointer())
        return loaded_inner(context, builder, kind.record.types[place], numba.gep_inbounds(builder, whole, 0, place))

    cast(Any, register_model)(Sealed)(Model)
    cast(Any, infer_getattr)(Attributes)
    cast(Any, lower_getattr_generic)(Sealed)(load)
    return Sealed


@functools.cache
def _sealing() -> Any:
    from numba.extending import intrinsic

    kind = sealed_type()

    @intrinsic
    def seal(typing_context: Any, record: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            with builder.goto_entry_block():
                place = builder.alloca(arguments[0].type)
            builder.store(arguments[0], place)
            return builder.bitcast(place, context.get_value_type(signature.return_type))

        return kind(record)(record), generate

    return seal


native(_sealing)(sealed)
