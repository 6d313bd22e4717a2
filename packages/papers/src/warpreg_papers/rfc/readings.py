"""Two readings of a percentage of MRF accesses: points of the baseline's accesses, or relative to what remained.

The register file cache paper (ISCA 2011) says "reduction in MRF accesses" for the axis of Figures 6, 7 and 11, which is
in percent of the accesses of a register file without a cache (caption of Figure 7).  In other places it compares the
numbers of accesses of two designs.  `READ_AS` decides for each printed percentage by its words and by other numbers of
the paper, not by the measured value; both readings are shown beside each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from warpreg.evaluation.studies.ratios import ratio

Reading = Literal["points", "relative"]
LABELS: Mapping[Reading, str] = {"points": "points of the baseline's", "relative": "relative to what remained"}


@dataclass(frozen=True, slots=True)
class Change:
    """Accesses (or their avoided part) ``before`` and ``after`` a change of the design, as fractions of the baseline's.

    ``falls``: the paper prints a decrease as a positive number.
    """

    before: float
    after: float
    falls: bool = False

    @property
    def points(self) -> float:
        """The difference, as a fraction of the baseline's accesses."""
        return self._signed(self.after - self.before)

    @property
    def relative(self) -> float:
        """The difference, as a fraction of ``before``."""
        return self._signed(ratio(self.after, self.before) - 1)

    def read_as(self, reading: Reading) -> float:
        """The change in one of the two readings."""
        return self.points if reading == "points" else self.relative

    def _signed(self, value: float) -> float:
        return -value if self.falls else value


@dataclass(frozen=True, slots=True)
class Decision:
    """The reading of a printed percentage; ``label`` names it in figures, ``why`` is the evidence of the text."""

    reading: Reading
    label: str
    why: str


READ_AS: Mapping[str, Decision] = {
    "rfc-liveness-gain": Decision(
        "relative",
        "liveness: avoided",
        "section 5.1 increases the fraction that is avoided; 50% of reads, 43% and 59% of writes (section 1) make 11 to"
        " 13% of that fraction, and 5 to 6 points",
    ),
    "rfc-read-allocate-mrf-reads": Decision(
        "relative",
        "read allocation: fewer reads",
        "section 3.1 compares the numbers of reads of two caches: fewer MRF reads",
    ),
    "rfc-read-allocate-mrf-writes": Decision(
        "relative",
        "read allocation: more writes",
        "section 3.1 compares the numbers of writes of two caches: more MRF writes",
    ),
    "rfc-lru-extra": Decision(
        "points",
        "LRU: fewer accesses",
        "section 3.1 has an additional reduction in MRF accesses: it adds to that of FIFO, which Figures 6 and 7 give"
        " in percent of the baseline's accesses",
    ),
    "rfc-flush-cost": Decision(
        "relative",
        "flushes: more accesses",
        "section 5.3 increases the number of MRF accesses. 0.47 of them remain before flushes (section 1), 0.52 after"
        " 10% more, and 0.57 after ten points, while the combined design halves them (sections 3.3, 5.5)",
    ),
    "rfc-liveness-bypass-mrf": Decision(
        "points",
        "bypass: fewer accesses",
        "section 5.3 has a reduction in MRF accesses, the words of the caption of Figure 7, whose axis is in percent of"
        " the baseline's accesses",
    ),
    "rfc-liveness-bypass-writebacks": Decision(
        "relative",
        "bypass: fewer write-backs",
        "section 5.3 reduces the number of write-backs, which has no axis of its own",
    ),
}


def compared(changes: Mapping[str, Change]) -> dict[str, float]:
    """The results by id, each in the reading of `READ_AS`.  Raises KeyError for a result without a decision."""
    return {result: change.read_as(READ_AS[result].reading) for result, change in changes.items()}


def both(changes: Mapping[str, Change]) -> pd.DataFrame:
    """A row for each result and reading: ``of``, ``reading``, whether it is the ``compared`` one, and ``change``."""
    rows = [
        {
            "of": READ_AS[result].label,
            "reading": label,
            "compared": reading == READ_AS[result].reading,
            "change": change.read_as(reading),
        }
        for result, change in changes.items()
        for reading, label in LABELS.items()
    ]
    return pd.DataFrame(rows, columns=["of", "reading", "compared", "change"])
