"""What keeps a measured result from the printed one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["input", "compiler", "model", "paper"]
"""Other workloads; other code for the same workload; what the model assumes; the paper's own words or arithmetic."""


@dataclass(frozen=True, slots=True)
class Cause:
    """``ablation`` names the run that shows it: the result measured once more without what is blamed."""

    kind: Kind
    text: str
    ablation: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text} (--ablation {self.ablation})"
