"""The compiler of RegMutex: a kernel divided into a base set and an extended set (thesis §4.3.1).

Registers with a number of ``base`` or more form the extended set.  Where registers cannot be compacted, a section is
held there too, where most registers are needed, and the steps are repeated; in the end nothing is released, and then
nothing needs compaction.
"""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.analysis.cached import cached_analysis
from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs.parts.sharing.barrier_edges import with_place_holders, without_place_holders
from warpreg.designs.parts.sharing.compaction import compacted, confined, renamed, tightest
from warpreg.designs.parts.sharing.instructions import ACQUIRE, RELEASE, action_of
from warpreg.designs.parts.sharing.staging import INSERTED, staged
from warpreg.designs.parts.sharing.states import DivisionError, Marks, need_of, states_of
from warpreg.ir.kernel import Kernel


@dataclass(frozen=True)
class Division:
    """The compiled ``kernel`` with ``base`` of ``registers`` in the base set, and by pc the pc in the kernel before,
    INSERTED for added instructions.
    """

    kernel: Kernel
    original: tuple[int, ...]
    base: int
    registers: int

    @property
    def acquires(self) -> int:
        """Acquires in the code."""
        return self._count(ACQUIRE)

    @property
    def releases(self) -> int:
        """Releases in the code."""
        return self._count(RELEASE)

    @property
    def moves(self) -> int:
        """Moves in the code that index compaction has added."""
        return self.original.count(INSERTED) - self.acquires - self.releases

    def _count(self, action: int) -> int:
        return sum(action_of(instruction) == action for instruction in self.kernel.instructions())


def divided(kernel: Kernel, base: int, registers: int, gap: int = 0) -> Division:
    """The kernel for a base set of ``base`` registers, of ``registers`` with a section.

    Raises DivisionError if it cannot be compiled for so few, with the reason.
    """
    known = _divisions(kernel)
    key = base, registers, gap
    if key not in known:
        try:
            known[key] = _divided(kernel, base, registers, gap)
        except DivisionError as error:
            known[key] = error
    found = known[key]
    if isinstance(found, DivisionError):
        raise found
    return found


@cached_analysis
def _divisions(kernel: Kernel) -> dict[tuple[int, int, int], Division | DivisionError]:
    """Divisions of a kernel by base set, registers and gap."""
    return {}


def _divided(kernel: Kernel, base: int, registers: int, gap: int) -> Division:
    analysis, marks = Analysis(with_place_holders(kernel)), Marks()
    need, rounds = need_of(analysis), 0
    while True:
        states, more = states_of(analysis, need, base, marks, gap), Marks()
        for moves_from in (base, 0):
            stage = staged(analysis, states, base, registers, moves_from)
            wanted = confined(stage)
            found = compacted(stage, base, max(registers, kernel.register_count), wanted)
            if not found.failed:
                return Division(*without_place_holders(kernel, *renamed(stage, found.register)), base, registers)
            more = tightest(stage, wanted, found.failed, need, rounds // 4)
        before = marks.count
        marks.add(more)
        if marks.count == before:
            raise DivisionError(f"kernel {kernel.name}: its registers do not fit a base set of {base}")
        rounds += 1
