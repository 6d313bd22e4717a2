"""Forms of PTX through ``ptxas``: on edge and random operands, machine code gives the bits that PTX
gives, natively and interpreted."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

import pytest
from tests.differential.test_opcodes import FORMS, disagreements, run_device, sampled
from tests.machine_code.reference.paired import Paired
from tests.reference.matrix import Instruction, build

from warpreg.codegen import CompileOptions
from warpreg.machine_code.assembler import ARCHITECTURES, MachineCode
from warpreg.simt import Device

NAMES = (
    "add sub addc subc mul mad min max abs neg sad dp4a dp2a and or xor not shl shr shf popc clz brev bfind bfe bfi "
    "prmt lop3 szext bmsk fma rcp sqrt rsqrt ex2 lg2 cvt setp selp slct set copysign testp shfl vote match redux"
).split()
FORMATS = re.compile(r"\.(bf16|f16|tf32|e\dm\d|ue8m0|e2m1|\w+x2)|relu|(min|max)\S* 3")
"""Numbers of 16 bits and less, whose comparisons are not executed, and forms of later architectures."""

NOT_ALIKE = {
    "rcp": ("f64",), "sqrt": ("f64",), "abs": ("f32", "f64"), "neg": ("f32", "f64"), "min": ("f64", "xorsign"),
    "max": ("f64", "xorsign"), "addc": ("16",), "subc": ("16",), "shfl": (".b32",), "vote": (".pred",),
    "redux": ("f32",), "rsqrt": ("f64",),
}  # fmt: skip
"""Words of forms that are left out: results with a NaN of other bits; what ``ptxas`` does not take."""


def forms_of(name: str) -> list[Instruction]:
    """A few forms of each row of an opcode."""
    rows = [forms for forms in FORMS.values() if forms and forms[0].text.split(".")[0] == name]
    chosen = [form for forms in rows for form in sampled(forms)[::3]]
    left_out = NOT_ALIKE.get(name, ())
    if name in ("shfl", "vote"):
        return [form for form in chosen if ".sync" in form.text]
    return [f for f in chosen if not FORMATS.search(str(f)) and not any(word in f.text for word in left_out)][:12]


HALF_NAMES = "add sub mul fma min max ex2 tanh set setp cvt".split()
SMALL = re.compile(r"e\dm\d|ue8m0|tf32|\.rs\.|scale")
OF_SM_90, REFUSED = re.compile(r"bf16|xorsign|oob"), re.compile(r"\.[us]8\.bf16|\.bf16\.[us]8")
NOT_ALIKE_HALVES = re.compile(r"fma\.rz|(add|sub|fma)\S*\.f32|cvt\S*\.(f32|f64)\.b?f16")
"""Forms of later GPUs, or that ``ptxas`` does not take; results of another format, or with a NaN of other bits."""


def halves_of(name: str, architecture: str) -> list[Instruction]:
    """A few forms of each row of an opcode with numbers of 16 bits."""
    rows = [forms for forms in FORMS.values() if forms and forms[0].text.split(".")[0] == name]
    chosen = [form for forms in rows for form in sampled([f for f in forms if re.search(r"\.b?f16", f.text)])[::6]]
    left_out = (SMALL, REFUSED, NOT_ALIKE_HALVES, *((OF_SM_90,) if architecture == "sm_80" else ()))
    return [form for form in chosen if not any(pattern.search(str(form)) for pattern in left_out)]


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", HALF_NAMES)
def test_halves_give_the_bits_of_ptx(name: str, architecture: str) -> None:
    pytest.importorskip("nvidia")
    forms = halves_of(name, architecture)
    assert forms, name
    compare(forms, name, (architecture,))


PAIRS = ("f32.u32", "f32.s64", "f64.u64", "f32.f64")
DIRECTED = [f"cvt.{rounding}.{pair}" for rounding in ("rz", "rm", "rp") for pair in PAIRS]
LIMITED = ["cvt.sat.u8.s32", "cvt.sat.s16.u32", "cvt.sat.s8.s64"]


def compared(forms: list[Instruction], architecture: str, seed: str) -> None:
    """Assert that forms give in machine code what they give in PTX."""
    matrix = build(forms, 32)
    words = matrix.input(random.Random(seed))
    expected = run_device(matrix, Device(matrix.text), words)
    device = Paired.assembled(re.sub(r"\.target \S+", f".target {architecture}", matrix.text), architecture)
    assert disagreements(matrix, words, run_device(matrix, device, words), expected) == []
    assert (device.compared, device.differences) == (1, [])


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", NAMES)
def test_machine_code_gives_the_bits_of_ptx(name: str, architecture: str) -> None:
    pytest.importorskip("nvidia")
    forms = forms_of(name)
    assert forms, name
    compared(forms, architecture, name)


def compare(forms: Sequence[Instruction], name: str, architectures: Sequence[str]) -> None:
    """Both codes of the forms on the same operands."""
    matrix = build(forms, 32)
    words = matrix.input(random.Random(name))
    expected = run_device(matrix, Device(matrix.text), words)
    for architecture in architectures:
        text = re.sub(r"\.target \S+", f".target {architecture}", matrix.text)
        device = Device(text, options=CompileOptions(assembler=MachineCode.of(architecture)))
        assert disagreements(matrix, words, run_device(matrix, device, words), expected) == []


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_conversions_round_and_clamp_as_told(architecture: str) -> None:
    pytest.importorskip("nvidia")
    compared([Instruction(text, 1) for text in (*DIRECTED, *LIMITED)], architecture, "directed")


BYTES_AND_TF32 = [
    *(f"cvt.rn.satfinite{relu}.{to}.{source}" for relu in ("", ".relu") for to in ("e4m3x2", "e5m2x2")
      for source in ("f32", "f16x2")),
    *(f"cvt.rn{relu}.f16x2.{source}" for relu in ("", ".relu") for source in ("e4m3x2", "e5m2x2")),
    *(f"cvt.{rounding}{relu}.tf32.f32" for rounding in ("rn", "rz") for relu in ("", ".relu")),
]  # fmt: skip
"""All that are for sm_90, but ``cvt.rna.tf32``, which becomes integer instructions that keep the bits of a NaN."""


@pytest.mark.slow
def test_bytes_and_numbers_of_19_bits() -> None:
    pytest.importorskip("nvidia")
    forms = [form for rows in FORMS.values() for form in rows if form.text in BYTES_AND_TF32]
    assert {form.text for form in forms} == {*BYTES_AND_TF32}
    compared(forms, "sm_90", "bytes")
