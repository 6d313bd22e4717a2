"""Printed results that another measure meets, where the text of the paper allows both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warpreg.evaluation.studies.study import Measured, Study
from warpreg_papers.published import Published


@dataclass(frozen=True, slots=True)
class Reading:
    """``value`` measures the result by the other reading, on the runs of the study; None without these runs.

    ``text`` says what the text leaves open, and how the two readings differ.  Results are compared by the reading that
    is the more literal one; the other one never makes a result one within its tolerance.
    """

    text: str
    value: Callable[[Study], Measured | None]

    def agreeing(self, result: Published, found: Study) -> Measured | None:
        """The value by the other reading, if it is within the tolerance of the printed one; else None."""
        value = self.value(found)
        return value if value is not None and result.within(value) else None
