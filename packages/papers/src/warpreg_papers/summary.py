"""Numbers of printed results: how many are reached, explained, contradicted by their paper, or not explained."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Summary:
    """Numbers of printed results: ``measured``; those that ``could_fail`` without the effect; of those, ``within``
    tolerance, ``contradicted`` by other numbers of the paper, ``out_of_reach`` of any design on this machine and code,
    met by ``other_reading`` of the measure; ``quoted``.
    """

    paper: str
    results: int
    measured: int
    could_fail: int
    within: int
    quoted: int = 0
    contradicted: int = 0
    out_of_reach: int = 0
    other_reading: int = 0

    @property
    def no_null(self) -> int:
        """Measured results that would be within tolerance without any effect, or whose null is unknown."""
        return self.measured - self.could_fail

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "no_null": self.no_null}

    def __str__(self) -> str:
        quoted = f", {self.quoted} quoted" if self.quoted else ""
        apart = (
            (self.contradicted, "contradicted by the paper itself"),
            (self.out_of_reach, "out of reach of any design on this machine and code"),
            (self.other_reading, "within it by another reading of the measure"),
        )
        counted = "".join(f", {number} {what}" for number, what in apart if number)
        return (
            f"{self.results} results, {self.measured} measured{quoted}; {self.could_fail} of them could have failed,"
            f" of which {self.within} are within tolerance{counted}; {self.no_null} have no null that could fail"
        )


def summed(paper: str, rows: Iterable[Mapping[str, Any]]) -> Summary:
    """The summary of a paper's rows in the form of `ReproducedResult.as_dict`."""
    every = list(rows)
    measured = [row for row in every if row["measured"] is not None]
    judged = [row for row in measured if row["could_fail"]]
    status = Counter(row.get("status") for row in judged)
    return Summary(
        paper,
        len(every),
        len(measured),
        len(judged),
        within=sum(bool(row["within"]) for row in judged),
        quoted=sum(row.get("status") == "quoted" for row in every),
        contradicted=status["contradicted"],
        out_of_reach=status["out of reach"],
        other_reading=status["other reading"],
    )
