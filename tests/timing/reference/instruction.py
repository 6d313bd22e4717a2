"""Instructions: in the program, at the head of a warp, and in flight."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tests.timing.reference.warp import Warp


@dataclass(frozen=True)
class Instruction:
    """One row of the program.  Registers are words, in operand order, repeated where named twice; cells that are in no
    bank (predicates and uniform registers) are apart, by name.

    ``waits``: the cause of the stall of who needs its result (``memory``, ``shared``, ``dp``, ``sfu``, ``alu``).
    ``barrier``: the warp waits; ``gathers``: of a barrier with a count, its number and how many warps it is for.
    ``copies``: an asynchronous copy; ``commits`` a group of them; ``awaits`` all groups but so many.
    ``unrecorded``: a texture fetch of a trace, whose addresses are not known.
    ``constant``: the line of the constant that it reads.
    ``latency`` and ``initiation`` where they are not those of its pipe.
    ``kind``: what it asks of memory (``load``, ``store``, ``atomic``, ``texture``, ``read-only``) or nothing.
    """

    pc: int
    pipe: str
    sources: tuple[int, ...] = ()
    results: tuple[int, ...] = ()
    sources_apart: tuple[str, ...] = ()
    results_apart: tuple[str, ...] = ()
    waits: str = "alu"
    kind: str = ""
    unrecorded: bool = False
    barrier: bool = False
    gathers: tuple[int, int] | None = None
    fence: bool = False
    copies: bool = False
    commits: bool = False
    awaits: int | None = None
    long_latency: bool = False
    suspends: int = 0
    control: Control | None = None
    latency: int | None = None
    initiation: int | None = None
    constant: int | None = None

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
class Control:
    """A control code: cycles until the next issue; the counter of its results and that of its sources; the counters
    that must be 0, and one that may not be above a number.
    """

    stall: int = 1
    write: int | None = None
    read: int | None = None
    waits: frozenset[int] = frozenset()
    limit: tuple[int, int] | None = None


@dataclass(frozen=True)
class Access:
    """A memory record: ``space`` global, local, texture, shared or constant; one (line, sectors) for each transaction.

    ``degree`` is the conflict degree in shared memory, the number of different words in constant memory.  ``base``,
    ``stride`` and ``lanes``, the addresses of active lanes that are not affine, are for hooks only.
    """

    mask: int
    space: str
    degree: int = 0
    transactions: tuple[tuple[int, int], ...] = ()
    base: int = 0
    stride: int = 4
    lanes: tuple[int, ...] = ()

    @property
    def sends_nothing(self) -> bool:
        return self.mask == 0 or not (self.degree or self.transactions)


@dataclass(frozen=True)
class Step:
    """An instruction as a warp meets it on its path; ``widths`` of its results, if they are known."""

    instruction: Instruction
    mask: int
    access: Access | None = None
    widths: tuple[int, ...] = ()


@dataclass
class Source:
    """A source word on its way to a collector; ``bank`` is None where it asks for none.

    ``cycles`` count from its grant (1: with the grant) or, without a bank, from when its instruction enters the
    collector.  ``merged`` is the position of the source that it arrives with.  ``there_from`` is the cycle from which
    it is there, None as long as it is not known.  ``row`` and ``slices`` say what its access reads of the bank.
    """

    word: int
    bank: int | None
    cycles: int = 1
    merged: int | None = None
    there_from: int | None = None
    row: object = None
    slices: frozenset[int] = frozenset()

    def shares_with(self, other: Source) -> bool:
        """Whether one access of a bank can read both."""
        return self.row == other.row or not self.slices & other.slices


@dataclass
class Result:
    """A result word.  ``bank`` is None where no bank takes it; ``elsewhere``: its readers do not wait for a bank.

    ``cycles`` of the write that its readers wait for.
    """

    word: int
    bank: int | None
    elsewhere: bool = False
    cycles: int = 1


@dataclass
class UnderWay:
    """An issued instruction.  ``sequence`` is its number in its SM; ``unwritten`` what keeps it from being complete:
    cells in the scoreboard, and words in write queues that no cell waits for.

    ``enters_from`` is the first cycle in which it may enter a collector, ``sends_from`` that in which it may send,
    ``entered`` when it took its place in the load-store queue.
    ``planned``: what ``plan_write`` has said of its results.  ``ready``: when the operands of a held load are there.
    """

    step: Step
    warp: Warp
    sequence: int
    sources: list[Source] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    unwritten: int = 0
    sends_from: int = 0
    entered: int = 0
    sent: int = 0
    returned: int = 0
    has_sent_all: bool = False
    planned: NDArray[np.int32] | None = None
    enters_from: int = 0
    ready: int = 0
    issued_at: int = 0
    has_read: bool = False
    order: int = 0

    def requests(self, source: Source) -> bool:
        """Whether a source asks its bank: the first of those that name the same word of it."""
        same = (one for one in self.sources if (one.word, one.bank) == (source.word, source.bank))
        return source.bank is not None and next(same) is source

    def cycles_of_write(self, word: int) -> int:
        """Cycles for which the write of a result keeps its bank; 1 for one whose readers do not wait for it."""
        result = next(result for result in self.results if result.word == word)
        return 1 if result.elsewhere else result.cycles

    @property
    def instruction(self) -> Instruction:
        return self.step.instruction

    def has_operands(self, now: int) -> bool:
        """Whether every source is there."""
        arriving = (self.arrives_with(source).there_from for source in self.sources)
        return all(there_from is not None and there_from <= now for there_from in arriving)

    def arrives_with(self, source: Source) -> Source:
        """The source that a merged one arrives with; another one itself."""
        while source.merged is not None:
            source = self.sources[source.merged]
        return source
