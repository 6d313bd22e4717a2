"""Reads a TOML file of the user as checked values; each mistake is one line with its place in the file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from warpreg.ir.errors import UnknownNameError, WarpregError
from warpreg.ir.text_files import read_text

STRICT = ConfigDict(extra="forbid", frozen=True, strict=True)
"""For an entry of a file: unknown keys are errors, and there are no implicit conversions."""
Whole = TypeVar("Whole", bound=BaseModel)


def read_toml(path: Path, schema: type[Whole], error: type[WarpregError]) -> Whole:
    """The file as a ``schema``.  Raises ``error`` with a line for each mistake, OSError.

    Where a table has an unknown key, a missing one is not told: it is misspelt, as a rule.
    """
    try:
        return schema.model_validate(tomllib.loads(read_text(path)))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise error(f"{path}: not a TOML file: {problem}") from problem
    except ValidationError as problem:
        found = problem.errors()
        unknown = [one["loc"][:-1] for one in found if one["type"] == "extra_forbidden"]
        told = (one for one in found if one["type"] != "missing" or one["loc"][:-1] not in unknown)
        lines = (f"{path}: {_complaint(one, schema)}" for one in told)
        raise error("\n".join(dict.fromkeys(lines))) from problem


def _complaint(problem: Any, schema: type[BaseModel]) -> str:
    if problem["type"] == "extra_forbidden":
        *above, name = (str(part) for part in problem["loc"])
        where = ".".join(above)
        return f"{where}{': ' if where else ''}{UnknownNameError('key', name, _keys(schema))}"
    place = ".".join(str(part) for part in problem["loc"])
    given = "" if problem["type"] == "missing" else f", found {problem['input']!r}"
    if problem["type"] == "value_error":
        return f"{place}: {problem['ctx']['error']}"
    if problem["type"] == "too_short":
        return f"{place}: expected at least {problem['ctx']['min_length']}{given}"
    return f"{place}: {problem['msg'][0].lower()}{problem['msg'][1:]}{given}"


def _keys(schema: Any) -> set[str]:
    """The names of all fields of a schema and of the entries in it."""
    return set(_names(schema))


def _names(kind: Any) -> Iterator[str]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        for name, field in kind.model_fields.items():
            yield name
            yield from _names(field.annotation)
    for part in get_args(kind):
        yield from _names(part)
