"""The order in which a warp executes blocks: what it may do where lanes end inside one side of a branch."""

from __future__ import annotations

import pytest
from tests.designs.kernels import kernel, op, p, r, when

from warpreg.designs.parts.window.warp_flow import warp_successors

BRANCH = when(p(0), op("bra"))
OTHER = op("add.s32", r(1), r(0), r(0))


@pytest.mark.parametrize("opcode", ["exit", "EXIT"])
def test_the_other_side_may_follow_an_exit_under_a_guard(opcode: str) -> None:
    """Block 1 has a way to the end of the program only: without the exit, nothing of block 2 follows it directly."""
    after = ((1, 2), (3,), (4,), (4,), ())
    code = kernel([BRANCH], [when(p(0), op(opcode))], [OTHER], [OTHER], [OTHER], successors=after)
    assert 2 in warp_successors(code)[1]
    without = kernel([BRANCH], [OTHER], [OTHER], [OTHER], [OTHER], successors=after)
    assert 2 not in warp_successors(without)[1]
