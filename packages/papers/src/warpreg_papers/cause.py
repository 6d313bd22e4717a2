"""Supposed causes of differences between measured and printed results, each tested by an ablation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["input", "compiler", "model"]
"""Other workloads; other code of the same workload; assumptions of the model."""
Verdict = Literal["shown", "partly", "not explained"]
SHOWN = (0.6, 1.3)
"""Share of the difference that disappears if a cause is shown."""
SOME = 0.1
"""Minimum share by which the difference shrinks if a cause is shown in part."""


@dataclass(frozen=True, slots=True)
class Cause:
    """``ablation`` names the run that tests it: the result measured again without the supposed cause.

    The text contains no figures of a run; the ablation provides them.
    """

    kind: Kind
    text: str
    ablation: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text} (--ablation {self.ablation})"


def judge(share: float | None, *, within: bool) -> Verdict:
    """The verdict of an ablation on a cause.

    ``share``: how much of the difference between printed and measured value disappears (`Published.share`), None for a
    result in words.  ``within``: whether the ablated result agrees with the printed one.  A cause is shown if 0.6 to
    1.3 of the difference disappears and the result is within tolerance; a result in words must hold.  It is shown in
    part if the remaining difference, on either side, is smaller by at least a tenth: a share of 0.1 to 1.9.
    """
    if share is None:
        return "shown" if within else "not explained"
    low, high = SHOWN
    if within and low <= share <= high:
        return "shown"
    return "partly" if abs(1 - share) <= 1 - SOME else "not explained"
