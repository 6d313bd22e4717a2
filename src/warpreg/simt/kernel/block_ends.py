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
from warpreg.simt.block.native_records import BLOCK_BYTES, NO_BLOCK, BlockKind, Slot, Step, Warp, set_slot, slot
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
    def barriers_are_plain(self) -> bool:
        """Whether all warps of a thread block wait at every barrier, and nothing is reduced."""
        barriers = [end for end in self.ends if end.kind == BlockKind.BARRIER]
        return not self.is_cooperative and all(end.barrier >= 0 for end in barriers)

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
            self._enter(code, state, end.target, faults, waits)
        elif end.kind == BlockKind.BRANCH:
            with code.if_(taken == state.mask):
                self._enter(code, state, end.target, faults, waits)
            with code.if_(taken == 0):
                self._enter(code, state, end.fall, faults, waits)
            self._step(code, state, Step.DIVERGE, block, taken)
        elif end.kind == BlockKind.EXIT:
            self._exit(code, state, block, faults)
        elif end.kind == BlockKind.BARRIER and self.barriers_are_plain and not waits:
            self._wait(code, state, block, faults)
        else:
            self._step(code, state, STEPS[end.kind], block, taken)

    def _exit(self, code: Code, state: RunningWarp, block: int, faults: bool) -> None:
        """End the warp, if all lanes that have not exited do."""
        otherwise = code.builder.append_basic_block("otherwise")
        self.unless(
            code, [(state.region >> 32).trunc(I32) != state.mask, *self._faults(code, state, faults)], otherwise
        )
        self._step(code, state, Step.ENDED, block, code.const(I32, 0))
        code.builder.position_at_end(otherwise)
        self._step(code, state, Step.EXIT, block, state.mask)

    def _wait(self, code: Code, state: RunningWarp, block: int, faults: bool) -> None:
        """Wait at a barrier, or release the others, and go on with the next warp (`warp_barriers`)."""
        launch, end, otherwise = state.launch, self.ends[block], code.builder.append_basic_block("otherwise")
        alive, pending = (slot(code, launch, field) for field in (Slot.ALIVE_WARPS, Slot.PENDING))
        with code.if_((alive == 1) & (pending == 0)):
            self._enter(code, state, end.fall, faults, end.fall == NO_BLOCK)
        obstacles = self._faults(code, state, faults)
        if end.fall in self.meetings or end.fall == NO_BLOCK:
            obstacles.append(state.region.trunc(I32) == end.fall)
        self.unless(code, obstacles, otherwise)
        own, none = code.const(I64, 1) << state.warp, code.const(I64, 0)
        arrived, waiting = (slot(code, launch, field + end.barrier) for field in (Slot.ARRIVED, Slot.WAITS))
        count, waiting = arrived + 1, waiting | own
        is_last, bit = count >= alive, 1 << end.barrier
        set_slot(launch, Slot.ARRIVED + end.barrier, is_last.select(none, count))
        set_slot(launch, Slot.WAITS + end.barrier, is_last.select(none, waiting))
        set_slot(launch, Slot.EXPECTED + end.barrier, none)
        set_slot(launch, Slot.PENDING, is_last.select(pending & ~code.const(I64, bit), pending | bit))
        ready = is_last.select(state.ready | waiting, state.ready & ~own)
        set_slot(launch, Slot.READY, ready)
        row = slot(code, launch, Slot.BLOCKS) + block * BLOCK_BYTES
        (slot(code, launch, Slot.RECORD) + Warp.BARRIER_BLOCK).store(row)
        save(code, state, code.const(I32, end.fall), self.records_path)
        self._step(code, replace(state, ready=ready), Step.NEXT, end.fall, state.mask)
        code.builder.position_at_end(otherwise)
        self._step(code, state, Step.BARRIER, block, state.mask)

    def _faults(self, code: Code, state: RunningWarp, faults: bool) -> list[Value]:
        return [slot(code, state.launch, Slot.FAULT) != 0] if faults else []

    def _step(self, code: Code, state: RunningWarp, step: Step, block: int, lanes: Value) -> None:
        """Leave what follows to the driver."""
        given = replace(state, lanes=lanes, block=code.const(I32, block))
        code.jump_to(slot(code, state.launch, Slot.STEPS + step), given.arguments)

    def _enter(self, code: Code, state: RunningWarp, block: int, faults: bool, waits: bool) -> None:
        """Enter the next block with the lanes that run."""
        if waits or block == NO_BLOCK or not self.ends[block].instructions:
            self._step(code, state, Step.ARRIVE, block, state.mask)
            return
        otherwise = code.builder.append_basic_block("otherwise")
        self.unless(code, self.obstacles(code, state, block, faults), otherwise)
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

    def obstacles(self, code: Code, state: RunningWarp, block: int, faults: bool) -> list[Value]:
        """Reasons not to enter a block, although all lanes do."""
        conditions = [state.executed >= slot(code, state.launch, Slot.LOOK_AT)]
        conditions += self._faults(code, state, faults)
        if block in self.meetings:
            conditions.append(state.region.trunc(I32) == block)
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


def save(code: Code, state: RunningWarp, block: Value, records_path: bool) -> None:
    """Write the state of a warp that goes on at ``block`` with the lanes that run to its record."""
    record = slot(code, state.launch, Slot.RECORD)
    for field, value in (
        (Warp.BLOCK, block),
        (Warp.MASK, state.mask),
        (Warp.REGION, state.region),
        (Warp.TOP, state.top),
    ):
        (record + field).store(value)
    if records_path:
        (record + Warp.LAST_MASK).store(state.mask)


def block_name(block: int) -> str:
    """The name of the function of a block."""
    return f"block_{block}"
