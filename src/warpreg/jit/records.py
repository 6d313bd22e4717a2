"""Named tuples in compiled code: one class per set of fields, and copies with other values."""

from __future__ import annotations

import collections
import functools
import itertools
from functools import partial
from typing import Any, cast

from warpreg.jit.natives import Function, native
from warpreg.jit.sealed import sealed_type


@functools.cache
def record_type(name: str, fields: tuple[str, ...]) -> Any:
    """The class of named tuples with these fields.

    Compiled code accepts arguments of the class that it was compiled for.  A design that is loaded again brings a new
    class with the same fields; this class stands for both.
    """
    return collections.namedtuple(name, fields)


@functools.cache
def replacing(*names: str) -> Function:
    """The function ``replace(record, *values)``: a copy of a named tuple with other values in the fields ``names``.

    It corresponds to ``record._replace``, which numba lacks.
    """

    @native(partial(_replacing, names))
    def replace(record: Any, *values: Any) -> Any:
        return record._replace(**dict(zip(names, values, strict=True)))

    return replace


@functools.cache
def with_constants(constants: tuple[tuple[str, bool | int], ...]) -> Function:
    """The function ``fixed(record)``: the named tuple with these constants in some of its fields.

    The record must have these values in these fields; a field of an inner record has a dotted name (``levels.size``).
    Features that a constant disables then leave no code.
    """

    @native(partial(_fixing, constants))
    def fixed(record: Any) -> Any:
        return record

    return fixed


def by_reference(record: Any) -> Any:
    """The named tuple; compiled code passes its address between functions.

    A record of dozens of arrays has hundreds of words, which would be as many arguments of every function.  After
    inlining, the reference disappears.  Only its attributes are accessible, and no function may return a reference that
    it has made.  A reference stays what it is.
    """
    return record


@functools.cache
def in_place(name: str) -> Function:
    """The function ``inner(record)``: the field ``name`` of a record.

    Of a record by reference, or a sealed one, compiled code takes a reference to an inner record instead of a copy.
    """

    @native(partial(_staying, name))
    def inner(record: Any) -> Any:
        return getattr(record, name)

    return inner


@functools.cache
def _replacing(names: tuple[str, ...]) -> Any:
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    numba, named, packed = cast(Any, cgutils), cast(Any, types).NamedTuple, cast(Any, types).StarArgTuple
    reference = reference_type()

    @intrinsic
    def replace(typing_context: Any, given: Any, *values: Any) -> Any:
        is_reference = isinstance(given, reference)
        record = given.record if is_reference else given
        kinds = dict(zip(record.fields, record.types, strict=True)) | dict(zip(names, values, strict=True))
        made = named(list(kinds.values()), record.instance_class)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            old = builder.load(arguments[0]) if is_reference else arguments[0]
            elements = dict(zip(record.fields, numba.unpack_tuple(builder, old), strict=True))
            elements |= dict(zip(names, numba.unpack_tuple(builder, arguments[1]), strict=True))
            return _borrowed(context, builder, made, context.make_tuple(builder, made, list(elements.values())))

        return made(given, packed.from_types(values)), generate

    return replace


@functools.cache
def _fixing(constants: tuple[tuple[str, bool | int], ...]) -> Any:
    from numba.core import cgutils
    from numba.extending import intrinsic

    numba, reference = cast(Any, cgutils), reference_type()

    def fix(context: Any, builder: Any, kind: Any, value: Any, place: str) -> Any:
        if place in dict(constants):
            return context.get_constant(kind, dict(constants)[place])
        if not hasattr(kind, "instance_class"):
            return value
        elements = zip(kind.fields, kind.types, numba.unpack_tuple(builder, value), strict=True)
        within = place and f"{place}."
        return context.make_tuple(builder, kind, [fix(context, builder, k, v, within + f) for f, k, v in elements])

    @intrinsic
    def fixed(typing_context: Any, record: Any) -> Any:
        is_reference = isinstance(record, reference)
        kind = record.record if is_reference else record

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            value = builder.load(arguments[0]) if is_reference else arguments[0]
            return _borrowed(context, builder, kind, fix(context, builder, kind, value, ""))

        return kind(record), generate

    return fixed


@functools.cache
def _referring() -> Any:
    from numba.extending import intrinsic

    reference = reference_type()

    @intrinsic
    def refer(typing_context: Any, record: Any) -> Any:
        if isinstance(record, reference):
            return record(record), lambda context, builder, signature, arguments: arguments[0]

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            with builder.goto_entry_block():
                place = builder.alloca(arguments[0].type)
            builder.store(arguments[0], place)
            return place

        return reference(record)(record), generate

    return refer


native(_referring)(by_reference)


@functools.cache
def _staying(name: str) -> Any:
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    numba, reference, named = cast(Any, cgutils), reference_type(), cast(Any, types).NamedTuple

    @intrinsic
    def inner(typing_context: Any, record: Any) -> Any:
        place = record.record.fields.index(name)
        kind = record.record.types[place]
        is_record = isinstance(kind, named)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            if isinstance(record, sealed_type()):
                pointer, _ = record.field_of(context, builder, record, arguments[0], name)
            else:
                pointer = numba.gep_inbounds(builder, arguments[0], 0, place)
            return pointer if is_record else _borrowed(context, builder, kind, builder.load(pointer))

        return (reference(kind) if is_record else kind)(record), generate

    return inner


def _borrowed(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """A value whose arrays have other owners; plain numba, which counts references, counts it."""
    from numba.core import imputils

    return cast(Any, imputils).impl_ret_borrowed(context, builder, kind, value)


_numbers = itertools.count()


@functools.cache
def _short_name(record: Any) -> str:
    """A short name per type, unique in this process; see `warpreg.jit.bare_arrays`."""
    return f"{record.instance_class.__name__}{next(_numbers)}"


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
            return record.types[record.fields.index(name)] if name in record.fields else None

    class Item(templates.AbstractTemplate):
        key = "static_getitem"

        def generic(self, args: Any, kws: Any) -> Any:
            if not isinstance(args[0], Reference):
                return None
            found = args[0].record.types[args[1]]
            return cast(Any, templates).signature(inner(found), *args)

    def inner(kind: Any) -> Any:
        return Reference(kind) if isinstance(kind, cast(Any, types).NamedTuple) else kind

    def load(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
        place = kind.record.fields.index(name)
        element = builder.load(numba.gep_inbounds(builder, value, 0, place))
        return _borrowed(context, builder, kind.record.types[place], element)

    def item(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind, (value, place) = signature.args[0].record.types[arguments[1]], arguments
        pointer = numba.gep_inbounds(builder, value, 0, place)
        found = inner(kind)
        return pointer if found is not kind else _borrowed(context, builder, kind, builder.load(pointer))

    cast(Any, register_model)(Reference)(Model)
    cast(Any, infer_getattr)(Attributes)
    cast(Any, lower_getattr_generic)(Reference)(load)
    cast(Any, templates).infer(Item)
    cast(Any, lower_builtin)("static_getitem", Reference, cast(Any, types).IntegerLiteral)(item)
    return Reference
