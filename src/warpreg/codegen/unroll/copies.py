"""Copies of a loop's blocks: no loop, a loop of several copies, or several copies guarded by a test of what remains."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from warpreg.analysis.loops import Loop
from warpreg.codegen.lower.split_blocks import Node, tidied
from warpreg.codegen.unroll.counters import Counter
from warpreg.codegen.unroll.factor import Factor
from warpreg.codegen.unroll.remaining import guarded_by
from warpreg.ir.instruction import Guard, Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Immediate, Label, Register
from warpreg.ir.types import TYPES

Key = tuple[int, int]
"""A block and the number of its copy."""
OUTSIDE, ADDED = -1, -2
"""Instead of the number of a copy: a block outside the loop, and a block that is no copy of one."""


@dataclass
class Draft:
    """A block under construction, with targets by key."""

    label: str
    instructions: list[Instruction]
    taken: tuple[Key, ...] = ()
    next: Key | None = None


@dataclass
class Copier:
    """Unrolls one loop of a kernel.  ``fresh`` makes unused names; ``drafts`` are the blocks that replace the loop."""

    kernel: Kernel
    loop: Loop
    counter: Counter
    fresh: Callable[[str], str]
    drafts: dict[Key, Draft] = field(default_factory=dict)

    def unrolled(self, factor: Factor) -> Kernel:
        """The kernel with the loop unrolled."""
        if factor.copies == 0:
            self._complete(factor.rest)
        elif self.counter.tests is not None:
            self._partial(factor, self.counter.tests)
        else:
            self._unknown(factor)
        return self._assembled()

    def _complete(self, tests: int) -> None:
        """``tests`` copies; the last one leaves the loop at the counter's test."""
        for copy in range(tests):
            self._copy(copy, min(copy + 1, tests - 1))
            self._decide(copy, stays=copy < tests - 1)

    def _partial(self, factor: Factor, count: int) -> None:
        """A loop of ``copies`` and, after it, ``rest`` iterations without a test."""
        last, total = factor.copies - 1, factor.copies + factor.rest
        for copy in range(total):
            self._copy(copy, 0 if copy == last else min(copy + 1, total - 1))
            if copy != last:
                self._decide(copy, stays=copy < total - 1)
        if factor.rest:
            more = Register(self.fresh("%more"), TYPES["pred"])
            self._branch((self.counter.block, last), [self._ends_at(count - factor.rest, more)], more, 0, last + 1)

    def _ends_at(self, iterations: int, more: Register) -> Instruction:
        """The test whether the counter differs from its value after so many iterations."""
        counter = self.counter
        assert counter.start is not None
        end = counter.start + counter.step * iterations & (1 << counter.type.bits) - 1
        kind = f"u{counter.type.bits}"
        return replace(counter.test, modifiers=("ne", kind), operands=(more, counter.register, Immediate(end)))

    def _unknown(self, factor: Factor) -> None:
        """A loop of ``copies`` while as many iterations remain; then ``rest`` copies, each followed by the test.

        A test for "not equal" may hold more often than is sure before the loop, so the last of these copies repeats.
        """
        guarded = guarded_by(self.counter, factor.copies, self.fresh)
        assert guarded is not None
        last, total = factor.copies - 1, factor.copies + factor.rest
        before, after = self._added(), (1, ADDED)
        for copy in range(factor.copies):
            self._copy(copy, copy + 1 if copy < last else 0)
            if copy < last:
                self._decide(copy, stays=True)
        self.drafts[after] = Draft(self.fresh(self._label), [])
        for copy in range(factor.copies, total):
            self._copy(copy, min(copy + 1, total - 1))
        if self.counter.comparison != "ne":
            self._decide(total - 1, stays=False)
        self._branch(before, guarded.before, guarded.enters, 0, last + 1)
        self._leave_after(after, last)
        self._branch((self.counter.block, last), guarded.again, guarded.continues, 0, None)
        self.drafts[self.counter.block, last].next = after

    def _added(self) -> Key:
        """An empty block in front of the copies."""
        before = (0, ADDED)
        self.drafts[before] = Draft(self.fresh(self._label), [])
        return before

    def _leave_after(self, after: Key, last: int) -> None:
        """Leave the loop where no iteration remains after the copies in the loop; otherwise go to the other copies."""
        block = self.kernel.blocks[self.counter.block]
        branch = block.instructions[-1]
        assert branch.guard is not None
        negated = branch.guard.negated if self._stays_if_taken() else not branch.guard.negated
        repeated = [self.counter.test] if self.counter.is_tested_late else []
        self._branch(after, repeated, branch.guard.register, last + 1, None, negated=negated)
        (leaves,) = (s for s in block.successors if s not in self.loop.blocks)
        self.drafts[after].next = (leaves, OUTSIDE)

    def _branch(
        self,
        key: Key,
        tests: Iterable[Instruction],
        predicate: Register,
        taken: int,
        following: int | None,
        *,
        negated: bool = False,
    ) -> None:
        """End a block with ``tests`` and a branch on ``predicate`` to the header's copy ``taken``, instead of its own
        branch; ``following`` is the copy to go to otherwise."""
        draft = self.drafts[key]
        if draft.instructions and draft.instructions[-1].traits.is_branch:
            draft.instructions.pop()
        draft.instructions += [*tests, Instruction("bra", (), (Label(""),), Guard(predicate, negated))]
        draft.taken = ((self.loop.header, taken),)
        draft.next = None if following is None else (self.loop.header, following)

    @property
    def _label(self) -> str:
        return self.kernel.blocks[self.loop.header].label

    def _stays_if_taken(self) -> bool:
        return self.kernel.blocks[self.counter.block].successors[0] in self.loop.blocks

    def _copy(self, copy: int, back: int) -> None:
        """Copy the loop's blocks; back edges go to the header of copy ``back``."""

        def target(key: Key) -> Key:
            if key[0] not in self.loop.blocks:
                return key
            return (key[0], back if key[0] == self.loop.header else copy)

        for index in sorted(self.loop.blocks):
            draft = drafted(self.kernel, index)
            draft.taken = tuple(map(target, draft.taken))
            draft.next = target(draft.next) if draft.next else None
            draft.label = self.fresh(draft.label) if copy else draft.label
            self.drafts[index, copy] = draft

    def _decide(self, copy: int, *, stays: bool) -> None:
        """Replace the branch of the counter's test in a copy by a jump, into the loop or out of it."""
        draft = self.drafts[self.counter.block, copy]
        draft.instructions.pop()
        if stays == self._stays_if_taken():
            draft.next = draft.taken[0]
        draft.taken = ()

    def _assembled(self) -> Kernel:
        """All blocks in order, the copies where the header was."""
        header = self.loop.header
        drafts: dict[Key, Draft] = {}
        for block in self.kernel.blocks:
            if block.index == header:
                drafts |= self.drafts
            elif block.index not in self.loop.blocks:
                drafts[block.index, OUTSIDE] = drafted(self.kernel, block.index)
        entry = next(iter(self.drafts)) if (0, ADDED) in self.drafts else (header, 0)
        for draft in drafts.values():
            draft.taken = tuple(entry if t == (header, OUTSIDE) else t for t in draft.taken)
            draft.next = entry if draft.next == (header, OUTSIDE) else draft.next
        return replace(self.kernel, blocks=tidied(_nodes(drafts)), analyses={})


def _nodes(drafts: dict[Key, Draft]) -> list[Node]:
    """The drafts as a list in which each block's fall-through follows it, with jumps where it did not."""
    keys = list(drafts)
    jumps = {key for key, following in zip(keys, [*keys[1:], None], strict=True) if drafts[key].next != following}
    jumps = {key for key in jumps if drafts[key].next is not None}
    number: dict[Key, int] = {}
    position = 0
    for key in keys:
        number[key] = position
        position += 1 + (key in jumps)
    nodes: list[Node] = []
    for key in keys:
        draft = drafts[key]
        jump = [] if draft.next is None else [Node("", [Instruction("bra", (), (Label(""),))], (number[draft.next],))]
        if draft.instructions:
            following = None if draft.next is None else len(nodes) + 1
            nodes.append(Node(draft.label, draft.instructions, tuple(number[t] for t in draft.taken), following))
        else:
            nodes.append(replace(jump[0], label=draft.label))
        nodes += jump if key in jumps else []
    return nodes


def drafted(kernel: Kernel, index: int) -> Draft:
    """A block of the kernel, with targets outside any copy."""
    block = kernel.blocks[index]
    targets = tuple((s, OUTSIDE) for s in block.successors)
    end = block.terminator
    if end is None or not end.traits.is_branch:
        return Draft(block.label, list(block.instructions), (), targets[0] if targets else None)
    if end.traits.is_direct and end.guard:
        return Draft(block.label, list(block.instructions), targets[:1], targets[-1])
    return Draft(block.label, list(block.instructions), targets)
