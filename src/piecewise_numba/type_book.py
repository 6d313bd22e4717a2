"""Types of compiled code as text that other processes understand, and their digests.

A piece of compiled code (`piecewise_numba.pieces`) names types by digest.  Their texts are kept in the cache, so that
another process can make the type where it compiles a function for it.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from typing import Any, cast

from numba.core import types

from piecewise_numba.bare_arrays import words_type
from piecewise_numba.records import record_type
from piecewise_numba.references import changed_type, reference_type
from piecewise_numba.settings import storage

KIND = "types"
Spelled = Any
"""Nested tuples of text and numbers."""
named: Any = types
TUPLES = {
    kind.__name__: kind for kind in (named.Tuple, named.UniTuple, named.StarArgTuple, named.StarArgUniTuple)
}  # fmt: skip
RECORDS = {kind.__name__: kind for kind in (named.NamedTuple, named.NamedUniTuple)}
RANGES = (
    named.range_state32_type, named.range_state64_type, named.unsigned_range_state64_type, named.range_iter32_type,
    named.range_iter64_type, named.unsigned_range_iter64_type,
)  # fmt: skip
NUMBERS = (*named.number_domain, named.boolean, named.none, named.unicode_type)
PLAIN: dict[str, Any] = {kind.name: kind for kind in (*NUMBERS, *RANGES)}


class NoTextError(Exception):
    """A type has no text: compiled code with it belongs to one process."""


_digests: dict[Any, str] = {}
_types: dict[str, Any] = {}
_kept: set[str] = set()


def digest_of(kind: Any) -> str:
    """The digest of a type.  Raises NoTextError."""
    if kind not in _digests:
        digest = hashlib.sha256(repr(spelled(kind)).encode()).hexdigest()[:32]
        _digests[kind] = digest
        _types.setdefault(digest, kind)
    return _digests[kind]


def type_of(digest: str) -> Any:
    """The type with a digest, None if the cache has lost it."""
    if digest not in _types:
        text = storage().read(KIND, digest)
        if text is None:
            return None
        try:
            _types[digest] = made(ast.literal_eval(text.decode()))
        except NoTextError:
            return None
    return _types[digest]


def keep(digest: str) -> None:
    """Keep the text of a type for other processes."""
    if digest not in _kept:
        _kept.add(digest)
        storage().write(KIND, digest, repr(spelled(_types[digest])).encode())


def spelled(kind: Any) -> Spelled:
    """The text of a type.  Raises NoTextError."""
    if kind in PLAIN.values():
        return kind.name
    name = type(kind).__name__
    if type(kind) is named.Array:
        return "Array", spelled(kind.dtype), kind.ndim, kind.layout, not kind.mutable, kind.aligned
    if isinstance(kind, named.Literal) and isinstance(kind.literal_value, (bool, int, str)):
        return "Literal", kind.literal_value
    if isinstance(kind, named.Omitted) and isinstance(kind.value, (bool, int, type(None))):
        return "Omitted", kind.value
    if RECORDS.get(name) is type(kind):
        own = kind.instance_class
        place = own.__module__, own.__qualname__, tuple(kind.fields)
        if _class(*place) is not own:
            raise NoTextError(str(own))
        return name, place, tuple(map(spelled, kind.types))
    if TUPLES.get(name) is type(kind):
        return name, tuple(map(spelled, kind.types))
    if type(kind) is words_type():
        return "Words", spelled(kind.dtype), kind.ndim, kind.width, tuple(kind.known.items())
    if type(kind) is reference_type():
        return "Reference", spelled(kind.record)
    if type(kind) is changed_type():
        return "Changed", spelled(kind.reference), kind.names, tuple(map(spelled, kind.kinds))
    raise NoTextError(str(kind))


def made(text: Spelled) -> Any:
    """The type with a text.  Raises NoTextError if the class of a record is not known here."""
    if isinstance(text, str):
        return PLAIN[text]
    name, *rest = text
    if name == "Array":
        dtype, ndim, layout, readonly, aligned = rest
        return named.Array(made(dtype), ndim, layout, readonly=readonly, aligned=aligned)
    if name == "Literal":
        return named.literal(rest[0])
    if name == "Omitted":
        return named.Omitted(rest[0])
    if name == "Words":
        dtype, *others = rest
        return words_type()(made(dtype), *others)
    if name == "Reference":
        return reference_type()(made(rest[0]))
    if name == "Changed":
        reference, names, kinds = rest
        return changed_type()(made(reference), names, tuple(map(made, kinds)))
    elements = list(map(made, rest[-1]))
    if name in RECORDS:
        own = _class(*rest[0])
        if own is None:
            raise NoTextError(str(rest[0]))
        return RECORDS[name](elements, own) if name == "NamedTuple" else RECORDS[name](elements[0], len(elements), own)
    return TUPLES[name](elements) if "Uni" not in name else TUPLES[name](elements[0], len(elements))


def _class(module: str, name: str, fields: tuple[str, ...]) -> type | None:
    """The class of records that has this name in every process."""
    value: Any = sys.modules.get(module)
    for part in name.split("."):
        value = getattr(value, part, None)
    if value is None and module == record_type.__module__:
        value = record_type(name, fields)
    return cast("type | None", value) if getattr(value, "_fields", None) == fields else None
