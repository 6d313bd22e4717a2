"""Workloads compared with the programs that they are named after."""

from __future__ import annotations

import pytest

from warpreg import workloads
from warpreg_workbench.suite.namesakes import Likeness, likeness

NAMED = [name for name in workloads.names() if workloads.find(name).originals]


ALIKE = 1.5
"""Registers within this factor count as similar."""


def is_alike(found: Likeness) -> bool:
    """Whether registers are within `ALIKE` and no feature is lacking; the number of instructions does not count."""
    return max(found.registers) <= ALIKE * max(1, min(found.registers)) and not found.lacking


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMED)
def test_a_workload_is_like_its_namesake_or_says_why_not(name: str) -> None:
    workload = workloads.find(name)
    found = likeness(workload)
    assert found is not None
    assert is_alike(found) or workload.differences, found


def test_no_namesake_no_comparison() -> None:
    assert likeness(workloads.find("vector-add")) is None


@pytest.mark.slow
def test_a_reduction_at_a_barrier_is_no_atomic() -> None:
    """``bar.red`` of b-tree counts threads, and updates no memory."""
    found = likeness(workloads.find("b-tree"))
    assert found is not None
    assert found.added == ()


@pytest.mark.parametrize(
    ("registers", "instructions", "lacking", "alike"),
    [
        ((20, 30), (100, 150), (), True),
        ((20, 31), (100, 100), (), False),
        ((20, 20), (151, 100), (), True),
        ((20, 20), (100, 100), ("textures",), False),
    ],
)
def test_alike_is_registers_within_a_factor_of_one_and_a_half_with_every_feature(
    registers: tuple[int, int], instructions: tuple[int, int], lacking: tuple[str, ...], alike: bool
) -> None:
    assert is_alike(Likeness("w", registers, instructions, lacking, ())) is alike
