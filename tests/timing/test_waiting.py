"""Messages of a deadlock."""

from __future__ import annotations

from tests.timing.assembly import code

from warpreg.ir.errors import WarpregError
from warpreg.timing.launch.deadlock import WaitingWarp, no_progress

KERNEL = code("mov.b32 R8, 1\nadd.s32 R8, R8, 1")


def test_each_token_and_instruction_is_a_line() -> None:
    waiting = [
        WaitingWarp(5, 2, 1, 1, 0, 4),
        WaitingWarp(6, 2, 2, 0, 7, -1),
        WaitingWarp(7, 3, 0, 0, 7, -1),
        WaitingWarp(9, 4, 0, 0, 7, -1),
    ]
    error = no_progress(KERNEL, "pool", 99, waiting, at_barriers=3)
    assert str(error).splitlines() == [
        "kernel hand, design pool: no warp can go on after cycle 99",
        "  token 0, held by warp 4: warp 5 (warp 1 of thread block 2) at 'add.s32 R8, R8, 1'",
        "  token 7, held by nobody: warps 6 to 7, 9 (thread blocks 2 to 4) at 'mov.b32 R8, 1'",
        "  3 warps at barriers",
    ]
    assert isinstance(error, WarpregError)


def test_of_many_tokens_some_are_named() -> None:
    error = no_progress(KERNEL, "pool", 99, [WaitingWarp(2 * n, 0, n, 0, n // 3, 9) for n in range(30)])
    lines = str(error).splitlines()
    assert len(lines) == 10
    assert lines[1] == "  token 0, held by warp 9: warps 0, 2, 4 (thread block 0) at 'mov.b32 R8, 1'"
    assert lines[-1] == "  and 6 more warps for other tokens or at other instructions"
