"""Random control flow, and paths of warps that diverge and reconverge on it, as lanes decide at random."""

from __future__ import annotations

import random
from dataclasses import dataclass

from hypothesis import strategies as st
from tests.designs.guards import comparisons, guarded
from tests.designs.kernels import at, kernel, op, p, pair, r, when
from tests.replay.paths import Recorded

from warpreg.analysis.reconvergence import reconvergence
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Label

EVERYONE = 0xFFFFFFFF
NOWHERE = -1
MAX_VISITS = 40
register = st.integers(0, 3).map(r)
"""Few registers, so that most values are read again soon."""
instructions: st.SearchStrategy[Instruction] = st.one_of(
    st.builds(lambda d: op("mov.b32", d, 1), register),
    st.builds(op, st.just("add.s32"), register, register, register),
    st.builds(op, st.just("add.s64"), *[st.sampled_from([pair(0), pair(2)])] * 2, st.just(1)),
    st.builds(lambda d: op("ld.global.u32", d, at(pair(4))), register),
    st.builds(lambda s: op("st.global.u32", at(pair(4)), s), register),
    guarded(st.builds(op, st.just("mov.b32"), register, register)),
    guarded(st.builds(op, st.just("add.s32"), register, register, register)),
    comparisons(register),
)


@st.composite
def control_flows(draw: st.DrawFn) -> Kernel:
    """Blocks that fall through, branch anywhere, or end; some lanes of a block may exit under a guard."""
    count = draw(st.integers(2, 6))
    successors: list[tuple[int, ...]] = []
    bodies: list[list[Instruction]] = []
    for block in range(count):
        body = draw(st.lists(instructions, max_size=4))
        last = block == count - 1
        kind = "end" if last else draw(st.sampled_from(["fall", "branch", "branch", "branch", "exit"]))
        following: tuple[int, ...] = () if last else (block + 1,)
        if kind == "branch":
            target = draw(st.integers(1, count - 1))
            body = [*body, when(p(0), op("bra", Label(f"b{target}")))]
            following = tuple(dict.fromkeys((target, block + 1)))
        elif kind == "exit":
            body = [*body, when(p(0), op("exit"))]
        elif kind == "end":
            body = [*body, op("exit")]
        successors.append(following)
        bodies.append(body)
    return kernel(*bodies, successors=tuple(successors))


@dataclass
class _Part:
    """Lanes that wait to run ``block``, until they reach the block ``until``."""

    until: int
    block: int
    lanes: int


def walk(code: Kernel, path: Recorded, rng: random.Random) -> None:
    """Visits of one warp: sides of a branch one after the other, in random order, up to its reconvergence point."""
    meeting = reconvergence(code)
    stack = [_Part(NOWHERE, 0, rng.getrandbits(32) or 1)]
    alive = EVERYONE
    for _ in range(MAX_VISITS):
        while stack and (stack[-1].lanes & alive == 0 or stack[-1].block == stack[-1].until):
            stack.pop()
        if not stack:
            return
        part = stack[-1]
        part.lanes &= alive
        path.visits(part.block, mask=part.lanes)
        block = code.blocks[part.block]
        last = block.instructions[-1] if block.instructions else None
        if last is not None and last.opcode == "exit":
            alive &= ~(part.lanes & rng.getrandbits(32) if last.guard else part.lanes)
        if len(block.successors) < 2:
            if block.successors:
                part.block = block.successors[0]
            continue
        _diverge(part, block.successors, meeting[part.block], stack, rng)


def _diverge(part: _Part, targets: tuple[int, ...], end: int, stack: list[_Part], rng: random.Random) -> None:
    taken = part.lanes & rng.choice([0, EVERYONE, rng.getrandbits(32)])
    sides = [(targets[0], taken), (targets[1], part.lanes & ~taken)]
    sides = [(target, lanes) for target, lanes in sides if lanes]
    if len(sides) == 1:
        part.block = sides[0][0]
        return
    rng.shuffle(sides)
    if end == NOWHERE:
        stack.pop()
    else:
        part.block = end
    stack.extend(_Part(end, target, lanes) for target, lanes in sides)


@st.composite
def warp_runs(draw: st.DrawFn) -> tuple[Kernel, Recorded]:
    """A kernel and paths of some warps that follow its branches."""
    code = draw(control_flows())
    path = Recorded().thread_block(0)
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    for warp in range(draw(st.integers(1, 4))):
        walk(code, path.warp(warp), rng)
    return code, path
