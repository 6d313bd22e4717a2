"""my-design beside its_model, from which it began: ``pytest my_design_test.py``."""

from __future__ import annotations

from pathlib import Path

import warpreg

FILE = str(Path(__file__).with_name("my_design.py"))
SAME = ["cycles", "energy_pj", "mrf_reads", "mrf_writes", "events"]


def test_it_counts_what_its_model_counts() -> None:
    """Replace this by what your change makes of accesses and cycles, worked out by hand on a kernel of a few
    instructions; ``warpreg new-design NAME`` without ``--like`` writes a test of that kind.
    """
    run = warpreg.run("vector-add", size="tiny", cycles=True)
    rows = warpreg.compare(run, [FILE, "its_model"], machine="gtx980-two-level", cycles=True, unchecked=True)
    mine, model = rows[SAME].to_dict("records")
    assert mine == model
