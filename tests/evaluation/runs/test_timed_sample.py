"""Sampled runs with cycles: the timed part, and the ages of reads."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.timing.assembly import one_warp
from tests.timing.reference.machine import Sm
from tests.timing.vocabulary import timed

from warpreg import gpu, simt, timing
from warpreg.designs import load
from warpreg.designs.loading.composition import compose
from warpreg.evaluation.runs import reuse_ages
from warpreg.evaluation.runs.demand import fitting_demand
from warpreg.evaluation.runs.reuse_ages import CLASS_CYCLES
from warpreg.evaluation.runs.run import Run, find_workload, run_workload
from warpreg.evaluation.runs.sampling import FILLINGS, LAUNCHES, sample, sampled, window

WATCHER = load(Path(reuse_ages.__file__))
EVERYTHING = simt.Record(path=True, addresses=True)


def test_ages_of_what_is_read_by_level() -> None:
    """On the ideal path results are there 4 cycles after issue, one more where a source missed.  R1 is read from the
    cache 5 cycles after the add; R0, which the cache never had, in the next cycle, 6 after the add, and 5 after that.
    """
    code = one_warp("add.s32 R1, R0, R4\nmov.b32 R2, R1\nmov.b32 R3, R0\nmov.b32 R3, R0")
    run = timed(code, Sm(), design=compose([load("rc"), WATCHER]))
    first, *rest = run.warp(0).issues("mov").cycles
    assert (first, *rest) == (6, 7, 12)
    events = dict(zip(compose([load("rc"), WATCHER]).events, run.outcome.counts.events.tolist(), strict=True))
    ages = {name: n for name, n in events.items() if n and name.startswith("age")}
    assert ages == {f"age_1_{5 // CLASS_CYCLES}": 1, f"age_0_{5 // CLASS_CYCLES}": 2}


@pytest.fixture(scope="module")
def run() -> Run:
    return run_workload(find_workload("bfs"), "tiny", record=EVERYTHING)


def test_some_launches_of_each_kernel_are_timed_the_first_among_them(run: Run) -> None:
    taken = sample(run)
    for kernel in run.kernels:
        own, every = [one for one in taken if one.kernel is kernel], run.launches_of(kernel)
        assert len(own) == min(LAUNCHES, len(every))
        assert own[0] is every[0]


def test_thread_blocks_fill_an_sm_once_at_least_and_some_times_at_most(run: Run) -> None:
    machine = gpu.load("gebhart")
    for launch in run.launches:
        x, y, z = launch.block
        filling = max(1, min(machine.sm.blocks, machine.sm.warps // -(-x * y * z // 32)))
        assert filling <= window(launch, machine).count <= FILLINGS * filling


@pytest.mark.slow
def test_the_sample_is_timed_as_a_window_of_each_launch_is() -> None:
    run = run_workload(find_workload("spmv"), "tiny", record=EVERYTHING)
    machine = gpu.load("gebhart")
    (launch,) = run.launches
    alone = timing.simulate([launch], machine, sms=1, window=window(launch, machine), mode="interpreted")
    assert sampled(run, machine, mode="interpreted").cycles == alone.cycles


@pytest.mark.parametrize(
    ("demanded", "threads", "expected"),
    [(40, 1024, 32), (32, 1024, None), (40, 256, None), (80, 256, 63), (80, 1024, 32)],
)
def test_a_kernel_demands_as_many_registers_as_let_a_thread_block_fit(
    demanded: int, threads: int, expected: int | None
) -> None:
    """32,768 registers of an SM, 63 of a thread: 32 of each of 1,024 threads."""
    launch: Any = SimpleNamespace(kernel=SimpleNamespace(register_demand=demanded), block=(threads, 1, 1))
    assert fitting_demand(launch, gpu.load("corf-fermi")) == expected
