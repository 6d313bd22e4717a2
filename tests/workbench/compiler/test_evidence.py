"""Explanations of differences in registers, from counts of both codes, and the page that shows them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.codegen.texts import kernel

from warpreg_workbench.compiler import page as compiler_page
from warpreg_workbench.compiler.evidence import Evidence
from warpreg_workbench.compiler.vendor_compiler import MachineCode, sections

THEIRS = sections("""
.section .text.k,
/*0000*/ LDG.E.128 R4, [R2.64+UR4] ;
/*0010*/ LDG.E R8, [R2.64] ;
/*0020*/ STS [R0], R8 ;
/*0030*/ IADD3.X R3, R3, RZ, RZ, P0, !PT ;
/*0040*/ IMAD.MOV.U32 R9, RZ, RZ, 0x1 ;
/*0050*/ BSSY B0, `(.L_x_0) ;
/*0060*/ CALL.REL.NOINC `($k$__internal_0) ;
/*0070*/ @P0 BRA `(.L_x_0) ;
/*0080*/ EXIT ;
""")["k"]


def evidence(**counts: Any) -> Evidence:
    nothing: dict[str, Any] = {"memory": (1, 1), "wide": (0, 0), "branches": (1, 1), "unrolled": (40, 40)}
    return Evidence(**(nothing | counts))


def test_both_codes_are_counted() -> None:
    body = "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]; @%p1 bra L; st.shared.f32 [0], %f1; L: ret;"
    machine = MachineCode(10, 0, 5, 9, tuple(THEIRS))
    found = Evidence.of(
        kernel(f"add.s64 %rd1, %rd1, 4; ex2.approx.f32 %f9, %f8; {body}"), machine, MachineCode(10, 0, 4)
    )
    counted = evidence(memory=(2, 3), wide=(1, 1), unrolled=(5, 4), uniform_bases=(0, 1), subroutines=9)
    counted = replace(counted, moves=(0, 1), upper_halves=1, meeting=1, subroutine_calls=1, approximations=1)
    assert found == counted


@pytest.mark.parametrize(
    ("found", "ratio", "words"),
    [
        (evidence(unrolled=(96, 80)), 0.5, "unrolls loops (96 instructions, 80 where it may not)"),
        (evidence(memory=(4, 5), subroutines=90), 0.5, "subroutine (90 instructions)"),
        (evidence(wide=(0, 4)), 0.5, "joins accesses to 128 bits (4, ours 0)"),
        (evidence(branches=(6, 2)), 0.5, "predicates (2 branches, ours 6)"),
        (evidence(), 0.5, "more loads and addresses in flight"),
        (evidence(uniform_bases=(2, 5)), 1.9, "5 of its addresses add a uniform register (ours 2)"),
        (evidence(), 1.9, "our schedule"),
    ],
)
def test_the_first_mechanism_that_the_counts_show_explains(found: Evidence, ratio: float, words: str) -> None:
    assert words in found.of_registers(ratio)


@pytest.mark.parametrize(
    ("found", "ratio", "words"),
    [
        (evidence(unrolled=(96, 80), subroutines=9), 0.5, "unrolls loops"),
        (evidence(memory=(26, 68), upper_halves=9), 0.5, "repeats bodies of loops (68 memory instructions, ours 26)"),
        (evidence(subroutine_calls=2, approximations=4), 0.5, "4 approximate functions are scaled"),
        (evidence(subroutine_calls=2, approximations=4), 0.5, "; 2 calls of division subroutines"),
        (evidence(upper_halves=31, meeting=12), 0.5, "upper halves of 64-bit integers take 31 instructions"),
        (evidence(meeting=12, moves=(2, 9)), 0.5, "12 instructions say where threads meet; it moves constants"),
        (evidence(moves=(2, 9)), 0.5, "(9 instructions, ours 2)"),
        (evidence(), 0.5, "do less"),
        (evidence(memory=(8, 4)), 1.5, "joins memory accesses (4, ours 8)"),
        (evidence(memory=(8, 4), calls=26, subroutines=9), 1.5, "26 calls of device functions are inlined here"),
        (evidence(branches=(8, 4)), 1.5, "predicates (4 branches, ours 8)"),
        (evidence(), 1.5, "do more"),
    ],
)
def test_instructions_have_mechanisms_too(found: Evidence, ratio: float, words: str) -> None:
    assert words in found.of_instructions(ratio)


def test_a_ratio_within_a_fifth_needs_no_explanation() -> None:
    assert evidence(unrolled=(9, 1)).of_registers(1.2) == evidence(unrolled=(9, 1)).of_registers(0.9) == ""
    assert evidence(unrolled=(9, 1)).of_instructions(1.2) == evidence(unrolled=(9, 1)).of_instructions(0.9) == ""


def test_the_page_keeps_what_stands_before_its_marker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {
        "kernel": "k",
        "target": "sm_80",
        "ours": {"registers": 10, "instructions": 30},
        "ptxas": {"registers": 20, "instructions": 60},
        "ours_rolled": {"registers": 9, "instructions": 24},
        "ptxas_rolled": {"registers": 11, "instructions": 36},
        "loops": [{"header": "$L", "ours": 1, "theirs": 7}, {"header": "$M", "ours": 7, "theirs": 7}],
        "ratio": {"instructions": 2.0, "rolled_instructions": 1.2},
        "mechanism": {"registers": "it unrolls", "instructions": "it copies"},
    }
    figures: dict[str, Any] = dict.fromkeys(compiler_page.SUMMARY, 1.254)
    measured = figures | {"kernels": [row], "compilers": {"ptxas": "13", "warpreg": "0"}}
    monkeypatch.setattr(compiler_page, "compiler", lambda **named: measured)
    page = tmp_path / "page.md"
    page.write_text(f"# By hand\n{compiler_page.MARKER}\nold", encoding="utf-8")
    done = CliRunner().invoke(compiler_page.main, ["--page", str(page)])
    assert done.exit_code == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"# By hand\n{compiler_page.MARKER}")
    assert "| registers, geometric mean | 1.25 |" in text
    assert "| k | sm_80 | 10 | 20 | 0.50 | 9 | 11 | it unrolls |" in text
    assert "| k | sm_80 | 30 | 60 | 0.50 | 24 | 36 | it copies |" in text
    assert "| k | `$L` | sm_80 | 1 | 7 |" in text
    assert "$M" not in text
    assert "Of 1 pairs of kernel and target, 1 differ in instructions by a factor above 1.6" in text
    assert "0 of them still do: none." in text
    assert "old" not in text
