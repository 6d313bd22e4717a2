"""Printed results that other numbers of the same paper do not allow: no measurement can agree with all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from warpreg.ir.errors import WarpregError
from warpreg_papers import published
from warpreg_papers.published import Published

Side = Literal["max", "min"]


class ContradictionError(WarpregError):
    """A contradiction that the printed numbers do not bear out."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """``bound`` computes from the printed numbers of ``rows`` (ids of results or parameters, in its order) the largest
    value that they allow (``side`` max), or the least (min), in the unit of the result.

    ``text`` states the reasoning.  The bound comes from the paper alone, never from a measurement.
    """

    text: str
    rows: Sequence[str]
    bound: Callable[..., float]
    side: Side = "max"

    def allowed(self) -> float:
        """The bound.  Raises UnknownNameError for a row that is not printed, and ContradictionError for a bound that is
        no number.
        """
        found = self.bound(*map(published.number, self.rows))
        if not math.isfinite(found):
            raise ContradictionError(f"bound of {', '.join(self.rows)}: expected a finite number, found {found}")
        return found

    def check(self, result: Published) -> None:
        """Raises ContradictionError if the printed value is within the bound, or beyond it by no more than its
        tolerance.
        """
        low, high = result.range or (result.value, result.value)
        end, sign = (low, 1) if self.side == "max" else (high, -1)
        allowed = self.allowed()
        if end is None or sign * (end - allowed) <= result.tolerance(allowed):
            word = "at most" if self.side == "max" else "at least"
            raise ContradictionError(
                f"{result.id}: expected a printed value that {', '.join(self.rows)} contradict, which allow {word}"
                f" {allowed:.4g}, found {result.printed}"
            )

    def __str__(self) -> str:
        word = "at most" if self.side == "max" else "at least"
        return f"{self.text} ({word} {self.allowed():.3g}, by {', '.join(self.rows)})"
