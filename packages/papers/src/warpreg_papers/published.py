"""Printed results of the papers as data, and their comparison with measured values.

``published.toml`` contains parameters and results with paper, section and unit.  Whether a value is within tolerance
depends only on its ``[tolerance]`` table and on the result's null.
"""

from __future__ import annotations

import functools
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from warpreg.evaluation.studies.study import Measured
from warpreg.ir.errors import UnknownNameError, WarpregError

Kind = Literal["code", "accesses", "energy", "time", "registers", "hardware"]
KINDS: Mapping[Kind, str] = {
    "code": "values and operands of kernels",
    "accesses": "accesses by level",
    "energy": "energy",
    "time": "cycles",
    "registers": "registers and entries in use",
    "hardware": "storage, area and power that are added",
}
"""What a printed result is about."""

FILE = Path(__file__).with_name("published.toml")
Bound = Literal["max", "min", "approx"]
Null = float | Literal["fails", "holds"]
"""The value without the effect; for a result in words, whether it would hold without the effect."""


class PublishedError(WarpregError):
    """An invalid entry of ``published.toml``."""


@dataclass(frozen=True, slots=True)
class Published:
    """One printed result."""

    id: str
    paper: str
    where: str
    """The place in the paper."""
    what: str
    """What is measured, in words."""
    kind: Kind | None = None
    """What it is about, one of `KINDS`."""
    unit: str = ""
    value: float | None = None
    """The number."""
    range: tuple[float, float] | None = None
    """Its printed bounds (low, high)."""
    numbers: tuple[float, ...] | None = None
    """Those of a printed list."""
    text: str | None = None
    """A finding in words that either holds or does not."""
    bound: Bound | None = None
    """The number is printed as a maximum, a minimum or an approximation."""
    baseline: str = ""
    """The paper's."""
    workloads: str = ""
    """The paper's."""
    note: str = ""
    null: Null | None = None
    """The value expected without the effect, None if not stated."""
    null_note: str = ""
    """Why the null has this value."""
    quoted: str = ""
    """Whose finding the paper repeats; such a result is not measured."""

    @property
    def printed(self) -> float | str | list[float] | None:
        """The printed value, for tables and JSON."""
        if self.value is not None:
            return self.value
        return list(self.range) if self.range is not None else self.text

    @property
    def could_fail(self) -> bool:
        """Whether the result would be outside its tolerance without the effect; False without a null."""
        if self.null is None or isinstance(self.null, str):
            return self.null == "fails"
        return not self.within(self.null)

    def within(self, measured: Measured) -> bool:
        """Whether a measured value (for a text, whether it holds) agrees, given the ``[tolerance]`` table and the
        null.
        """
        if isinstance(measured, bool):
            return measured
        low, high = self._interval(measured)
        return low - self.tolerance(low) <= measured <= high + self.tolerance(high)

    def all_within(self, measured: Sequence[float]) -> bool:
        """Whether each value agrees with the one at its place in the printed list."""
        assert self.numbers is not None
        return all(
            abs(one - number) <= self.tolerance(number) for one, number in zip(measured, self.numbers, strict=True)
        )

    def share(self, measured: Measured, other: Measured) -> float | None:
        """Share of the distance from a measured value to the printed one that another value covers: 1 all of it,
        negative in the wrong direction.

        Every value inside a printed range or bound counts as 1; a value beyond it as 1 plus the relative excess.  None
        if the measured value is already inside or no number is printed.
        """
        if self.text is not None or isinstance(measured, bool):
            return None
        low, high = self._interval(measured)
        goal = min(max(measured, low), high)
        reached = min(max(other, low), high)
        return None if goal == measured else 1 + (other - reached) / (goal - measured)

    def tolerance(self, end: float) -> float:
        """The accepted distance from a printed number or an end of a printed range.

        By the table, absolute for fractions and points, otherwise relative; doubled for approximations; at most half of
        the distance between printed value and null.
        """
        table = _document()["tolerance"]
        if self.unit in ("fraction", "%-points"):
            accepted = float(table[self.unit])
        else:
            accepted = float(table["ratio" if self.unit == "ratio" else "other"]) * abs(end)
        accepted *= 2 if self.bound == "approx" else 1
        distance = self._distance_of_null
        return min(accepted, distance / 2) if distance else accepted

    @property
    def _distance_of_null(self) -> float:
        """Distance of the null from the printed value or the nearer end of a range; 0 if it is inside or not a
        number.
        """
        if self.null is None or isinstance(self.null, str):
            return 0.0
        low, high = self.range or (self.value, self.value)
        assert low is not None
        assert high is not None
        return max(low - self.null, self.null - high, 0.0)

    def _interval(self, measured: Measured) -> tuple[float, float]:
        """Lower and upper end of the printed value; raises ValueError if no number is printed."""
        if self.range is not None:
            return self.range
        if self.value is None:
            raise ValueError(f"{self.id} prints no number, so {measured} cannot be held against it")
        low = -math.inf if self.bound == "max" else self.value
        return low, math.inf if self.bound == "min" else self.value


def papers() -> tuple[str, ...]:
    """Short names of the papers, in the order of the file."""
    return tuple(dict.fromkeys(entry["paper"] for entry in _document()["result"]))


def results(paper: str) -> tuple[Published, ...]:
    """Every printed result of a paper, in the order of the file; raises UnknownNameError."""
    if paper not in papers():
        raise UnknownNameError("paper", paper, papers())
    return tuple(_published(entry) for entry in _document()["result"] if entry["paper"] == paper)


def parameter(name: str) -> Any:
    """The printed value of a parameter: a number, list, range or text; raises UnknownNameError."""
    entries = {entry["id"]: entry for entry in _document()["parameter"]}
    if name not in entries:
        raise UnknownNameError("published parameter", name, entries)
    entry = entries[name]
    return next(entry[key] for key in ("value", "list", "range", "text", "formula") if key in entry)


def number(name: str) -> float:
    """The printed number of a result or a parameter; raises UnknownNameError, and PublishedError for one in words."""
    entries = {entry["id"]: entry for kind in ("parameter", "result") for entry in _document()[kind]}
    if name not in entries:
        raise UnknownNameError("published row", name, entries)
    if "value" not in entries[name]:
        raise PublishedError(f"{name} of {FILE.name}: expected a number, found none")
    return float(entries[name]["value"])


@functools.cache
def _document() -> dict[str, Any]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def _published(entry: dict[str, Any]) -> Published:
    known = {key: entry[key] for key in Published.__slots__ if key in entry}
    if "value" in known:
        known["value"] = float(known["value"])
    if "range" in known:
        known["range"] = tuple(float(bound) for bound in known["range"])
    if "list" in entry:
        known["text"] = ", ".join(map(str, entry["list"]))
        known["numbers"] = tuple(float(number) for number in entry["list"] if isinstance(number, int | float))
    if "null" in known:
        known["null"] = _null(entry["id"], known["null"], is_text="text" in known)
    elif "null_note" in known:
        raise PublishedError(f"result {entry['id']} of {FILE.name}: expected a null beside its null_note, found none")
    if known.get("kind") not in KINDS and "quoted" not in entry:
        expected = ", ".join(KINDS)
        raise PublishedError(
            f"result {entry['id']} of {FILE.name}: expected as kind {expected}, found {known.get('kind')}"
        )
    return Published(**known)


def _null(name: str, given: object, *, is_text: bool) -> Null:
    """The null of an entry; raises PublishedError for an invalid one."""
    if is_text and given in ("fails", "holds"):
        return cast(Null, given)
    if not is_text and isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given):
        return float(given)
    expected = '"fails" or "holds", for it is in words' if is_text else "a finite number"
    raise PublishedError(f"result {name} of {FILE.name}: expected as null {expected}, found {given!r}")
