"""Instructions and control flow of the interpreter, with results worked out by hand."""

from __future__ import annotations

import pytest
from tests.machine_code.reference import text
from tests.machine_code.reference.interpreter import STEPS, Interpreter
from tests.machine_code.reference.operands import operand
from tests.machine_code.reference.state import Block, Bytes, Lane, Launch, Warp
from tests.machine_code.reference.text import UnknownCode
from tests.reference.memory import ReferenceFault

ONE, HALF = 0x3F800000, 0x3F000000


def launch_of(threads: int = 32, memory: int = 512) -> Launch:
    bank = bytes(0x28) + (1 << 14).to_bytes(4, "little") + bytes(0x200)
    return Launch((1, 1, 1), (threads, 1, 1), Bytes("global memory", 0, bytearray(memory)), {0: bank}, 256)


def lane_of(**registers: int) -> Lane:
    """A lane with registers ``r1=...`` and predicates ``p1=...``."""
    launch = launch_of()
    lane = Lane(Warp(Block(launch, (0, 0, 0), Bytes("shared", 0, bytearray(256)))), 3, (3, 0, 0))
    for name, value in registers.items():
        if name[0] == "r":
            lane.r[int(name[1:])] = value
        else:
            lane.p[int(name[1:])] = bool(value)
    return lane


def after(code: str, **registers: int) -> Lane:
    """A lane after an instruction."""
    lane = lane_of(**registers)
    i = text.instruction(0, code)
    STEPS[i.opcode](i)(lane)
    return lane


TOP = 0xFFFFFFFF


@pytest.mark.parametrize(
    ("code", "registers", "expected"),
    [
        ("IADD3 R0, -R1, 0x7, R2", {"r1": 3, "r2": 1}, 5),
        ("IADD3.X R0, R1, ~R2, RZ, P1, !PT", {"r1": 5, "r2": 2, "p1": 1}, 3),
        ("IMAD.HI.U32 R0, R1, R2, R4", {"r1": 1 << 31, "r2": 6, "r5": 10}, 13),  # 3 + the pair's upper word
        ("IMAD.HI R0, R1, 0x2, RZ", {"r1": TOP}, TOP),  # -2 >> 32
        ("LEA R0, R1, R2, 0x3", {"r1": 5, "r2": 1}, 41),
        ("LEA.HI R0, R1, R2, RZ, 0x1", {"r1": 1 << 31, "r2": 7}, 8),
        ("LEA.HI.SX32 R0, R1, R2, 0x1f", {"r1": TOP - 3, "r2": 7}, 5),  # -4 << 31 >> 32 = -2
        ("LEA.HI.X.SX32 R0, R1, RZ, 0x1, P1", {"r1": TOP, "p1": 1}, 0),  # -1 and the carry
        ("SHF.L.W.U32.HI R0, R1, 0x8, R1", {"r1": 0x12345678}, 0x34567812),
        ("SHF.R.S32.HI R0, RZ, 0x28, R1", {"r1": 1 << 31}, TOP),
        ("SHF.R.U64 R0, R1, 0x8, R2", {"r1": 0x100, "r2": 0xAB}, 0xAB000001),
        ("SHF.L.U64.HI R0, R1, 0x4, R2", {"r1": 0xF0000000, "r2": 1}, 0x1F),
        ("SHF.L.U32 R0, R1, R2, RZ", {"r1": 1, "r2": 32}, 0),
        ("PRMT R0, R1, 0x9910, RZ", {"r1": 0x8000}, 0xFFFF8000),
        ("PRMT R0, R1, 0x5140, R2", {"r1": 0x1122, "r2": 0x3344}, 0x33114422),
        ("PRMT.RC8 R0, R1, 0x2, RZ", {"r1": 0x00AB0000}, 0xABABABAB),
        ("LOP3.LUT R0, R1, R2, RZ, 0x3c, !PT", {"r1": 12, "r2": 10}, 6),
        ("LOP3.LUT R0, R1, R2, R3, 0xe8, !PT", {"r1": 12, "r2": 10, "r3": 7}, 14),  # majority
        ("P2R R0, PR, RZ, 0x6", {"p0": 1, "p1": 1, "p2": 0}, 2),
        ("P2R.B2 R0, PR, R1, 0x3", {"p0": 0, "p1": 1, "r1": 0xFFFFFFFF}, 0xFFFEFFFF),
        ("FLO.U32 R0, R1", {"r1": 0x50}, 6),
        ("FLO.SH R0, R1", {"r1": 0xFFFFFF00}, 24),
        ("BMSK R0, R1, 0x8", {"r1": 4}, 0xFF0),
        ("SGXT R0, R1, 0x4", {"r1": 0x18}, 0xFFFFFFF8),
        ("IDP.2A.LO.S16.U8 R0, R1, R2, R3", {"r1": 0x0002FFFF, "r2": 0x0503, "r3": 1}, 8),  # -3 + 10 + 1
        ("VABSDIFF.U32 R0, R1, R2, R3", {"r1": 3, "r2": 8, "r3": 1}, 6),
        ("VIADDMNMX R0, R1, -R2, RZ, !PT", {"r1": 3, "r2": 8}, 0),
        ("I2I.S8.S32.SAT R0, R1", {"r1": 1000}, 127),
        ("FFMA.SAT R0, R1, R1, -R1", {"r1": HALF}, 0),
        ("FMUL.FTZ R0, R1, 1", {"r1": 0x807FFFFF}, 0x80000000),
        ("FADD.RP R0, R1, 9.9999996826552253889e-21", {"r1": ONE}, ONE + 1),
        ("FMNMX R0, R1, R2, PT", {"r1": ONE, "r2": 0x7FC00000}, ONE),
        ("FSET.BF.LTU.AND R0, R1, R2, PT", {"r1": 0x7FC00000}, ONE),
        ("F2I.U32.TRUNC.NTZ R0, R1", {"r1": 0xBF800000}, 0),
        ("F2I.NTZ R0, R1", {"r1": 0x40200000}, 2),  # 2.5 to even
        ("F2I.F64.TRUNC R0, R2", {"r3": 0x7FF80000}, 1 << 31),
        ("I2F.U8 R0, R1.B2", {"r1": 0x00FF0000}, 0x437F0000),
        ("I2F.RP R0, R1", {"r1": (1 << 24) + 1}, 0x4B800001),
        ("FRND.FLOOR R0, R1", {"r1": 0xBF000000}, 0xBF800000),
        ("HFMA2.MMA R0, -RZ, RZ, 0, 5.9604644775390625e-08", {}, 1),
        ("HADD2.F32 R0, -RZ, R1.H1_H1", {"r1": 0x3C000000}, ONE),
        ("F2FP.BF16.F32.PACK_AB R0, R1, R2", {"r1": ONE, "r2": HALF}, 0x3F803F00),
    ],
)
def test_word(code: str, registers: dict[str, int], expected: int) -> None:
    assert after(code, **registers).r[0] == expected


@pytest.mark.parametrize(
    ("code", "registers", "expected"),
    [
        ("IADD3 R0, P0, R1, -R2, RZ", {"r1": 5, "r2": 5}, (True, False)),  # no borrow
        ("IADD3 R0, P0, P1, R1, R1, R1", {"r1": TOP}, (True, True)),  # carry 2
        ("LEA R0, P0, R1, R2, 0x1", {"r1": 0x7FFFFFFF, "r2": 2}, (True, False)),
        ("ISETP.GT.AND.EX P0, P1, R1, R2, PT, P2", {"r1": 1, "r2": 1, "p2": 1}, (True, False)),
        ("ISETP.NE.AND.EX P0, PT, R1, RZ, PT, P2", {"p2": 0}, (False, False)),
        ("FSETP.GEU.XOR P0, P1, |R1|, 1, P2", {"r1": 0xBF800000, "p2": 1}, (False, True)),
        ("PLOP3.LUT P0, P1, P2, !P3, PT, 0x80, 0x7f", {"p2": 1, "p3": 0}, (True, False)),
        ("LOP3.LUT P0, RZ, R1, 0x8, RZ, 0xc0, !PT", {"r1": 12}, (True, False)),
        ("R2P PR, R1, 0x3", {"r1": 2, "p0": 1}, (False, True)),
        ("HSETP2.LT.AND P0, P1, R1, R2, PT", {"r1": 0x3C003C00, "r2": 0x3C004000}, (True, False)),
    ],
)
def test_predicates(code: str, registers: dict[str, int], expected: tuple[bool, bool]) -> None:
    assert tuple(after(code, **registers).p[:2]) == expected


def test_pairs() -> None:
    """-1 * 3 + 2^32; 1.5 * 2 + 1 in double precision."""
    product = after("IMAD.WIDE R0, R2, 0x3, R4", r2=TOP, r5=1)
    assert product.r[:2] == [0xFFFFFFFD, 0]
    fused = after("DFMA R0, R2, 2, R4", r3=0x3FF80000, r5=0x3FF00000)
    assert fused.r[:2] == [0, 0x40100000]


def test_memory() -> None:
    """A signed byte; an address with a scale; an atomic minimum of signed numbers."""
    lane = lane_of(r1=2, r2=8, r7=0xFFFFFF80)
    memory = lane.warp.block
    for code in ("STS.U8 [R1.X4+0x3], R7", "LDS.S8 R0, [R1.X4+0x3]"):
        i = text.instruction(0, code)
        STEPS[i.opcode](i)(lane)
    assert (memory.shared.data[11], lane.r[0]) == (0x80, 0xFFFFFF80)
    i = text.instruction(0, "ATOMG.E.MIN.S32.STRONG.GPU PT, R0, desc[UR4][R2.64+0x4], R7")
    STEPS[i.opcode](i)(lane)
    assert (lane.r[0], memory.launch.memory.load(12, 4)) == (0, 0xFFFFFF80)


@pytest.mark.parametrize("code", ["FADD.XYZ R0, R1, R2", "QMMA R0, R1, R2", "VIMNMX.U64 R0, R1, R2, PT"])
def test_unknown_code(code: str) -> None:
    with pytest.raises(UnknownCode, match=code.split()[0].split(".")[0]):
        ran(f"{code}\nEXIT")


def ran(code: str, threads: int = 32, seed: int = 0) -> list[int]:
    """What each thread stores: lines of code in order, ``NAME:`` for labels."""
    lines, address = ["\t.section\t.text.f"], 0
    for line in filter(None, map(str.strip, code.splitlines())):
        if line.endswith(":"):
            lines.append(line)
        else:
            lines.append(f"        /*{address:04x}*/   {line} ;")
            address += 16
    launch = launch_of(threads, 4 * threads)
    Interpreter(text.read("\n".join(lines))["f"], lambda name, patterns: patterns, seed).run(launch)
    return [launch.memory.load(4 * n, 4) for n in range(threads)]


START = "S2R R0, SR_TID.X\nIMAD.SHL.U32 R2, R0, 0x4, RZ\nIMAD.MOV.U32 R3, RZ, RZ, RZ\n"
END = "\nSTG.E [R2.64], R4\nEXIT"


@pytest.mark.parametrize("seed", range(4))
def test_lanes_meet_where_the_code_says(seed: int) -> None:
    """A vote after the ``BSYNC`` sees all lanes that did not leave; one before it those of the branch."""
    code = """
        BSSY B0, `(MET)
        ISETP.GE.U32.AND P0, PT, R0, 0x10, PT
        @P0 BRA `(OTHER)
        VOTE.ANY R5, PT, PT
        LOP3.LUT P1, RZ, R0, 0xc, RZ, 0xc0, !PT
        @!P1 BREAK B0
        @!P1 BRA `(AWAY)
        OTHER:
        BSYNC B0
        MET:
        VOTE.ANY R4, PT, PT
    """
    found = ran(START + code + END + "\nAWAY:\nMOV R4, R5" + END, seed=seed)
    assert found == [0xFFFF] * 4 + [0xFFFFFFF0] * 28


@pytest.mark.parametrize("seed", range(4))
def test_groups_of_lanes_gather_by_mask(seed: int) -> None:
    """Odd and even lanes part, and gather in halves of the warp."""
    code = """
        LOP3.LUT P0, RZ, R0, 0x1, RZ, 0xc0, !PT
        MOV R6, 0xffff
        ISETP.GE.U32.AND P1, PT, R0, 0x10, PT
        SEL R6, R6, 0xffff0000, !P1
        @P0 BRA `(ODD)
        NOP
        ODD:
        WARPSYNC R6
        VOTE.ANY R4, PT, PT
    """
    assert ran(START + code + END, seed=seed) == [0xFFFF] * 16 + [0xFFFF0000] * 16


@pytest.mark.parametrize("seed", range(4))
def test_lanes_at_a_warpsync_are_not_waited_for(seed: int) -> None:
    """Odd lanes leave for the ``WARPSYNC`` without a ``BREAK``; even ones pass their barrier, and then all meet."""
    code = """
        LOP3.LUT P0, RZ, R0, 0x1, RZ, 0xc0, !PT
        BSSY B0, `(MET)
        @P0 BRA `(AWAY)
        BSYNC B0
        MET:
        VOTE.ANY R5, PT, PT
        AWAY:
        WARPSYNC 0xffffffff
        VOTE.ANY R4, PT, PT
        IADD3 R4, R4, R5, RZ
    """
    assert ran(START + code + END, seed=seed) == [0x55555554, 0xFFFFFFFF] * 16


def test_a_shuffle_stays_in_its_segment() -> None:
    """Clamp 0x1f, segments of eight: ``mask`` 0x18 in the upper byte; up: clamp 0."""
    down = ran(START + "SHFL.DOWN P0, R4, R0, 0x1, 0x181f" + END)
    assert down == [n if n % 8 == 7 else n + 1 for n in range(32)]
    up = ran(START + "SHFL.UP P0, R4, R0, 0x2, RZ" + END)
    assert up == [n if n < 2 else n - 2 for n in range(32)]


def test_a_subroutine_returns_to_the_address_in_a_register() -> None:
    code = """
        MOV R6, 0x60
        MOV R7, 0x0
        CALL.REL.NOINC `(SUB)
        STG.E [R2.64], R4
        EXIT
        SUB:
        IADD3 R4, R0, 0x5, RZ
        RET.REL.NODEC R6 `(f)
    """
    assert ran(START + code, 4) == [5, 6, 7, 8]


def test_a_jump_by_register() -> None:
    """To 0x80 or 0xa0: relative to the instruction behind the jump at 0x60."""
    code = """
        LOP3.LUT R5, R0, 0x1, RZ, 0xc0, !PT
        IMAD R6, R5, 0x20, RZ
        MOV R7, RZ
        BRX R6 0x10
        NOP
        MOV R4, 0x1
        BRA `(E)
        MOV R4, 0x2
        E:
    """
    assert ran(START + code + END, 4) == [1, 2, 1, 2]


def test_a_barrier_reduces_over_the_block() -> None:
    """Threads 0 to 9 of 64 vote; all get the count."""
    code = "ISETP.LT.U32.AND P0, PT, R0, 0xa, PT\nBAR.RED.POPC.DEFER_BLOCKING 0x0, P0\nB2R.RESULT R4"
    assert ran(START + code + END, 64) == [10] * 64


def test_results_of_two_barriers_come_in_their_order() -> None:
    code = """
        ISETP.LT.U32.AND P0, PT, R0, 0xa, PT
        BAR.RED.POPC.DEFER_BLOCKING 0x0, P0
        BAR.RED.POPC.DEFER_BLOCKING 0x0, !P0
        B2R.RESULT R4
        B2R.RESULT R5
        IMAD R4, R5, 0x100, R4
    """
    assert ran(START + code + END, 64) == [54 * 256 + 10] * 64


def test_a_warp_that_has_exited_has_arrived_before() -> None:
    """Warp 1 arrives and exits while warp 0 counts to 1000."""
    code = """
        ISETP.GE.U32.AND P0, PT, R0, 0x20, PT
        @P0 BAR.ARV 0x1, 0x40
        @P0 EXIT
        MOV R4, RZ
        L:
        IADD3 R4, R4, 0x1, RZ
        ISETP.LT.U32.AND P1, PT, R4, 0x3e8, PT
        @P1 BRA `(L)
        BAR.SYNC 0x1, 0x40
    """
    assert ran(START + code + END, 64) == [1000] * 32 + [0] * 32


def test_threads_that_wait_for_ever_are_a_fault() -> None:
    with pytest.raises(ReferenceFault, match="every thread waits"):
        ran("BSSY B0, `(E)\nS2R R0, SR_TID.X\nISETP.EQ.AND P0, PT, R0, RZ, PT\n@P0 BAR.SYNC 0x1\nBSYNC B0\nE:\nEXIT")


@pytest.mark.parametrize(
    ("written", "kind"),
    [("-|R3|.reuse", "register"), ("!UP2", "predicate"), ("c[0x3][R4+0x10]", "constant"), ("+INF", "number"),
     ("desc[UR4][R2.64+-0x8]", "address"), ("-0x1", "integer"), ("`(.L_x_3)", "name"), ("2D", "name")],
)  # fmt: skip
def test_operands_by_text(written: str, kind: str) -> None:
    assert operand(written).kind == kind
