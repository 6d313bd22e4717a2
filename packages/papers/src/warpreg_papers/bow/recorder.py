"""What is recorded of instructions beside a design."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from warpreg_papers.bow import instruction_times


@dataclass(frozen=True, slots=True)
class InstructionTimes:
    """How long instructions collect their operands and how long they run."""

    file: ClassVar[Path] = Path(instruction_times.__file__)
