"""The reference reads machine files."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from tests.timing.machine_files import machine_of
from tests.timing.random_runs import machines
from tests.timing.reference.machine import PIPES, CollectorSet, Sm
from tests.timing.reference.machine_file import sm_of

from warpreg.gpu import machine as gpu


@pytest.mark.parametrize("name", gpu.names())
def test_every_machine_has_an_sm(name: str) -> None:
    sm = sm_of(gpu.load(name))
    assert set(sm.worker) == set(PIPES)
    assert all(sm.worker[name] in sm.pipes for name in PIPES)


@settings(max_examples=20, deadline=None)
@given(machines())
def test_a_drawn_sm_comes_back_from_its_machine(sm: Sm) -> None:
    """All but what has no meaning there: latencies of memory pipes, pipes without units, unused thresholds."""
    assert _meant(sm_of(machine_of(sm))) == _meant(sm)


def _meant(sm: Sm) -> Sm:
    working = {name for name in PIPES if sm.worker.get(name, name) == name}
    pipes = {name: pipe for name, pipe in sm.pipes.items() if name in working}
    rules = sm.two_level
    return replace(
        sm,
        texture_latency=0,
        worker={name: sm.worker.get(name, name) for name in PIPES},
        pipes={name: replace(p, latency=0) if name in ("mem", "tex") else p for name, p in pipes.items()},
        policy="two-level" if rules else sm.policy,
        two_level=replace(rules, stall_threshold=rules.stall_threshold * (rules.suspend == "stall")) if rules else None,
        banks=replace(sm.banks, sets=tuple(_set(one, working) for one in sm.banks.sets)) if sm.banks else None,
    )


def _set(one: CollectorSet, working: set[str]) -> CollectorSet:
    return replace(one, pipes=tuple(name for name in one.pipes if name in working - {"ctrl"}))
