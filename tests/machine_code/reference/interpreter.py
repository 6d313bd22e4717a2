"""Runs a launch: blocks one after another, warps up to a barrier, groups of their lanes in an order
drawn at random, lanes one by one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product

from tests.machine_code.reference import (
    accesses,
    asynchronous,
    fetches,
    flow,
    halves,
    integers,
    logic,
    modifiers,
    numbers,
    reading,
    special,
    together,
)
from tests.machine_code.reference.state import Arrivals, Block, Bytes, Group, Lane, Launch, Warp
from tests.machine_code.reference.text import BYTES, Function, Instruction
from tests.reference.memory import ReferenceFault

LANES = 32
TURN = 400
"""Instructions of a group until others have their turn."""
ROUNDS = 200
"""Turns of the groups of a warp until other warps have theirs."""

STEPS: dict[str, Callable[[Instruction], integers.Step]] = {
    **integers.STEPS, **logic.STEPS, **numbers.STEPS, **halves.STEPS, **accesses.STEPS,
    **fetches.STEPS, **special.STEPS, **asynchronous.STEPS,
}  # fmt: skip
JOINT = {**together.JOINT, **asynchronous.JOINT}

REDUCTIONS: dict[str, Callable[[list[bool]], int]] = {
    "": lambda votes: 0, "POPC": sum, "AND": lambda votes: reading.M32 * all(votes),
    "OR": lambda votes: reading.M32 * any(votes),
}  # fmt: skip


class TooLong(Exception):
    """A launch took more steps than allowed."""


@dataclass
class Prepared:
    """An instruction with one of: a step of a lane, of lanes together, of control flow."""

    guard: reading.Test | None
    step: integers.Step | None = None
    joint: together.Joint | None = None
    flow: flow.Flow | None = None


@dataclass
class Interpreter:
    """Executes a function of a listing.  ``elementary`` gives the values of ``MUFU``; ``seed`` the order of groups."""

    function: Function
    elementary: together.Elementary
    seed: int = 0
    prepared: dict[int, Prepared] = field(default_factory=dict)

    def run(self, launch: Launch, limit: int = 50_000_000) -> None:
        """Every block.  Raises UnknownCode at an instruction without meaning, ReferenceFault at one that cannot be,
        TooLong after ``limit`` steps of threads."""
        rng = random.Random(self.seed)
        for z, y, x in product(*(range(extent) for extent in reversed(launch.grid))):
            self._run_block(_block(launch, (x, y, z)), rng, limit)

    def _run_block(self, block: Block, rng: random.Random, limit: int) -> None:
        while any(warp.lanes for warp in block.warps):
            progress = False
            for warp in block.warps:
                for _ in range(ROUNDS):
                    if not warp.ready or warp.waits:
                        break
                    progress = True
                    self._round(warp, rng)
                warp.waits = False
            progress |= _release(block) or any(warp.ready for warp in block.warps)
            if not progress:
                raise ReferenceFault("every thread waits for another")
            if block.launch.steps > limit:
                raise TooLong(f"more than {limit} steps of threads")

    def _round(self, warp: Warp, rng: random.Random) -> None:
        """A turn of each group of a warp, and then those that waited for them."""
        rng.shuffle(warp.ready)
        for group in [warp.ready.pop() for _ in range(len(warp.ready))]:
            warp.ready += self._turn(warp, group)
        warp.ready += flow.released(warp)
        if not warp.ready:
            warp.ready += flow.deserted(warp)

    def _turn(self, warp: Warp, group: Group) -> list[Group]:
        """Let a group go on until it splits, waits, or others have their turn."""
        for _ in range(TURN):
            one = self.prepared.get(group.pc) or self._prepare(group.pc)
            guard = one.guard
            active = group.lanes if guard is None else [lane for lane in group.lanes if guard(lane)]
            warp.block.launch.steps += len(active)
            if one.flow:
                found = one.flow(warp, group, active)
                if len(found) != 1:
                    return found
                (group,) = found
                continue
            if one.step:
                for lane in active:
                    one.step(lane)
            elif active:
                assert one.joint
                one.joint(active)
            group.pc += BYTES
            if warp.waits:
                break
        return [group]

    def _prepare(self, at: int) -> Prepared:
        i = self.function.code[at]
        modifiers.expect_known(i)
        guard = reading.predicate(i.guard) if i.guard else None
        if i.opcode in STEPS:
            found = Prepared(guard, step=STEPS[i.opcode](i))
        elif i.opcode in JOINT:
            found = Prepared(guard, joint=JOINT[i.opcode](i))
        elif i.opcode == "MUFU":
            found = Prepared(guard, joint=together.elementary(i, self.elementary))
        elif i.opcode in flow.FLOWS:
            found = Prepared(guard, flow=flow.FLOWS[i.opcode](i, self.function))
        else:
            raise i.unknown()
        self.prepared[at] = found
        return found


def _block(launch: Launch, index: tuple[int, int, int]) -> Block:
    block = Block(launch, index, Bytes("shared", 0, bytearray(launch.shared_bytes)))
    for n, thread in enumerate(_threads(launch.block)):
        if n % LANES == 0:
            block.warps.append(Warp(block))
        warp = block.warps[-1]
        warp.lanes.append(Lane(warp, n % LANES, thread))
    for warp in block.warps:
        warp.ready.append(Group([*warp.lanes], 0))
    return block


def _threads(extents: tuple[int, int, int]) -> Iterator[tuple[int, int, int]]:
    for z, y, x in product(*(range(extent) for extent in reversed(extents))):
        yield x, y, z


def _release(block: Block) -> bool:
    """Let those go on whose barrier is complete; whether there were any."""
    complete = [n for n, arrivals in block.barriers.items() if arrivals.waiting and _is_complete(block, arrivals)]
    for n in complete:
        arrivals = block.barriers.pop(n)
        result = REDUCTIONS[arrivals.reduction](arrivals.votes)
        for warp, group in arrivals.waiting:
            for lane in group.lanes:
                lane.results += [result] * bool(arrivals.reduction)
            warp.ready.append(group)
    return bool(complete)


def _is_complete(block: Block, arrivals: Arrivals) -> bool:
    """All threads came that have not exited; or as many warps as the count says, each with all lanes that remain."""
    if not arrivals.count:
        return all(lane in arrivals.lanes for warp in block.warps for lane in warp.lanes)
    came = {lane.warp for lane in arrivals.lanes}
    whole = [warp for warp in came if arrivals.lanes.issuperset(warp.lanes)]
    return LANES * len(whole) >= arrivals.count
