"""Code written by hand: opcodes that ``ptxas`` rarely makes, run from a listing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warpreg
from warpreg.ir.errors import WarpregError

BEGIN = "S2R R0, SR_TID.X; MOV R2, 0x4; IMAD.WIDE.U32 R4, R0, R2, c[0x0][0x160]; MOV R3, 0x1"
STORE = "STG.E [R4.64], R3; EXIT"
THREADS = np.arange(64)


def listing(code: str) -> str:
    """A listing of sm_80 of instructions divided by semicolons; ``NAME:`` before one is a label."""
    lines, address = ["\t.target\tsm_80", "\t.section\t.text.k"], 0
    for word in filter(None, (one.strip() for one in code.split(";"))):
        label, _, statement = word.rpartition(": ")
        lines += [f"{label}:"] if label else []
        lines.append(f"        /*{address:04x}*/  {statement} ;")
        address += 16
    return "\n".join(lines) + "\n"


def left(code: str, folder: Path) -> list[int]:
    """What 64 threads leave in the array of the kernel, which begins with -1."""
    path = folder / "k.sass"
    path.write_text(listing(f"{BEGIN}; {code}; {STORE}"))
    out = np.full(64, -1, np.int32)
    warpreg.compile(path)["k"][1, 64](out)
    return [int(value) for value in out]


def test_kill_ends_its_lanes(tmp_path: Path) -> None:
    code = "ISETP.LT.U32.AND P0, PT, R0, 0x28, PT; @P0 KILL; MOV R3, 0x7"
    assert left(code, tmp_path) == [-1] * 40 + [7] * 24


def test_jmp_goes_to_its_label(tmp_path: Path) -> None:
    """The uniform jump skips an instruction; the guarded one skips another for odd threads."""
    code = (
        "JMP `(.L_1); MOV R3, 0x9; .L_1: LOP3.LUT R6, R0, 0x1, RZ, 0xc0, !PT;"
        "ISETP.NE.AND P0, PT, R6, RZ, PT; @P0 JMP `(.L_2); IADD3 R3, R3, 0x4, RZ; .L_2: IADD3 R3, R3, 0x10, RZ"
    )
    assert left(code, tmp_path) == [0x11 if thread & 1 else 0x15 for thread in THREADS]


def test_bmov_saves_a_convergence_barrier(tmp_path: Path) -> None:
    """Inside of the region, the barrier is saved, used for another region, and restored; a ballot after it sees all
    lanes."""
    code = (
        "BSSY B0, `(.L_9); ISETP.LT.U32.AND P0, PT, R0, 0x30, PT; @P0 BRA `(.L_8);"
        "BMOV.32.CLEAR R7, B0; BSSY B0, `(.L_7); ISETP.LT.U32.AND P1, PT, R0, 0x38, PT; @P1 BRA `(.L_7);"
        "IADD3 R3, R3, 0x1, RZ; .L_7: BSYNC B0; BMOV.32 B0, R7; IADD3 R3, R3, 0x2, RZ;"
        ".L_8: BSYNC B0; .L_9: VOTE.ANY R8, PT, PT; POPC R8, R8; IMAD R3, R8, 0x10, R3"
    )
    expected = [32 * 16 + 1 + (3 if thread >= 56 else 2 if thread >= 48 else 0) for thread in THREADS]
    assert left(code, tmp_path) == expected


def test_predicates_go_into_a_byte(tmp_path: Path) -> None:
    code = (
        "ISETP.LT.U32.AND P0, PT, R0, 0x28, PT; ISETP.GE.U32.AND P1, PT, R0, 0x10, PT; MOV R6, 0x11335577;"
        "P2R.B1 R3, PR, R6, 0x3"
    )
    bits = [(thread < 40) + 2 * (thread >= 16) for thread in THREADS]
    assert left(code, tmp_path) == [0x11335477 + 256 * int(bit) for bit in bits]


def test_uniform_predicates_go_into_a_byte_and_come_back(tmp_path: Path) -> None:
    """As around ``fence.proxy.alias``: UP0 is true, UP1 false; UP0 is true again after it was changed."""
    code = (
        "UMOV UR4, 0x3; UISETP.NE.AND UP0, UPT, UR4, URZ, UPT; UISETP.LT.AND UP1, UPT, UR4, 0x2, UPT;"
        "UP2UR.B3 UR5, UPR, UR4, 0xff; UISETP.EQ.AND UP0, UPT, UR4, URZ, UPT; UR2UP UPR, UR5.B3;"
        "USEL UR6, UR4, URZ, UP0; UIADD3 UR5, UR5, UR6, URZ; MOV R3, UR5"
    )
    assert left(code, tmp_path) == [0x01000006] * 64


def test_bpt_names_the_first_thread(tmp_path: Path) -> None:
    code = "ISETP.LT.U32.AND P0, PT, R0, 0x28, PT; @!P0 BPT.TRAP 0x1"
    with pytest.raises(
        WarpregError, match=r"thread \(40,0,0\), instruction '.*BPT\.TRAP.*k\.sass:\d+: the kernel gave"
    ):
        left(code, tmp_path)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("JMP 0x9990", r"k\.sass:\d+: k\+0x40: branch to 0x9990, outside of the function"),
        ("BRA `(.L_5)", r"k\.sass:\d+: k\+0x40: no target '`\(\.L_5\)' in the function"),
        ("FXYZ R1; FXYZ R2; FXYW R3", r"k\.sass:7: FXYZ is no known machine.*k\+0x40\); 2 others of the function"),
        ("FADD R3, R3", r"k\.sass:7: k\+0x40: 'FADD R3, R3': too few operands"),
        ("F2F.F16 R3, R3", r"F2F\.F16 is no known machine instruction"),
    ],
)
def test_wrong_code_is_one_line(code: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(WarpregError, match=message) as caught:
        left(code, tmp_path)
    assert "\n" not in str(caught.value)
