"""Loop unrolling, for targets whose compiler unrolls.

Loops are unrolled from the inside out.  The decision (`factor`) counts machine instructions, so the kernel is
simplified to see them; the copies are made of the kernel before, because folding constants, addresses and common
values is more effective across copies.

The pragma ``nounroll`` (PTX ISA, "Pragma Strings") disables unrolling in a module, in a kernel, or of the loop whose
header it begins.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from warpreg.analysis.loops import LoopForest, loops
from warpreg.codegen.passes.base import Pass
from warpreg.codegen.unroll.copies import Copier
from warpreg.codegen.unroll.counters import LoopCounters
from warpreg.codegen.unroll.factor import ROLLED, Factor, factor
from warpreg.codegen.unroll.remaining import guarded_by
from warpreg.codegen.unroll.shape import is_unrollable, meets_threads, shape_of, stores_by_index
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.module import NOUNROLL

LARGEST_KERNEL = 20_000
"""Instructions of a kernel up to which its loops are unrolled, to bound the time of compilation."""


@dataclass(frozen=True)
class UnrollLoops:
    """Unroll loops as `ptxas` does; the only pass besides if-conversion that changes blocks.

    ``prepare``: passes that split registers into values and fold constants; ``simplify``: those that follow, up to
    machine instructions.
    """

    prepare: tuple[Pass, ...] = ()
    simplify: tuple[Pass, ...] = ()

    def run(self, kernel: Kernel) -> Kernel:
        """The kernel with unrolled loops; itself if none is."""
        if not loops(kernel).loops or _is_disabled(kernel):
            return kernel
        prepared = _after(kernel, self.prepare)
        work = _Unrolling(prepared, lambda kernel: _after(kernel, self.simplify), set(kernel.rolled))
        while work.unroll_innermost():
            pass
        return work.kernel if work.kernel is not prepared else kernel


def _is_disabled(kernel: Kernel) -> bool:
    functions = (f for f in kernel.module.functions if f.name == kernel.name)
    return NOUNROLL in kernel.module.items or any(NOUNROLL in f.attributes for f in functions)


def _after(kernel: Kernel, passes: Iterable[Pass]) -> Kernel:
    for step in passes:
        kernel = step.run(kernel)
    return kernel


@dataclass
class _Unrolling:
    """``decided`` are the labels of headers whose loops stay as they are, as do loops in their copies; ``saved``
    are the instructions per iteration that unrolling inner loops has saved, by the label of the header."""

    kernel: Kernel
    simplified: Callable[[Kernel], Kernel]
    decided: set[str]

    def __post_init__(self) -> None:
        self.saved: dict[str, int] = defaultdict(int)
        self.names = {r.name for r in self.kernel.registers()} | {b.label for b in self.kernel.blocks}

    def unroll_innermost(self) -> bool:
        """Unroll the innermost loops that are not decided; returns whether any was."""
        forest = loops(self.kernel)
        parents = {loop.parent for loop in forest.loops}
        labels = [self.kernel.blocks[loop.header].label for loop in forest.loops]
        leaves = [i for i, label in enumerate(labels) if i not in parents and _original(label) not in self.decided]
        counters = LoopCounters(self.kernel)
        if not any(forest.loops[i].header and counters.of(i) for i in leaves):
            return False
        machine = self.simplified(self.kernel)
        factors = {labels[i]: self._factor(machine, counters, i, forest, labels) for i in leaves}
        self.decided.update(_original(labels[i]) for i in leaves)
        changed = [label for label, chosen in factors.items() if chosen != ROLLED]
        for label in changed:
            self._unroll(label, factors[label])
        return bool(changed)

    def _factor(
        self, machine: Kernel, counters: LoopCounters, index: int, forest: LoopForest, labels: list[str]
    ) -> Factor:
        loop, counter = forest.loops[index], counters.of(index)
        code = [i for block in loop.blocks for i in machine.blocks[block].instructions]
        if not loop.header or counter is None or not is_unrollable(code):
            return ROLLED
        if counter.tests is None and not self._may_copy(code, counters, index):
            return ROLLED
        shape = shape_of(machine, loop, counter, self.saved[labels[index]], counters.known(index))
        chosen = factor(shape)
        if chosen.copies and shape.count is None and guarded_by(counter, max(2, chosen.copies), str) is None:
            return ROLLED
        if shape.body * (chosen.copies + chosen.rest) + machine.instruction_count > LARGEST_KERNEL:
            return ROLLED
        if chosen.copies == 0 and loop.parent >= 0:
            self.saved[labels[loop.parent]] += chosen.rest * shape.saved
        return chosen

    def _may_copy(self, code: list[Instruction], counters: LoopCounters, index: int) -> bool:
        """Whether a loop with an unknown count may be unrolled."""
        counter = counters.of(index)
        if counter is None or counter.offset != counter.step:
            return False
        return not (meets_threads(code) or stores_by_index(code)) or counters.is_uniform(counter, index)

    def _unroll(self, label: str, chosen: Factor) -> None:
        counters = LoopCounters(self.kernel)
        index = next(
            i for i, loop in enumerate(counters.forest.loops) if self.kernel.blocks[loop.header].label == label
        )
        counter = counters.of(index)
        assert counter is not None
        self.kernel = Copier(self.kernel, counters.forest.loops[index], counter, self._fresh).unrolled(chosen)

    def _fresh(self, name: str) -> str:
        base, number = _original(name), 1
        while f"{base}$copy{number}" in self.names:
            number += 1
        self.names.add(f"{base}$copy{number}")
        return f"{base}$copy{number}"


def _original(label: str) -> str:
    """The label of which this one is a copy's."""
    return label.split("$copy")[0]
