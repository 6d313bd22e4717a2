"""Executed instructions per strand."""

from __future__ import annotations

import numpy as np

from warpreg.analysis.strands import Segment, Strand, Strands
from warpreg.evaluation.measures.strand_length import StrandLength, dynamic
from warpreg.evaluation.runs.run import find_workload, run_workload


def test_each_visit_of_an_entry_begins_a_strand() -> None:
    """A strand of 3 instructions in block 0 goes on with 2 in block 1, which half of its 10 visits reach; one of 4 in
    block 2 runs 20 times: 10 * 3 + 5 * 2 + 20 * 4 instructions in 30 strands."""
    first = Strand((Segment(0, 0, 3, (), ((2, 5),)), Segment(1, 3, 5, (0,), ((2, 5),))))
    second = Strand((Segment(2, 5, 9, (), ()),))
    found = Strands((first, second), (), (), {})
    assert dynamic(found, np.array([10.0, 5.0, 20.0])) == (120.0, 30.0)


def test_loads_in_front_make_longer_strands() -> None:
    step_by_step, in_front = (run_workload(find_workload(f"reduction-{kind}")) for kind in ("loop", "unrolled"))
    assert StrandLength()(in_front) > StrandLength()(step_by_step)
