"""A design bound to a run: its hooks called as a core calls them, compiled and as plain Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numba
import pytest
from tests.designs.kernels import kernel, op, r
from tests.replay.paths import one_warp

from warpreg.designs import load, program_table
from warpreg.designs.plan import EXTRAS, LEVEL, WOKEN
from warpreg.designs.program import placed
from warpreg.replay import replay
from warpreg.replay.compiled import OPTIONS
from warpreg.replay.reach import rebuild
from warpreg.timing.bound import Binding, bind
from warpreg.timing.opening import made

FOLDER = Path(__file__).parent / "designs"
CODE = kernel(
    [
        op("mov.b32", r(8), 1),
        op("add.s32", r(9), r(8), r(0)),
        op("mad.lo.s32", r(8), r(8), r(9), r(0)),
        op("mov.b32", r(1), r(8)),
    ]
)


def bound(name: str, slots: int = 4, sms: int = 2, compiled: bool = False, **parameters: Any) -> Binding:
    design = load(name if name == "rfc" else FOLDER / f"{name}.py")
    values = design.configure(**parameters)
    program = placed(design.compile(program_table(CODE), values, CODE), slots, 2)
    return bind(design, design.initial_state(values, program), program, sms, compiled=compiled)


RUN = """
def run(d, warp, instructions):
    fresh_warp(d, warp)
    for pc in range(instructions):
        plan_reads(d, 0, warp, pc, 0xFFFFFFFF, 0, 0, 10 + pc)
        plan_write(d, 0, warp, pc, 0xFFFFFFFF, 0, 0, 10 + pc)
"""


@pytest.mark.parametrize("compiled", [False, True])
def test_counts_are_those_of_a_replay(compiled: bool) -> None:
    """One warp issues all, as far as counts are concerned."""
    binding = bound("rfc", compiled=compiled, entries=1)
    run = made("run", RUN, {"fresh_warp": binding.fresh_warp, **binding.hooks})
    inlined: Any = numba.njit(forceinline=True, no_cpython_wrapper=True, **OPTIONS)
    function = numba.njit(rebuild({"run": run}, inlined)["run"].py_func) if compiled else run
    function(binding.d, 3, len(list(CODE.instructions())))
    expected = replay(one_warp([0]), CODE, "rfc", entries=1, mode="interpreted")
    assert binding.bound.accesses.tolist() == expected.accesses.reshape(-1).tolist()
    assert binding.bound.moves.tolist() == expected.moves.tolist()
    assert binding.bound.details.sources[0, LEVEL] == 1


def test_a_hook_leaves_tokens_levels_and_who_holds_them() -> None:
    binding = bound("blocking_pool", first=8)
    admit, write = binding.hooks["admit"], binding.hooks["plan_write"]
    assert [admit(binding.d, 0, warp, 0, 0, 0, 0, 5) for warp in (1, 2)] == [-1, 0]
    assert binding.owner(2, 0) == 1
    assert admit(binding.d, 1, 6, 0, 0, 0, 0, 5) == -1
    write(binding.d, 0, 1, 3, 0, 0, 0, 9)
    assert binding.bound.details.woken[: binding.bound.details.queued[WOKEN]].tolist() == [0]
    assert binding.owner(2, 0) == -1
    assert binding.integrals(20) == {"sections in use": (9 - 5) + (20 - 5)}


def test_extra_accesses_name_the_warp() -> None:
    binding = bound("last_result")
    for pc in (0, 1):
        binding.hooks["plan_write"](binding.d, 1, 6, pc, 0, 0, 0, 0)
    assert binding.bound.details.queued[EXTRAS] == 1
    assert binding.bound.details.extras[0].tolist() == [1, 6, 8, -1, -1]


def test_fresh_rows_are_the_warps_own() -> None:
    binding = bound("last_result")
    binding.bound.state.held[:] = 5
    assert binding.fresh_warp is not None
    binding.fresh_warp(binding.d, 3)
    assert binding.bound.state.held.tolist() == [5, 5, 5, -1, 5, 5, 5, 5]
