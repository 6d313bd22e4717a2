"""What is thought to keep a measured result from the printed one, to be shown by an ablation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["input", "compiler", "model"]
"""Other workloads; other code for the same workload; what the model assumes."""
Verdict = Literal["shown", "partly", "not explained"]
SHOWN = (0.6, 1.3)
"""Share of the difference that goes away if a cause is shown."""
SOME = 0.1
"""Of the difference at least so much less is left if a cause is shown in part."""


@dataclass(frozen=True, slots=True)
class Cause:
    """``ablation`` names the run that puts it to the test: the result measured once more without what is blamed.

    The text has no figures of a run: they come with the ablation.
    """

    kind: Kind
    text: str
    ablation: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text} (--ablation {self.ablation})"


def judge(share: float | None, *, within: bool) -> Verdict:
    """What an ablation says of a cause.

    ``share``: how much of the difference between printed and measured goes away (`Published.share`), None of a result
    in words; ``within``: whether the ablated result agrees with the printed one.  A cause is shown if 0.6 to 1.3 of the
    difference goes away and the result ends within, in words if it holds then.  Else it is shown in part if what is
    left of the difference, on either side, is less by a tenth of it at least: a share of 0.1 to 1.9.
    """
    if share is None:
        return "shown" if within else "not explained"
    low, high = SHOWN
    if within and low <= share <= high:
        return "shown"
    return "partly" if abs(1 - share) <= 1 - SOME else "not explained"
