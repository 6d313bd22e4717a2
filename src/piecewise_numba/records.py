"""Named tuples in compiled code: one class per set of fields, and copies with other values."""

from __future__ import annotations

import collections
import functools
from functools import partial
from typing import Any, cast

from piecewise_numba.natives import Function, native
from piecewise_numba.references import changed_type, reference_type


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

    It corresponds to ``record._replace``, which numba lacks.  Of a record by reference, only the values are copied.
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
    inlining, the reference disappears.  Only its attributes are accessible, of which those that are records are by
    reference too, and no function may return a reference that it has made.  A reference stays what it is.
    """
    return record


@functools.cache
def _replacing(names: tuple[str, ...]) -> Any:
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    numba, named, packed = cast(Any, cgutils), cast(Any, types).NamedTuple, cast(Any, types).StarArgTuple
    changed, by_address = changed_type(), (reference_type(), changed_type())

    @intrinsic
    def replace(typing_context: Any, given: Any, *values: Any) -> Any:
        if isinstance(given, by_address):
            made = changed.of(given, names, values)
            return made(given, packed.from_types(values)), change
        kinds = dict(zip(given.fields, given.types, strict=True)) | dict(zip(names, values, strict=True))
        return named(list(kinds.values()), given.instance_class)(given, packed.from_types(values)), copy

    def change(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        given, made = signature.args[0], signature.return_type
        values = dict(zip(names, numba.unpack_tuple(builder, arguments[1]), strict=True))
        return changed.lowered(context, builder, made, given, arguments[0], values)

    def copy(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        record, made = signature.args[0], signature.return_type
        elements = dict(zip(record.fields, numba.unpack_tuple(builder, arguments[0]), strict=True))
        elements |= dict(zip(names, numba.unpack_tuple(builder, arguments[1]), strict=True))
        return _borrowed(context, builder, made, context.make_tuple(builder, made, list(elements.values())))

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

    reference, by_address = reference_type(), (reference_type(), changed_type())

    @intrinsic
    def refer(typing_context: Any, record: Any) -> Any:
        if isinstance(record, by_address):
            return record(record), lambda context, builder, signature, arguments: arguments[0]

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            with builder.goto_entry_block():
                place = builder.alloca(arguments[0].type)
            builder.store(arguments[0], place)
            return place

        return reference(record)(record), generate

    return refer


native(_referring)(by_reference)


def _borrowed(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """A value whose arrays have other owners; plain numba, which counts references, counts it."""
    from numba.core import imputils

    return cast(Any, imputils).impl_ret_borrowed(context, builder, kind, value)
