"""TOML files in which every number has a source.

An entry is an inline table: ``{ value = 32, unit = "warps", source = "rfc §2.1" }``.  If no document gives the number,
the entry has a reason instead: ``{ value = 8.0, unit = "pJ", assumed = "lost in the scan" }``.  A section of such a
file is declared as a frozen dataclass whose fields are made by :func:`quantity`.  Parsing is strict, and each error
names the file, the line, the key, what was expected and what was found.
"""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
import json
import math
import re
import tomllib
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from warpreg.ir.errors import Location, UnknownNameError, WarpregError
from warpreg.ir.text_files import read_text

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Section = TypeVar("Section", bound="DataclassInstance")


class DescriptionError(WarpregError):
    """An invalid description file; ``location``, ``key``, ``expected`` and ``found`` describe the error."""

    def __init__(self, location: Location, key: str, expected: str, found: str) -> None:
        self.location, self.key, self.expected, self.found = location, key, expected, found
        super().__init__(f"{location}: {key}: expected {expected}, found {found}")


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a number: a citation, or the reason of an assumption."""

    text: str
    assumed: bool = False

    def __str__(self) -> str:
        return f"assumed: {self.text}" if self.assumed else self.text


@dataclass(frozen=True, slots=True)
class Quantity:
    """Allowed values of a field: meaning, unit (``""`` for pure numbers and words), inclusive range, allowed words."""

    what: str
    unit: str
    low: float
    high: float
    choices: tuple[str, ...]


def quantity(
    what: str,
    unit: str = "",
    low: float = 0,
    high: float = math.inf,
    choices: tuple[str, ...] = (),
    *,
    optional: bool = False,
) -> Any:
    """Declare a field of a section; an optional one is ``None`` if the file omits it."""
    metadata = {"quantity": Quantity(what, unit, low, high, choices)}
    if optional:
        return dataclasses.field(default=None, metadata=metadata)
    return dataclasses.field(metadata=metadata)


def find(kind: str, folder: Path, name_or_path: str | Path) -> Path:
    """The file of a name in ``folder``, or the path itself if it ends in ``.toml``.  Raises ``UnknownNameError``."""
    path = Path(name_or_path)
    if path.suffix == ".toml":
        return path
    if str(name_or_path) in names(folder):
        return folder / f"{name_or_path}.toml"
    raise UnknownNameError(kind, str(name_or_path), names(folder))


def names(folder: Path) -> tuple[str, ...]:
    """Names of the descriptions in a folder, sorted; a new file needs no registration."""
    return tuple(sorted(path.stem for path in folder.glob("*.toml")))


class Document:
    """One parsed file.  ``origins`` collects the origin of every number read, by dotted key.

    With a ``folder`` of descriptions, a file may contain ``base = "name"``: it inherits that description's entries and
    may override them, except those of the tables in a list ``drop``.  In a table, the entry named ``alone`` and all
    others exclude each other: what the file itself has replaces the base's.
    """

    def __init__(self, path: Path, error: type[DescriptionError], folder: Path | None = None, alone: str = "") -> None:
        self.path = path
        self.origins: dict[str, Origin] = {}
        self._error = error
        self._alone = alone
        self._text = self._read()
        self._data = self._parse()
        self._base = None if folder is None else self._find_base(folder)
        if self._base is not None:
            self._data = _merged(self._inherited(self._base), self._data, alone)
        self.digest = hashlib.sha256(json.dumps(self._data, sort_keys=True, default=str).encode()).hexdigest()

    def keys(self, prefix: str = "") -> tuple[str, ...]:
        """Keys of the file, or of the table at a dotted ``prefix``; empty if there is no such table."""
        return tuple(self._table(prefix) or ())

    def only(self, allowed: Iterable[str], prefix: str = "") -> None:
        """Raise the document's error class for keys outside ``allowed``, of the file or of the table at ``prefix``."""
        self._refuse_unknown_keys(prefix, self._table(prefix) or {}, tuple(allowed))

    def text(self, key: str) -> str:
        """A plain top-level string."""
        if not isinstance(value := self._data.get(key), str):
            raise self.refusal(key, "a string", "nothing" if value is None else repr(value))
        return value

    def section(self, prefix: str, shape: type[Section]) -> Section:
        """Read the table at ``prefix`` into the dataclass ``shape``; raises the error class of this document."""
        table = self._table(prefix)
        if table is None:
            raise self.refusal(prefix, f"a table [{prefix}]", "nothing")
        fields = {field.name: field for field in dataclasses.fields(shape)}
        self._refuse_unknown_keys(prefix, table, tuple(fields))
        hints = typing.get_type_hints(shape)
        values: dict[str, Any] = {}
        for name, field in fields.items():
            if name in table:
                values[name] = self._entry(f"{prefix}.{name}", table[name], field.metadata["quantity"], hints[name])
            elif field.default is dataclasses.MISSING:
                raise self.refusal(f"{prefix}.{name}", f"an entry ({field.metadata['quantity'].what})", "nothing")
        return shape(**values)

    def entry(self, key: str, shape: type[Section]) -> Any:
        """One entry, which must be there, of a section that ``shape`` declares."""
        prefix, _, name = key.rpartition(".")
        field = next(field for field in dataclasses.fields(shape) if field.name == name)
        table = self._table(prefix) or {}
        return self._entry(key, table[name], field.metadata["quantity"], typing.get_type_hints(shape)[name])

    def refusal(self, key: str, expected: str, found: str) -> DescriptionError:
        """The error for ``key``, with its line."""
        return self._error(self._location(key), key, expected, found)

    def _read(self) -> str:
        try:
            return read_text(self.path)
        except (OSError, UnicodeDecodeError) as problem:
            reason = problem.strerror if isinstance(problem, OSError) else "bytes that are not UTF-8"
            raise self._error(Location(str(self.path), 1), "file", "a readable TOML file", str(reason)) from problem

    def _parse(self) -> dict[str, Any]:
        try:
            return tomllib.loads(self._text)
        except tomllib.TOMLDecodeError as problem:
            place = re.search(r"line (\d+), column (\d+)", str(problem))
            line, column = (int(place[1]), int(place[2])) if place else (self._text.count("\n") + 1, 0)
            raise self._error(Location(str(self.path), line, column), "file", "TOML", str(problem)) from problem

    def _find_base(self, folder: Path) -> Document | None:
        if "base" not in self._data:
            return None
        base = self.text("base")
        if base not in names(folder) or folder / f"{base}.toml" == self.path:
            raise self.refusal("base", f"one of {', '.join(names(folder))}", f"'{base}'")
        del self._data["base"]
        return Document(folder / f"{base}.toml", self._error, folder, self._alone)

    def _inherited(self, base: Document) -> dict[str, Any]:
        """The entries of the base, without the tables that this file drops."""
        dropped = self._data.pop("drop", [])
        known = [key for key, value in base._data.items() if isinstance(value, dict)]
        for key in dropped if isinstance(dropped, list) else [dropped]:
            if key not in known:
                raise self.refusal("drop", f"tables of the base: {', '.join(known)}", repr(key))
        return {key: value for key, value in base._data.items() if key not in dropped}

    def _table(self, prefix: str) -> Mapping[str, Any] | None:
        table: Any = self._data
        for part in prefix.split(".") if prefix else ():
            table = table.get(part) if isinstance(table, dict) else None
        return table if isinstance(table, dict) else None

    def _location(self, key: str) -> Location:
        place = key
        while place:
            if (line := self._line(place)) is not None:
                return Location(str(self.path), line)
            if self._base is not None and self._base._line(place) is not None:
                return self._base._location(place)
            place = place.rpartition(".")[0]
        return Location(str(self.path), 1)

    def _line(self, key: str) -> int | None:
        section, _, name = key.rpartition(".")
        header = ""
        for number, line in enumerate(self._text.splitlines(), 1):
            stripped = line.strip()
            if found := re.match(r"\[\s*([^\]]*?)\s*\]", stripped):
                header = found[1]
                if header == key:
                    return number
            elif header == section and re.match(rf"{re.escape(name)}\s*=", stripped):
                return number
        return None

    def _refuse_unknown_keys(self, prefix: str, table: Mapping[str, Any], allowed: tuple[str, ...]) -> None:
        for key in table:
            if key not in allowed:
                near = difflib.get_close_matches(key, allowed, n=1, cutoff=0.6)
                expected = f"'{near[0]}'" if near else f"one of {', '.join(allowed)}"
                raise self.refusal(f"{prefix}.{key}" if prefix else key, expected, f"unknown key '{key}'")

    def _entry(self, key: str, entry: Any, declared: Quantity, hint: Any) -> Any:
        if not isinstance(entry, dict) or "value" not in entry:
            raise self.refusal(key, "{ value = ..., source = ... }", repr(entry))
        self._refuse_unknown_keys(key, entry, ("value", "unit", "source", "assumed"))
        self.origins[key] = self._origin(key, entry)
        if (unit := entry.get("unit", "")) != declared.unit:
            raise self.refusal(key, f"unit '{declared.unit}'", f"unit '{unit}'")
        value = self._typed(key, entry["value"], hint)
        for item in value if isinstance(value, tuple) else (value,):
            self._check(key, item, declared)
        return value

    def _origin(self, key: str, entry: Mapping[str, Any]) -> Origin:
        given = [word for word in ("source", "assumed") if isinstance(entry.get(word), str) and entry[word].strip()]
        if len(given) != 1:
            raise self.refusal(key, "exactly one of source and assumed", " and ".join(given) or "neither")
        return Origin(entry[given[0]], assumed=given[0] == "assumed")

    def _typed(self, key: str, value: Any, hint: Any) -> Any:
        if isinstance(hint, types.UnionType):
            hint = next(part for part in typing.get_args(hint) if part is not type(None))
        if typing.get_origin(hint) is tuple:
            if not isinstance(value, list) or not value:
                raise self.refusal(key, "a list with at least one item", repr(value))
            return tuple(self._typed(key, item, typing.get_args(hint)[0]) for item in value)
        if hint is float and type(value) is int:
            return float(value)
        if type(value) is not hint:
            raise self.refusal(key, f"a value of type {hint.__name__}", repr(value))
        return value

    def _check(self, key: str, value: Any, declared: Quantity) -> None:
        if isinstance(value, str):
            if declared.choices and value not in declared.choices:
                raise self.refusal(key, f"one of {', '.join(declared.choices)}", f"'{value}'")
        elif not (declared.low <= value <= declared.high and math.isfinite(value)):
            raise self.refusal(key, f"{declared.low:g} to {declared.high:g} {declared.unit}".rstrip(), f"{value:g}")


def _merged(base: Mapping[str, Any], own: Mapping[str, Any], alone: str) -> dict[str, Any]:
    """The base's tables, overridden by the file's entries; an entry is replaced as a whole."""
    merged = {key: value for key, value in base.items() if not own or (key == alone) == (alone in own)}
    for key, value in own.items():
        before = base.get(key)
        is_table = isinstance(value, dict) and isinstance(before, dict) and "value" not in value
        merged[key] = _merged(before, value, alone) if is_table and isinstance(before, dict) else value
    return merged
