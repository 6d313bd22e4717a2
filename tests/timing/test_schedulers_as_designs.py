"""Scheduling policies as design files: each of the machine's, written as one, issues as the machine's own does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.timing.both_cores import agreed, fast
from tests.timing.launches import Launched
from tests.timing.random_runs import Case, cases, launches
from tests.timing.reference.machine import Banks, TwoLevel
from tests.timing.test_both_cores import machine_with
from tests.timing.test_read_window import cases as modern_cases
from tests.timing.test_read_window import sub_cores

from warpreg.designs import load
from warpreg.designs.loading.composition import compose

FOLDER = Path(__file__).parents[2] / "examples" / "schedulers"
DESIGNS = Path(__file__).parent / "designs"
ROUND_ROBIN, GREEDY, TWO_LEVEL = (
    load(FOLDER / f"{name}.py", checked=False) for name in ("round_robin", "greedy", "two_level")
)
OTHER = {"lrr": "oldest", "gto": "lrr", "gty": "oldest", "two-level": "oldest"}
"""By policy, the one of the machine under the design, which must make no difference."""


def issues_alike(case: Case, policy: str) -> None:
    """The machine's own policy, and a design on a machine with another one."""
    own = replace(case.sm, policy=policy, two_level=None)
    values: dict[str, int | bool] = {"youngest": policy == "gty"} if policy in ("gto", "gty") else {}
    design = ROUND_ROBIN if policy == "lrr" else GREEDY
    if policy == "two-level":
        active, swap = case.resident, case.latency % 3
        own = replace(own, policy="gto", two_level=TwoLevel(active, "gto", "pending", 0, swap))
        design, values = TWO_LEVEL, {"active": active, "swap": swap}
    rest = case.latency, case.interval, case.sms, case.resident
    machine = agreed(case.launched, own, *rest)
    written = agreed(case.launched, replace(own, policy=OTHER[policy], two_level=None), *rest, design=design, **values)
    assert written.issues() == machine.issues()
    assert written.cycles == machine.cycles


@pytest.mark.parametrize("policy", OTHER)
@settings(max_examples=12, deadline=None)
@given(cases)
def test_a_policy_of_the_machine_as_a_design_with_collectors(policy: str, case: Case) -> None:
    issues_alike(replace(case, sm=replace(case.sm, banks=case.sm.banks or Banks())), policy)


@pytest.mark.parametrize("policy", OTHER)
@settings(max_examples=12, deadline=None)
@given(modern_cases)
def test_a_policy_of_the_machine_as_a_design_on_a_modern_core(policy: str, case: Case) -> None:
    issues_alike(case, policy)


FICKLE = load(DESIGNS / "fickle.py", checked=False)
RESTLESS = load(DESIGNS / "restless.py", checked=False)
BOTH = compose((FICKLE, RESTLESS))


@settings(max_examples=15, deadline=None)
@given(cases, st.integers(0, 1000))
def test_both_cores_show_hooks_the_same(case: Case, seed: int) -> None:
    """With a second design that has priorities, tokens and refusals for a number of cycles."""
    rest = case.latency, case.interval, case.sms, case.resident
    agreed(case.launched, case.sm, *rest, design=BOTH, restless_seed=seed)


@settings(max_examples=10, deadline=None)
@given(modern_cases)
def test_both_cores_show_hooks_the_same_on_a_modern_core(case: Case) -> None:
    agreed(case.launched, case.sm, case.latency, case.interval, case.sms, case.resident, FICKLE)


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(launches())
def test_compiled_it_is_the_interpreted_one(launched: Launched) -> None:
    machine = machine_with(Case(launched, sub_cores(2), 2, 2, 1, 1), "gtx480", "cached")
    runs = [fast(launched, machine, 2, 2, mode, design=FICKLE) for mode in ("interpreted", "compiled")]
    assert runs[0].result.as_dict() == runs[1].result.as_dict()
