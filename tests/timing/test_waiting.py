"""Messages of a deadlock."""

from __future__ import annotations

from tests.timing.assembly import code

from warpreg.ir.errors import WarpregError
from warpreg.timing.launch.deadlock import Waiting, no_progress

KERNEL = code("mov.b32 R8, 1\nadd.s32 R8, R8, 1")


def test_warps_instructions_tokens_and_owners_are_named() -> None:
    error = no_progress(KERNEL, "pool", 99, [Waiting(5, 2, 1, 1, 0, 4), Waiting(6, 2, 2, 0, 7, -1)])
    assert str(error) == (
        "kernel hand, design pool: no warp can go on after cycle 99: "
        "warp 5 (warp 1 of thread block 2) waits at 'add.s32 R8, R8, 1' for token 0, which warp 4 holds; "
        "warp 6 (warp 2 of thread block 2) waits at 'mov.b32 R8, 1' for token 7, which nobody holds"
    )
    assert isinstance(error, WarpregError)


def test_of_many_warps_some_are_named() -> None:
    error = no_progress(KERNEL, "pool", 99, [Waiting(n, 0, n, 0, 0, 9) for n in range(30)])
    assert str(error).endswith("token 0, which warp 9 holds; and 26 more")
    assert str(error).count("waits at") == 4
