"""Types of references to named tuples in compiled code, and of references with other values in some fields."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, cast

_numbers = itertools.count()


@functools.cache
def _short_name(*parts: Any) -> str:
    """A short name per type, unique in this process; see `piecewise_numba.bare_arrays`."""
    return f"Reference{next(_numbers)}"


@functools.cache
def reference_type() -> Any:
    """The numba type of a reference to a named tuple."""
    from numba.core import cgutils, types
    from numba.core.typing import templates
    from numba.extending import infer_getattr, lower_builtin, lower_getattr_generic, models, register_model

    numba = cast(Any, cgutils)

    class Reference(types.Type):
        """Reference to a ``record`` in the frame of this function or of a caller."""

        def __init__(self, record: Any) -> None:
            self.record = record
            super().__init__(_short_name(record))

    class Model(models.PrimitiveModel):
        def __init__(self, manager: Any, kind: Any) -> None:
            pointer = manager.lookup(kind.record).get_value_type().as_pointer()
            cast(Any, super()).__init__(manager, kind, pointer)

    class Attributes(templates.AttributeTemplate):
        key = Reference

        def generic_resolve(self, kind: Any, name: str) -> Any:  # type: ignore[override]
            record = kind.record
            return inner_of(record.types[record.fields.index(name)]) if name in record.fields else None

    class Item(templates.AbstractTemplate):
        key = "static_getitem"

        def generic(self, args: Any, kws: Any) -> Any:
            if not isinstance(args[0], Reference):
                return None
            return cast(Any, templates).signature(inner_of(args[0].record.types[args[1]]), *args)

    def load(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
        return element(context, builder, kind, value, kind.record.fields.index(name))

    def item(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return element(context, builder, signature.args[0], *arguments)

    def element(context: Any, builder: Any, kind: Any, value: Any, place: int) -> Any:
        pointer = numba.gep_inbounds(builder, value, 0, place)
        return loaded_inner(context, builder, kind.record.types[place], pointer)

    cast(Any, register_model)(Reference)(Model)
    cast(Any, infer_getattr)(Attributes)
    cast(Any, lower_getattr_generic)(Reference)(load)
    cast(Any, templates).infer(Item)
    cast(Any, lower_builtin)("static_getitem", Reference, cast(Any, types).IntegerLiteral)(item)
    return Reference


def inner_of(kind: Any) -> Any:
    """What the field of a record by reference is in compiled code: by reference too, if it is a record."""
    return reference_type()(kind) if hasattr(kind, "instance_class") else kind


def loaded_inner(context: Any, builder: Any, kind: Any, pointer: Any) -> Any:
    """The value of such a field, from its address."""
    from numba.core import imputils

    if inner_of(kind) is not kind:
        return pointer
    return cast(Any, imputils).impl_ret_borrowed(context, builder, kind, builder.load(pointer))


@functools.cache
def changed_type() -> Any:
    """The numba type of a reference to a named tuple that has other values in some fields."""
    from numba.core import types
    from numba.core.typing import templates
    from numba.extending import infer_getattr, lower_getattr_generic, models, register_model

    class Changed(types.Type):
        """A ``reference``, but for fields with ``names``, whose types are ``kinds``."""

        def __init__(self, reference: Any, names: tuple[str, ...], kinds: tuple[Any, ...]) -> None:
            self.reference, self.names, self.kinds = reference, names, kinds
            super().__init__(_short_name(reference, names, kinds))

        @staticmethod
        def of(given: Any, names: Sequence[str], kinds: Sequence[Any]) -> Any:
            """The type of a reference, or of one with other values, with these in its fields ``names``."""
            before = dict(zip(given.names, given.kinds, strict=True)) if isinstance(given, Changed) else {}
            after = before | dict(zip(names, kinds, strict=True))
            return Changed(getattr(given, "reference", given), tuple(after), tuple(after.values()))

        @staticmethod
        def lowered(context: Any, builder: Any, made: Any, given: Any, value: Any, values: Mapping[str, Any]) -> Any:
            """The value of type ``made``, from that of type ``given`` with these ``values`` of fields."""
            changed = context.get_constant_undef(made)
            before = range(1, 1 + len(given.names)) if isinstance(given, Changed) else ()
            base = builder.extract_value(value, 0) if isinstance(given, Changed) else value
            changed = builder.insert_value(changed, base, 0)
            held = {given.names[place - 1]: builder.extract_value(value, place) for place in before} | dict(values)
            for place, name in enumerate(made.names, 1):
                changed = builder.insert_value(changed, held[name], place)
            return changed

    class Model(models.StructModel):
        def __init__(self, manager: Any, kind: Any) -> None:
            fields = [("", kind.reference), *zip(kind.names, kind.kinds, strict=True)]
            cast(Any, super()).__init__(manager, kind, fields)

    class Attributes(templates.AttributeTemplate):
        key = Changed

        def generic_resolve(self, kind: Any, name: str) -> Any:  # type: ignore[override]
            if name in kind.names:
                return kind.kinds[kind.names.index(name)]
            record = kind.reference.record
            return inner_of(record.types[record.fields.index(name)]) if name in record.fields else None

    def load(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
        if name in kind.names:
            return builder.extract_value(value, 1 + kind.names.index(name))
        read = context.get_getattr(kind.reference, name)
        return read(context, builder, kind.reference, builder.extract_value(value, 0), name)

    cast(Any, register_model)(Changed)(Model)
    cast(Any, infer_getattr)(Attributes)
    cast(Any, lower_getattr_generic)(Changed)(load)
    return Changed
