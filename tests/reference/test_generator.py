"""Contents of the random programs."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from tests.reference.generator import Case, generate
from tests.reference.run import run_reference
from tests.reference.vocabulary import is_measured

REQUIRED = (
    "nested divergent loops", "barriers", "pairs", "predication", "partial warps", "early exit", "several blocks",
    "calls",
    "atomics", "shared", "local", "constants", "vectors", "branch tables", "unstructured", "jumps out of loops",
    "shuffle",
    "vote", "divergent vote", "carry", "approximate", "ftz", "generic addresses", "divergent loops",
    "redefined guards",
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


def test_a_measured_program_keeps_to_what_a_gpu_defines() -> None:
    """Shared memory of a Hopper kernel does not begin at 0, and cache policies are not any numbers."""
    for text in (generate(seed, measured=True).text for seed in range(60)):
        instructions = re.findall(r"^ +(?:@!?%\w+ )?([a-z][\w.:]*) ", text, re.M)
        assert [i for i in instructions if not is_measured(i) or i.startswith("activemask")] == []
        policies = set(re.findall(r"createpolicy\S+ (%\w+)", text))
        assert all(re.findall(r"%\w+", line)[-1] in policies for line in text.splitlines() if "cache_hint" in line)
        assert not re.search(r"(ld|st|atom|red)\S*\.shared\S* .*\[\d+\]", text)


def test_a_measured_program_gives_a_nan_one_pattern() -> None:
    lines = [line.strip() for seed in range(20) for line in generate(seed, measured=True).text.splitlines()]
    for line, after, test in zip(lines, lines[1:], lines[2:], strict=False):
        if found := re.match(r"(?:@\S+ )?(?:add|mul|fma|div)\.r[nzmp]\S*\.(f32|f64) (%\w+),", line):
            assert re.match(r"\.reg \.pred %\w+;", after), line
            assert re.match(rf"setp\.nan\.{found[1]} %\w+, {found[2]}, {found[2]};", test), line
