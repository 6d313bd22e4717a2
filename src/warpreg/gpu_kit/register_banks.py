"""Register banks and the operand reuse cache, measured with patched machine code.

A kernel with many accumulators is assembled; then the registers, stall counts and reuse flags of its FFMA instructions
are replaced.  Fields of sm_80 and sm_90: destination bits 16 to 23, sources A 24 to 31, B 32 to 39, C 64 to 71, control
code from bit 105 on, reuse flags 122 to 125 (Mesa NAK ``sm70_encode.rs``; CuAssembler ``CuControlCode.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warpreg.gpu_kit.microbenchmarks import RESULTS

ACCUMULATORS = 40
COPIES = 80
HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"
FFMA_OPCODE = 0x223
INSTRUCTION = 16


@dataclass(frozen=True, slots=True)
class Case:
    """``operands``: for each of a period of instructions, positions of the registers A, B and C: their bank by parity
    and a number in it, as (bank, number); ``reuse``: flags by instruction, bit i is source i."""

    name: str
    operands: tuple[tuple[tuple[int, int], tuple[int, int], tuple[int, int]], ...]
    reuse: tuple[int, ...] = (0,)


CASES = (
    Case("all banks differ where they can", (((0, 0), (1, 0), (1, 1)), ((1, 2), (0, 1), (0, 2)))),
    Case("two of three in a bank", (((0, 0), (0, 1), (1, 0)),)),
    Case("three in the even bank", (((0, 0), (0, 1), (0, 2)),)),
    Case("three in the odd bank", (((1, 0), (1, 1), (1, 2)),)),
    Case("one register thrice", (((0, 0), (0, 0), (0, 0)),)),
    Case("three in a bank, A reused", (((0, 0), (0, 1), (0, 2)),), (1,)),
    Case("three in a bank, A and B reused", (((0, 0), (0, 1), (0, 2)),), (3,)),
    Case("three in a bank, all reused", (((0, 0), (0, 1), (0, 2)),), (7,)),
    Case("reuse in another position", (((0, 0), (1, 0), (0, 2)), ((0, 1), (0, 0), (0, 2))), (1, 0)),
    Case("even bank, then odd bank", (((0, 0), (0, 1), (0, 2)), ((1, 0), (1, 1), (1, 2)))),
)


def register_bank_ptx() -> str:
    """A loop of FFMA on `ACCUMULATORS` registers."""
    body = [f"fma.rn.f32 %a{i % ACCUMULATORS}, %a{i % ACCUMULATORS}, %b, %c;" for i in range(COPIES)]
    loads = [f"ld.global.f32 %a{i}, [%in+{4 * i}];" for i in range(ACCUMULATORS)]
    stores = [f"st.global.f32 [%to+{4 * i}], %a{i};" for i in range(ACCUMULATORS)]
    lines = "\n  ".join(
        [
            f".reg .f32 %a<{ACCUMULATORS}>, %b, %c; .reg .b64 %out, %in, %to, %start, %end, %at; .reg .b32 %n, %t;",
            ".reg .pred %p;",
            "ld.param.u64 %out, [out]; ld.param.u64 %in, [in]; ld.param.u32 %n, [n];",
            "ld.global.f32 %b, [%in+256]; ld.global.f32 %c, [%in+260];",
            *loads,
            "mov.u32 %t, %tid.x; bar.sync 0; mov.u64 %start, %clock64;",
            "L:",
            '.pragma "nounroll";',
            *body,
            "sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra L;",
            "mov.u64 %end, %clock64; mul.wide.u32 %at, %t, 16; add.u64 %at, %at, %out;",
            f"st.global.u64 [%at], %start; st.global.u64 [%at+8], %end; add.u64 %to, %out, {RESULTS};",
            *stores,
            "ret;",
        ]
    )
    return f"{HEADER}.visible .entry banks(.param .u64 out, .param .u64 in, .param .u32 n)\n{{\n  {lines}\n}}\n"


def patched(cubin: bytes, case: Case) -> bytes:
    """The machine code with the operands of a case in its loop of FFMA, which follow one another without stalls.

    Destinations are accumulators that no source of the case names, so that the results do not matter.
    """
    places = ffma_places(cubin)
    registers = sorted({_field(cubin, place, 16) for place in places})
    sources = {bank: [r for r in registers if r % 2 == bank][:4] for bank in (0, 1)}
    targets = [r for r in registers if r not in sources[0] + sources[1]]
    code = bytearray(cubin)
    for number, place in enumerate(places):
        wanted = case.operands[number % len(case.operands)]
        a, b, c = (sources[bank][index] for bank, index in wanted)
        reuse = case.reuse[number % len(case.reuse)]
        _patch(code, place, (targets[number % len(targets)], a, b, c), reuse)
    return bytes(code)


def ffma_places(cubin: bytes) -> list[int]:
    """File offsets of the run of `COPIES` FFMA with registers only, which is the body of the loop.

    Raises ValueError if there is none.
    """
    for first in range(0, len(cubin) - COPIES * INSTRUCTION, INSTRUCTION):
        if _is_ffma(cubin, first):
            places = [at for at in range(first, first + 2 * COPIES * INSTRUCTION, INSTRUCTION) if _is_ffma(cubin, at)]
            if len(places) == COPIES:
                return places
    raise ValueError("no run of FFMA")


def _is_ffma(cubin: bytes, at: int) -> bool:
    return int.from_bytes(cubin[at : at + 2], "little") & 0xFFF == FFMA_OPCODE


def _field(cubin: bytes, at: int, bit: int) -> int:
    return cubin[at + bit // 8]


def _patch(code: bytearray, at: int, registers: Sequence[int], reuse: int) -> None:
    """Destination, A, B and C; stall 1, no yield, no counters; reuse flags."""
    for byte, register in zip((2, 3, 4, 8), registers, strict=True):
        code[at + byte] = register
    upper = int.from_bytes(code[at + 8 : at + 16], "little")
    control = 1 | 1 << 4 | 7 << 5 | 7 << 8 | reuse << 17
    upper = upper & ~(0x1FFFFF << 41) | control << 41
    code[at + 8 : at + 16] = upper.to_bytes(8, "little")
