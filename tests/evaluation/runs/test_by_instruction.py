"""Counts by instruction: their sums are those of the run, and each is that of its instruction."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warpreg
from warpreg import gpu, simt
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.by_instruction import by_instruction
from warpreg.evaluation.runs.counting import Timed
from warpreg.evaluation.runs.run import Run
from warpreg.replay import replay

EXAMPLES = Path(__file__).parents[3] / "examples"
MACHINE = gpu.load("gtx480")
LOOP = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry loop(.param .u64 out)
{
    .reg .b32 %a, %i;
    .reg .b64 %out;
    .reg .pred %p;
    ld.param.u64 %out, [out];
    mov.u32 %a, %tid.x;
    and.b32 %i, %a, 3;
L:
    mad.lo.u32 %a, %a, %a, %i;
    setp.ne.u32 %p, %i, 0;
    sub.u32 %i, %i, 1;
    @%p bra L;
    st.global.u32 [%out], %a;
    ret;
}
"""
RECORD = simt.Record(path=True, addresses=True)


@pytest.fixture(scope="module")
def run() -> Run:
    return warpreg.compile(LOOP, record=RECORD)["loop"][1, 64](np.zeros(1, np.uint32))


@pytest.mark.parametrize("name", ["mrf", "rfc", "rfc-lrf", "orf-lrf", "bow-wr", str(EXAMPLES / "loop_exits.py")])
def test_the_rows_sum_up_to_the_counts_of_the_run(run: Run, name: str) -> None:
    (kernel,) = run.kernels
    choice = ConfiguredDesign.load(name)
    found = by_instruction(run, kernel, choice, MACHINE, mode="interpreted")
    plain = replay(run.path(kernel), kernel, choice.design, mode="interpreted")
    assert np.array_equal(found.accesses.sum(axis=0), plain.accesses)
    assert np.array_equal(found.moves.sum(axis=0), plain.moves)
    assert found.total.events == plain.events
    assert found.issued.sum() == plain.warp_instructions


def test_each_instruction_has_its_own_accesses(run: Run) -> None:
    """Each of the two warps visits the loop four times: the multiplication reads three registers, the comparison one
    and the subtraction one, and the branch none.
    """
    (kernel,) = run.kernels
    found = by_instruction(run, kernel, ConfiguredDesign.load("mrf"), MACHINE, mode="interpreted")
    by_opcode = {one.opcode: pc for pc, one in enumerate(kernel.instructions())}
    counts = {opcode: (found.issued[pc], found.uses(pc, 0)) for opcode, pc in by_opcode.items()}
    assert counts["mad"] == (8, 8 * (3 + 1))
    assert counts["setp"] == (8, 8)
    assert counts["bra"] == (8, 0)
    assert counts["st"] == (2, 2 * 3)


def test_a_write_back_counts_with_the_instruction_that_causes_it(run: Run) -> None:
    """In a cache of one entry, an instruction with a result evicts the one before."""
    (kernel,) = run.kernels
    found = by_instruction(run, kernel, ConfiguredDesign.load("rfc", {"entries": 1}), MACHINE, mode="interpreted")
    writers = [pc for pc, one in enumerate(kernel.instructions()) if any(not r.is_predicate for r in one.defined)]
    assert found.moves.sum() > 0
    assert set(np.flatnonzero(found.moves.sum(axis=(1, 2)))) <= set(writers)


@pytest.mark.slow
def test_in_time_the_cycles_stay_and_the_waits_sum_up(run: Run) -> None:
    """The waits of a warp sum up to the cycles from its start to its last issue."""
    (kernel,) = run.kernels
    choice = ConfiguredDesign.load("rfc")
    timed = Timed(mode="interpreted")
    found = by_instruction(run, kernel, choice, MACHINE, timed, mode="interpreted")
    counted = timed.count(run, choice, MACHINE)
    assert counted.estimate is not None
    assert found.cycles == counted.estimate.cycles
    assert np.array_equal(found.accesses.sum(axis=0), counted.counts[0].accesses)
    assert 0 < found.waited.sum() <= 2 * found.cycles
