"""Printed results that no design could reach on the machine and the code of a study, whatever it did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warpreg.evaluation.studies.study import Study
from warpreg_papers.contradiction import Side
from warpreg_papers.published import Published


@dataclass(frozen=True, slots=True)
class Limit:
    """``bound`` measures the most (``side`` max) or the least (min) that any design of the paper's kind can reach, in
    the unit of the result and on the runs of the study; None without these runs.  ``text`` says how.

    Of a result in words, the bound is the largest margin by which it could hold; a negative one excludes it.

    It is a run of the study with what designs work on taken away altogether: operands that take no time, registers
    without number.  The difference from print is then one of machine, code or inputs, not of the design.
    """

    text: str
    bound: Callable[[Study], float | None]
    side: Side = "max"

    def excluding(self, result: Published, found: Study) -> float | None:
        """The limit, if the printed value lies beyond it by more than its tolerance; else None."""
        limit = self.bound(found)
        if limit is None:
            return None
        if result.text is not None:
            return limit if limit < 0 else None
        low, high = result.range or (result.value, result.value)
        end, sign = (low, 1) if self.side == "max" else (high, -1)
        if end is None or sign * (end - limit) <= result.tolerance(end):
            return None
        return limit
