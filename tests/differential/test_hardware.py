"""The comparison of instructions, programs and fetches with a GPU, with the executor as a stand-in."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from tests.checks.gpu_stand_in import StandIn, Wrong
from tests.differential import hardware, known
from tests.differential.hardware import attempt, compare_fetches, compare_forms, compare_program, summary
from tests.differential.test_opcodes import run_reference
from tests.reference.matrix import WORD, Instruction, build, column, shape_of

from warpreg.checks.gpu.process import Gpu

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


@pytest.mark.parametrize(
    ("text", "result", "gpu", "ours", "equal"),
    [
        ("add.f64", "f64", 0x7FF8000000012345, 0x7FF8000000000000, True),
        ("sqrt.rn.f64", "f64", 0xFFF8000000000000, 0x7FF8000000000000, True),
        ("neg.f16x2", "f16x2", 0x7FFFFBFF, 0xFE01FBFF, True),
        ("neg.f16x2", "f16x2", 0x7FFF7BFF, 0xFE01FBFF, False),
        ("abs.bf16", "bf16", 0x7FFF, 0x7F81, True),
        ("cvt.rna.satfinite.tf32.f32", "tf32", 0xFFBFE000, 0x7FFFFFFF, True),
        ("selp.f64", "f64", 0x7FF8000000012345, 0x7FF8000000000000, False),
        ("add.u32", "u32", 0x7FFFFFFF, 0x7FFFFFFE, False),
        ("add.f32", "f32", 0x7F800000, 0x7FFFFFFF, False),
    ],
)
def test_only_arithmetic_has_open_bits_of_nans(text: str, result: str, gpu: int, ours: int, equal: bool) -> None:
    """Most results are those of an H100 (driver 580)."""
    assert known.differ_in_nan_only(text.split(".")[0], result, gpu, ours) is equal


@pytest.mark.parametrize(
    ("form", "operands", "on_gpu", "ours", "reason"),
    [
        # 0x7fffffff + 0x263eea99 is positive in 33 bits and negative in 32.
        (("vadd.s32.s32.s32.max", 3), (0x7FFFFFFF, 0x263EEA99, 0xFF), 0xFF, 0xA63EEA98, "minimum or maximum"),
        # 0x1c is to be written above the half 2.
        (("vsub.s32.s32.s32", 3, ("h1", "b3", "h1", "")), (0x1C6AD0EB, 0x10, 2), 2, 0x1C0002, "upper half"),
        (("vadd.u32.s32.u32.sat", 2), (1, 0xFFFFFFFF), 0, 0xFFFFFFFF, "saturated"),
        # 0x41 * 0xb5a80d6e + 1 = 0x2e1fab68ef.
        (("vmad.u32.u32.u32.shr7", 3), (0x41, 0xB5A80D6E, 1), 0xDA3F56D1, 0x5C3F56D1, "vmad"),
        (("bfe.u64", 3), (0x7FFFFFFF, 0x100, 0x10), 0, 0xFFFF, "over 255"),
        (("madc.hi.u16", 3), (0x5857, 0xF, 0x11), 0x11, 0x16, "not in the manual"),
        (("mul.ftz.f16x2", 2), (0x64013BFF, 0x10400), 0, 0x400, "before rounding"),
        (("cvt.rp.ftz.f16.f32", 1), (0x7FFFFF,), 1, 0, "not flushed"),
    ],
)
def test_what_an_h100_computes_otherwise_is_explained(
    form: tuple[Any, ...], operands: tuple[int, ...], on_gpu: int, ours: int, reason: str
) -> None:
    """Results of an H100 (driver 580); the executor keeps to the manual."""
    instruction = Instruction(*form)
    assert reason in known.reason(instruction, operands)
    assert on_gpu != ours == reference(instruction, operands)


def reference(form: Instruction, operands: tuple[int, ...]) -> int:
    """The result of the reference interpreter."""
    matrix = build([form], 1)
    words = [dict(zip(columns(form), operands, strict=True))[c] for c in matrix.columns]
    return int.from_bytes(run_reference(matrix, words)[:WORD], "little")


def columns(form: Instruction) -> list[tuple[int, str]]:
    shape = shape_of(form)
    assert shape is not None
    return [column(form.text.split(".")[0], slot, name) for slot, name in enumerate(shape.sources)]


@pytest.mark.parametrize(
    "form", [("bfe.u64", 3), ("add.u32", 2), ("vshl.u32.u32.u32.sat.wrap", 2), ("vadd2.u32.u32.u32.sat", 3)]
)
def test_other_results_are_not_explained(form: tuple[str, int]) -> None:
    assert known.reason(Instruction(*form), (1, 2, 3)) == ""


def test_one_thread_tells_of_each_place() -> None:
    told = ["row 0, byte 8: 1 instead of 2", "row 5, byte 8: 3 instead of 4", "row 5, byte 12: 1 instead of 2"]
    assert [*hardware.first_of_each_place(told)] == [told[0], told[2]]


def test_after_the_end_nothing_is_tried() -> None:
    assert attempt((compare_program, (1,)), time.time() - 1) == []


def test_an_error_of_a_task_is_a_finding() -> None:
    (found,) = attempt((compare_program, ("no seed", "too many")), time.time() + 60)
    assert "TypeError" in found.error
