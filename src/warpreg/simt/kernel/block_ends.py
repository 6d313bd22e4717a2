"""How a compiled block goes on: it jumps to the next block where that is the same for all running lanes and known.

It records the visit, counts it and jumps, if no lanes may meet before the next block, nothing faulted and no limit is
reached.  Everything else is left to a step of the driver (`warp_driver`).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from warpreg.simt.block import running
from warpreg.simt.block.native_records import ALL_WAIT, NO_BLOCK, BlockKind, Slot, Step, Warp, set_slot, slot
from warpreg.simt.block.running import RunningWarp
from warpreg.simt.llvm.emitter import I32, I64, Code, Value
from warpreg.trace.path import PathWord

STEPS: Mapping[int, Step] = {
    BlockKind.EXIT: Step.EXIT,
    BlockKind.GUARDED_EXIT: Step.EXIT,
    BlockKind.BARRIER: Step.BARRIER,
    BlockKind.INDIRECT: Step.STOP,
    BlockKind.SERVICE: Step.STOP,
}
"""The step that follows a block which does not end in a branch."""


@dataclass(frozen=True)
class End:
    """How a block ends: its kind, target, fall-through, reconvergence block and instruction count; whether it has a
    resume function; the barrier at which the whole thread block waits, or -1."""

    kind: int
    target: int
    fall: int
    meeting: int
    instructions: int
    resumes: bool
    barrier: int = -1


@dataclass(frozen=True)
class Ends:
    """The ends of all blocks, and what is recorded: the path, and streams by field and limit (``watch``);
    ``keeps_clock``: store the count of warp-instructions where blocks can read it."""

    ends: tuple[End, ...]
    records_path: bool
    watch: tuple[tuple[Slot, Slot], ...]
    keeps_clock: bool
    is_cooperative: bool = False

    @functools.cached_property
    def meetings(self) -> frozenset[int]:
        """The blocks at which diverged lanes may meet."""
        parting = (BlockKind.BRANCH, BlockKind.INDIRECT)
        return frozenset(end.meeting for end in self.ends if end.kind in parting)

    @functools.cached_property
    def all_wait(self) -> bool:
        """Whether the kernel has one barrier, at which all warps of a thread block wait, and nothing is reduced."""
        numbers = {end.barrier for end in self.ends if end.kind == BlockKind.BARRIER}
        return not self.is_cooperative and len(numbers) == 1 and -1 not in numbers

    def repeats(self, block: int) -> bool:
        """Whether a block may branch to itself."""
        end = self.ends[block]
        return end.kind == BlockKind.BRANCH and end.target == block != end.fall

    def go_on(
        self, code: Code, state: RunningWarp, block: int, taken: Value, faults: bool = False, waits: bool = False
    ) -> None:
        """End the function of a block; ``taken``: the lanes for which the guard of its terminator holds; ``faults``,
        ``waits``: whether it may end in a fault, or end the warp's turn."""
        end = self.ends[block]
        if end.kind == BlockKind.GOTO:
            self._enter(code, state, end.target, waits)
        elif end.kind == BlockKind.BRANCH:
            with code.if_(taken == state.mask):
                self._enter(code, state, end.target, waits)
            with code.if_(taken == 0):
                self._enter(code, state, end.fall, waits)
            self._step(code, state, Step.DIVERGE, block, taken)
        elif end.kind == BlockKind.EXIT:
            self._exit(code, state, block, faults)
        elif end.kind == BlockKind.BARRIER and self.all_wait:
            self._wait(code, state, block, faults, waits)
        else:
            self._step(code, state, STEPS[end.kind], block, taken)

    def _exit(self, code: Code, state: RunningWarp, block: int, faults: bool) -> None:
        """End the warp, if all lanes that have not exited do."""
        otherwise = code.builder.append_basic_block("otherwise")
        self.unless(code, [state.alive != state.mask, *self._faults(code, state, faults)], otherwise)
        self._step(code, state, Step.ENDED, block, code.const(I32, 0))
        code.builder.position_at_end(otherwise)
        self._step(code, state, Step.EXIT, block, state.mask)

    def _wait(self, code: Code, state: RunningWarp, block: int, faults: bool, waits: bool) -> None:
        """Wait at the only barrier of the kernel, or release the others, and go on with the next warp
        (`warp_barriers`)."""
        launch, end, otherwise = state.launch, self.ends[block], code.builder.append_basic_block("otherwise")
        if waits:
            code.builder.branch(otherwise)
        else:
            self.unless(code, [*self.cannot_wait(state, end.fall), *self._faults(code, state, faults)], otherwise)
            own, alive = code.const(I64, 1) << state.warp, slot(code, launch, Slot.ALIVE)
            with code.if_(alive == own):
                self._enter(code, state, end.fall, end.fall == NO_BLOCK)
            others = state.ready & ~own
            save(state, end.fall, self.records_path)
            ready = (others == 0).select(alive, others)
            self._step(code, replace(state, ready=ready), Step.NEXT, end.fall, code.undefined(I32))
        code.builder.position_at_end(otherwise)
        set_slot(launch, Slot.BARRIER, code.const(I64, end.barrier | 1 << ALL_WAIT))
        self._step(code, state, Step.BARRIER, block, state.mask)

    def cannot_wait(self, state: RunningWarp, fall: int) -> list[Value]:
        """Reasons not to wait at a barrier as a whole: lanes meet behind it."""
        return [state.reconvergence == fall] if fall in self.meetings or fall == NO_BLOCK else []

    def _faults(self, code: Code, state: RunningWarp, faults: bool) -> list[Value]:
        return [slot(code, state.launch, Slot.FAULT) != 0] if faults else []

    def _step(self, code: Code, state: RunningWarp, step: Step, block: int, lanes: Value) -> None:
        """Leave what follows to the driver."""
        given = replace(state, lanes=lanes, block=code.const(I32, block))
        code.jump_to(slot(code, state.launch, Slot.STEPS + step), given.arguments)

    def _enter(self, code: Code, state: RunningWarp, block: int, waits: bool) -> None:
        """Enter the next block with the lanes that run."""
        if waits or block == NO_BLOCK:
            self._step(code, state, Step.ARRIVE, block, state.mask)
            return
        otherwise = code.builder.append_basic_block("otherwise")
        self.unless(code, self.obstacles(code, state, block), otherwise)
        unused = code.undefined(I32)
        after = replace(self.visited(code, state, block), lanes=unused, block=unused)
        code.jump(running.declared(code.module, block_name(block)), after.arguments)
        code.builder.position_at_end(otherwise)
        self._step(code, state, Step.ARRIVE, block, state.mask)

    def unless(self, code: Code, obstacles: list[Value], otherwise: Any) -> None:
        """Continue only without obstacles; ``otherwise`` is where to go with one."""
        for condition in obstacles:
            following = code.builder.append_basic_block("next")
            code.builder.cbranch(condition.llvm, otherwise, following, likely=False)
            code.builder.position_at_end(following)

    def obstacles(self, code: Code, state: RunningWarp, block: int) -> list[Value]:
        """Reasons not to enter a block, although all lanes do; a fault resets the limit."""
        conditions = [state.executed >= slot(code, state.launch, Slot.LOOK_AT)]
        if block in self.meetings:
            conditions.append(state.reconvergence == block)
        conditions += [slot(code, state.launch, field) > slot(code, state.launch, limit) for field, limit in self.watch]
        return conditions

    def visited(self, code: Code, state: RunningWarp, block: int) -> RunningWarp:
        """Record and count a visit with the same lanes; returns the state after it."""
        if self.keeps_clock:
            set_slot(state.launch, Slot.EXECUTED, state.executed)
        visit = slot(code, state.launch, Slot.VISITS) + block * 8
        visit.store(visit.load(I64) + 1)
        path = state.path
        if self.records_path:
            path.store(code.const(I32, block << 2 | PathWord.VISIT))
            path = path + 4
        return replace(state, path=path, executed=state.executed + self.ends[block].instructions)


def save(state: RunningWarp, block: int, records_path: bool) -> None:
    """Write to the record of a warp that it goes on at ``block`` with the lanes that run."""
    (state.record + Warp.BLOCK).store(state.mask.code.const(I32, block))
    (state.record + Warp.MASK).store(state.mask)
    if records_path:
        (state.record + Warp.LAST_MASK).store(state.mask)


def block_name(block: int) -> str:
    """The name of the function of a block."""
    return f"block_{block}"
