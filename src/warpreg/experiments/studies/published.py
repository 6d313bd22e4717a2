"""What the papers print: every figure as data, and whether a measured value agrees with it.

``published.toml`` holds parameters and results with paper, section and unit.  Whether a value is within tolerance is
computed from its ``[tolerance]`` table alone.
"""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from warpreg.ir.errors import UnknownNameError

FILE = Path(__file__).with_name("published.toml")
Measured = float | bool
Bound = Literal["max", "min", "approx"]


@dataclass(frozen=True, slots=True)
class Published:
    """One printed result.

    ``value`` is a number, ``range`` its printed bounds (low, high), ``text`` a finding in words that either holds or
    does not.  ``bound`` says that the number is printed as a most, a least or an about.  ``baseline`` and ``workloads``
    are the paper's.
    """

    id: str
    paper: str
    where: str
    what: str
    unit: str = ""
    value: float | None = None
    range: tuple[float, float] | None = None
    text: str | None = None
    bound: Bound | None = None
    baseline: str = ""
    workloads: str = ""
    note: str = ""

    @property
    def printed(self) -> float | str | list[float] | None:
        """What stands in the paper, for tables and JSON."""
        if self.value is not None:
            return self.value
        return list(self.range) if self.range is not None else self.text

    def within(self, measured: Measured) -> bool:
        """Whether a measured value (for a text, whether it holds) agrees by the ``[tolerance]`` table."""
        if isinstance(measured, bool):
            return measured
        if self.range is not None:
            low, high = self.range
            return low - self._tolerance(low) <= measured <= high + self._tolerance(high)
        if self.value is None:
            raise ValueError(f"{self.id} prints no number, so {measured} cannot be held against it")
        tolerance = self._tolerance(self.value)
        if self.bound == "max":
            return measured <= self.value + tolerance
        if self.bound == "min":
            return measured >= self.value - tolerance
        return abs(measured - self.value) <= tolerance * (2 if self.bound == "approx" else 1)

    def share(self, measured: Measured, other: Measured) -> float | None:
        """How much of the way from a measured value to the printed one another value goes: 1 all of it, less than 0 in
        the wrong direction.  Of a range the nearest end counts; None where the measured value is in it or no number is.
        """
        bounds = self.range if self.value is None else (self.value, self.value)
        if isinstance(measured, bool) or bounds is None:
            return None
        low, high = bounds
        goal = min(max(measured, low), high)
        return None if goal == measured else (other - measured) / (goal - measured)

    def _tolerance(self, value: float) -> float:
        """The accepted distance from ``value``: absolute for fractions and points, else relative to it."""
        table = _document()["tolerance"]
        if self.unit in ("fraction", "%-points"):
            return float(table[self.unit])
        return float(table["ratio" if self.unit == "ratio" else "other"]) * abs(value)


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
    return Published(**known)
