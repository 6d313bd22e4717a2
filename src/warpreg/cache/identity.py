"""The identity of options: all that they consist of, as text for the key of what they make.

The fields of a dataclass are enumerated, so that an option that is added to one counts at once.  Whoever states that an
option has no effect names the field and the reason (``Unaffected``).
"""

from __future__ import annotations

import dataclasses
import enum
import json
from collections.abc import Mapping
from pathlib import PurePath
from types import MappingProxyType
from typing import Any

Unaffected = Mapping[type, Mapping[str, str]]
"""By dataclass, the fields that no result depends on, each with the reason."""
NOTHING: Unaffected = MappingProxyType({})
PLAIN = (bool, int, float, str, type(None))


def identity(value: Any, unaffected: Unaffected = NOTHING) -> Any:
    """``value`` as lists and plain values for JSON: of a dataclass its name and every field, but for ``unaffected``.

    Raises TypeError for a value of another type than a dataclass, an enumeration, a path, a sequence, a mapping or a
    plain value: its text may leave out what it consists of.
    """
    if isinstance(value, enum.Enum):
        return [_name(type(value)), value.name]
    if type(value) in PLAIN:
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [_name(type(value)), fields_of(value, unaffected=unaffected)]
    if isinstance(value, PurePath):
        return ["path", str(value)]
    if type(value) in (tuple, list):
        return [identity(one, unaffected) for one in value]
    if isinstance(value, Mapping):
        pairs = ([identity(key, unaffected), identity(one, unaffected)] for key, one in value.items())
        return ["mapping", sorted(pairs, key=json.dumps)]
    raise TypeError(f"{_name(type(value))} has no identity: {value!r}")


def fields_of(
    options: Any, content: Mapping[str, Any] = MappingProxyType({}), unaffected: Unaffected = NOTHING
) -> dict[str, Any]:
    """The identity of every field of a dataclass by name, but for ``unaffected``.

    ``content`` takes the place of fields that name something, such as a file.  Raises ValueError for a name in it that
    is no field, TypeError as `identity`.
    """
    names = [field.name for field in dataclasses.fields(options)]
    if strangers := content.keys() - names:
        raise ValueError(f"{_name(type(options))}: expected fields {', '.join(names)}, found {sorted(strangers)}")
    left_out = unaffected.get(type(options), {})
    return {
        name: content[name] if name in content else identity(getattr(options, name), unaffected)
        for name in names
        if name not in left_out
    }


def spelled(value: Any, unaffected: Unaffected = NOTHING) -> str:
    """The `identity` of a value as text; equal for equal values in every process."""
    return json.dumps(identity(value, unaffected), sort_keys=True)


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
