"""Instructions: as they stand in the program, as a warp meets them, and as they are under way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.timing.reference.warp import Warp


@dataclass(frozen=True)
class Instruction:
    """One row of the program.  Registers are words, in operand order, repeated where named twice; cells that are in no
    bank (predicates and uniform registers) are apart, by name.

    ``waits``: the cause of the stall of who needs its result (``memory``, ``shared``, ``dp``, ``sfu``, ``alu``).
    ``kind``: what it asks of memory (``load``, ``store``, ``atomic``, ``texture``) or nothing.
    """

    pc: int
    pipe: str
    sources: tuple[int, ...] = ()
    results: tuple[int, ...] = ()
    sources_apart: tuple[str, ...] = ()
    results_apart: tuple[str, ...] = ()
    waits: str = "alu"
    kind: str = ""
    barrier: bool = False
    fence: bool = False
    long_latency: bool = False
    suspends: bool = False

    @property
    def cells(self) -> list[int | str]:
        """All that the scoreboard must let go before this may issue."""
        return [*self.sources, *self.results, *self.sources_apart, *self.results_apart]

    @property
    def result_cells(self) -> list[int | str]:
        """What enters the scoreboard."""
        return [*self.results, *self.results_apart]

    @property
    def has_results(self) -> bool:
        return bool(self.results or self.results_apart)


@dataclass(frozen=True)
class Access:
    """A memory record: ``space`` global, local, texture, shared or constant; one (line, sectors) for each transaction.

    ``degree`` is the conflict degree in shared memory, the number of different words in constant memory.
    """

    mask: int
    space: str
    degree: int = 0
    transactions: tuple[tuple[int, int], ...] = ()

    @property
    def sends_nothing(self) -> bool:
        return self.mask == 0 or not (self.degree or self.transactions)


@dataclass(frozen=True)
class Step:
    """An instruction as a warp meets it on its path."""

    instruction: Instruction
    mask: int
    access: Access | None = None


@dataclass
class Operand:
    """A source word on its way to a collector; ``bank`` is None where it asks for none."""

    word: int
    bank: int | None
    is_there: bool = False


@dataclass
class UnderWay:
    """An issued instruction.  ``sequence`` is its number in its SM; ``unwritten`` the results not yet written."""

    step: Step
    warp: Warp
    sequence: int
    operands: list[Operand] = field(default_factory=list)
    unwritten: int = 0
    sent: int = 0
    returned: int = 0
    has_sent_all: bool = False

    @property
    def instruction(self) -> Instruction:
        return self.step.instruction

    @property
    def has_operands(self) -> bool:
        return all(operand.is_there for operand in self.operands)
