"""Results of the register cache and scratchpad paper with cycles, on made-up samples."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from warpreg.evaluation.runs.reuse_ages import CLASS_CYCLES, CLASSES
from warpreg.evaluation.runs.run import AS_COMPILED
from warpreg.evaluation.runs.scheduled import Variant
from warpreg.evaluation.runs.timed_sample import Sample, Sampled
from warpreg.evaluation.studies.study import Study
from warpreg.replay import Counts
from warpreg_papers.rc_rsp import cycles as rc_rsp_cycles
from warpreg_papers.rc_rsp import designs, measured
from warpreg_papers.rc_rsp.cycles import GTO, TWO_LEVEL

RC = Variant.of("rc", lines=24)
AGES = rc_rsp_cycles.ReuseAges()


def counts(reads: int, ages: dict[tuple[int, int], int] | None) -> Counts:
    """Reads of the main register file, and by part and class."""
    accesses = np.zeros((1, 2, 2), np.int64)
    accesses[0, 0, 0] = reads
    events = dict.fromkeys((f"age_{part}_{age}" for part in range(3) for age in range(CLASSES)), 0) if ages else {}
    events |= {f"age_{part}_{age}": number for (part, age), number in (ages or {}).items()}
    return Counts("mrf", {}, (), accesses, np.zeros((1, 1), np.int64), events, 1)


def sample(cycles: int, reads: int = 1, ages: dict[tuple[int, int], int] | None = None) -> Sample:
    """``ages``: reads by part and class."""
    found = counts(reads, ages)
    return Sample(
        cycles=cycles,
        warp_instructions=1,
        counts=found,
        plain=found,
        resources={},
        busy_cycles=cycles,
        stalls={},
    )


def study(found: dict[Sampled, dict[str, Sample]]) -> Study:
    return Study("tiny", AS_COMPILED, found)


def test_shares_of_reads_by_age_are_means_over_workloads() -> None:
    """Of one workload the scratchpad serves all, 3 classes old; of the other the cache half, the file half at once."""
    found = study(
        {
            Sampled(TWO_LEVEL, RC, recorder=AGES): {
                "a": sample(1, ages={(2, 3): 8}),
                "b": sample(1, ages={(1, 0): 5, (0, 0): 5}),
            }
        }
    )
    frame = rc_rsp_cycles.ages(found, ["a", "b"], RC).set_index(["part", "cycles"])["reads"]
    assert frame["RSP", 3 * CLASS_CYCLES] == 0.5
    assert frame["RC", 0] == frame["MRF", 0] == 0.25
    assert frame.sum() == 1


def test_a_workload_without_ages_counts_for_nothing() -> None:
    found = study({Sampled(TWO_LEVEL, RC, recorder=AGES): {"a": sample(1)}})
    frame = rc_rsp_cycles.ages(found, ["a"], RC)
    assert frame.empty
    assert rc_rsp_cycles.captured_within(frame) == 0


@pytest.mark.parametrize(
    ("scratchpad", "cache", "expected"),
    [
        ([3, 3, 1, 0], [1, 2, 2, 5], 2 * CLASS_CYCLES),  # leads in the first two classes
        ([0, 9, 1, 0], [0, 2, 2, 5], 2 * CLASS_CYCLES),  # the first has no reads
        ([3, 2, 9, 0], [1, 2, 1, 5], CLASS_CYCLES),  # not in the second, whatever comes later
        ([0, 9, 1, 0], [1, 2, 2, 5], 0),  # not in the first
        ([1, 0, 0, 0], [2, 2, 2, 2], 0),
        ([0, 0, 0, 0], [0, 0, 0, 0], 0),
        ([3, 3, 3, 3], [1, 0, 1, 1], 4 * CLASS_CYCLES),  # everywhere
    ],
)
def test_the_scratchpad_captures_reads_up_to_where_it_no_longer_leads(
    scratchpad: list[int], cache: list[int], expected: float
) -> None:
    rows = [
        {"part": part, "cycles": i * CLASS_CYCLES, "reads": reads}
        for part, each in (("RSP", scratchpad), ("RC", cache))
        for i, reads in enumerate(each)
    ]
    assert rc_rsp_cycles.captured_within(pd.DataFrame(rows)) == expected


def test_cycles_are_the_schedulers_times_the_organisations() -> None:
    found = study(
        {
            Sampled(GTO): {"a": sample(100)},
            Sampled(TWO_LEVEL): {"a": sample(110)},
            Sampled(TWO_LEVEL, RC): {"a": sample(121)},
        }
    )
    frame = rc_rsp_cycles.scheduler_effect(found, ["a"], {"RC": RC}, designs.CHOSEN)
    (row,) = frame.to_dict("records")
    assert row["scheduler's cycles"] == 1.1
    assert row["organisation's cycles"] == 1.1
    assert row["cycles"] == pytest.approx(1.1 * 1.1)


def test_ages_are_recorded_of_the_hybrid_only() -> None:
    """Figure 12 shows no other design, and Table I needs the designs with two-level scheduling alone."""
    timed = [(one.machine, one.variant, one.recorder) for one in measured.CYCLES if isinstance(one, Sampled)]
    rc, rsp, hybrid = designs.TIMED.values()
    assert timed[:2] == [(GTO, None, None), (TWO_LEVEL, None, None)]
    assert timed[2:] == [(TWO_LEVEL, rc, None), (TWO_LEVEL, rsp, None), (TWO_LEVEL, hybrid, AGES)]
