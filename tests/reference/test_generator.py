"""Contents of the random programs."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.reference.generator import Case, generate
from tests.reference.run import run_reference

REQUIRED = (
    "nested divergent loops", "barriers", "pairs", "predication", "partial warps", "early exit", "several blocks",
    "calls",
    "atomics", "shared", "local", "constants", "vectors", "branch tables", "unstructured", "jumps out of loops",
    "shuffle",
    "vote", "divergent vote", "carry", "approximate", "ftz", "generic addresses", "divergent loops",
)  # fmt: skip


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return [generate(seed) for seed in range(200)]


@pytest.mark.parametrize("feature", REQUIRED)
def test_a_tenth_of_the_programs_have_each_feature(cases: list[Case], feature: str) -> None:
    counted = Counter(f for case in cases for f in case.features)
    assert counted[feature] >= len(cases) / 10


def test_a_seed_gives_one_program(cases: list[Case]) -> None:
    again = generate(7)
    assert (again.text, again.input) == (cases[7].text, cases[7].input)
    assert cases[8].text != cases[7].text


def test_every_row_is_written_and_runs_repeat(cases: list[Case]) -> None:
    first, second = run_reference(cases[3]), run_reference(cases[3])
    assert first == second
    assert first.steps > cases[3].threads
