"""The example that keeps near values (Memento, ISCA 2024), counted by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.designs.kernels import kernel, op, r
from tests.replay.paths import one_warp

from warpreg.checks.counterexample import counterexample
from warpreg.designs import load
from warpreg.ir.instruction import Instruction
from warpreg.replay import Counts, replay

DESIGN = load(Path(__file__).parents[2] / "examples" / "near_reuse.py")


def counts(*code: Instruction, **options: Any) -> Counts:
    """One warp runs straight code once."""
    return replay(one_warp([0]), kernel(list(code)), DESIGN, mode="interpreted", **options)


def add(target: int, *sources: int) -> Instruction:
    return op("add.s32", r(target), *(r(source) for source in sources))


@pytest.mark.parametrize(("near", "hits"), [(1, 0), (2, 1)])
def test_a_result_is_kept_if_it_is_read_soon(near: int, hits: int) -> None:
    """R1 is read two instructions after it was written, R2 one; R0 is not read again, so it is not copied."""
    found = counts(op("mov.b32", r(1), 5), add(2, 0, 0), add(3, 1, 2), near=near, entries=2)
    assert found.writes("MRF") == 3
    assert found.reads("RFC") == 1 + hits
    assert found.reads("MRF") == 3 - hits
    assert found.events["fills"] == 0


def test_a_source_that_is_read_again_is_copied_once() -> None:
    """The copy of R0 is a write of the cache; R1 and R2 are read no more, so they have no entry."""
    found = counts(add(1, 0, 0), add(2, 0, 0), entries=1)
    assert (found.reads("MRF"), found.reads("RFC"), found.writes("RFC"), found.events["fills"]) == (1, 3, 1, 1)


def test_a_far_value_leaves_first() -> None:
    """R0 and R1 fill both entries.  After pc 2, R0 is far and R1 near, so R2 takes the entry of R0, although R1 was
    used earlier."""
    code = [
        add(8, 1, 0),  # pc 0: both misses are near, as pc 1 and 2 read them
        add(2, 0, 0),  # pc 1: R0 is read for the last time; R2 is near and takes its entry
        add(8, 2, 1),  # pc 2: both hit
    ]
    found = counts(*code, entries=2)
    assert (found.reads("MRF"), found.reads("RFC"), found.events["fills"]) == (2, 4, 2)


def test_without_entries_it_is_the_plain_register_file() -> None:
    found = counts(add(1, 0, 0), add(2, 1, 1), entries=0)
    assert (found.reads("MRF"), found.writes("MRF"), found.reads("RFC"), found.writes("RFC")) == (4, 2, 0, 0)


def test_no_value_is_lost_on_random_kernels() -> None:
    search = counterexample(DESIGN, {}, kernels=15, seed=0, machine="gtx980-two-level")
    assert search.counterexample is None, search.counterexample
    assert search.reads > 0
