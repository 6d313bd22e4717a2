"""Mappings beside levels: a mapping places what the levels leave to the register file, and only that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.timing.assembly import one_warp
from tests.timing.both_cores import agreed
from tests.timing.test_miniatures import accesses, events
from tests.timing.test_renaming import ONE_PORT, of_widths

from warpreg import gpu
from warpreg.designs import load, program_table
from warpreg.designs.interface import Launch
from warpreg.designs.interface.residency import unshared
from warpreg.designs.interface.state import named_leaves
from warpreg.designs.parts.renaming.slices import FULL

CODE = """mov.b32 R1, 1
mov.b32 R2, 2
add.s32 R3, R1, R2
mov.b32 R4, R3
add.s32 R5, R1, R4
mov.b32 R6, R0
add.s32 R7, R6, R3"""
FOUR_BANKS: dict[str, dict[str, Any]] = {
    "virtualization": {"banks": 4},
    "corf-pp": {"banks": 4, "encoding": "free"},
}
LEVELS: dict[str, dict[str, Any]] = {"rfc": {"entries": 2}, "rc": {}, "bow": {}, "bow-wr": {}}
PAIRS = [("virtualization", "rfc"), ("virtualization", "rc"), ("corf-pp", "bow"), ("corf-pp", "bow-wr")]


@pytest.mark.parametrize(("mapping", "levels"), PAIRS)
def test_the_levels_serve_what_they_serve_alone(mapping: str, levels: str) -> None:
    """Reads and writes of each level, and moves between them, are those of the levels over plain registers, in both
    cores; a result that the levels write nowhere stays so.  The mapping renames all seven results, and in the end holds
    none.
    """
    launched = of_widths(one_warp(CODE), *(2,) * 7)
    chosen = {
        f"{name.replace('-', '_')}_{key}": value
        for name, values in ((mapping, FOUR_BANKS[mapping]), (levels, LEVELS[levels]))
        for key, value in values.items()
    }
    both = load(f"{mapping}+{levels}")
    alone = agreed(launched, ONE_PORT, design=load(levels), **LEVELS[levels])
    run = agreed(launched, ONE_PORT, design=both, **chosen)
    assert accesses(run) == accesses(alone)
    assert np.array_equal(run.outcome.counts.moves, alone.outcome.counts.moves)
    assert (events(run, both)["placed"], events(run, both)["released"]) == (7, 7)
    state = dict(named_leaves(run.outcome.state))
    mapped = mapping.replace("-", "_")
    assert (state[f"{mapped}.free"] == FULL).all()
    assert not state[f"{mapped}.in_use"].any()


def test_what_a_warp_takes_under_both() -> None:
    """As many registers as in the plain register file; fewer if values that the collectors keep need none."""
    design, machine, kernel = load("corf-pp+bow-wr"), gpu.load("corf-fermi"), one_warp(CODE).kernel
    program = program_table(kernel)
    plain = unshared(machine, program.register_count)
    found = design.room(design.configure(), program, machine, Launch(256), kernel)
    assert found.residency == plain
    freed = design.configure(bow_wr_frees_registers=True)
    alone = load("bow-wr")
    expected = alone.room(alone.configure(frees_registers=True), program, machine, Launch(256), kernel).residency
    assert design.room(freed, program, machine, Launch(256), kernel).residency == expected
