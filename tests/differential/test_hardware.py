"""The comparison of instructions, programs and fetches with a GPU, with the executor as a stand-in."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from tests.differential import hardware
from tests.differential.hardware import attempt, compare_fetches, compare_forms, compare_program, summary
from tests.experiments.checks.gpu_stand_in import StandIn, Wrong
from tests.reference.matrix import Instruction

from warpreg.experiments.checks.gpu.process import Gpu

FORMS = [Instruction("add.u32", 2), Instruction("sqrt.approx.f32", 1), Instruction("setp.lt.s32", 2)]


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with Gpu(StandIn) as gpu:
        monkeypatch.setattr(hardware, "gpu", lambda: gpu)
        yield


@pytest.mark.slow
@pytest.mark.usefixtures("stand_in")
def test_equal_machines_agree() -> None:
    forms = compare_forms(FORMS, 1)
    per_form = hardware.OPERANDS * hardware.THREADS
    assert [(one.name, one.compared) for one in forms] == [
        ("add.u32 2", per_form), ("sqrt.approx.f32 1", per_form), ("setp.lt.s32 2", 2 * per_form),
    ]  # fmt: skip
    found = [*forms, *compare_program(3), *compare_fetches("tex.2d.v4.f32.f32", 0)]
    assert [one for one in found if one.differ or one.error] == []
    assert {part: count["equal items"] for part, count in summary(found).items()}["program"] == 1


def test_a_wrong_result_is_beyond_and_an_example(monkeypatch: pytest.MonkeyPatch) -> None:
    with Gpu(Wrong) as gpu:
        monkeypatch.setattr(hardware, "gpu", lambda: gpu)
        (found,) = compare_forms(FORMS[:1], 0)
    assert found.differ == found.beyond == hardware.OPERANDS
    assert len(found.examples) == hardware.EXAMPLES


def test_after_the_end_nothing_is_tried() -> None:
    assert attempt((compare_program, (1,)), time.time() - 1) == []


def test_an_error_of_a_task_is_a_finding() -> None:
    (found,) = attempt((compare_program, ("no seed", "too many")), time.time() + 60)
    assert "TypeError" in found.error
