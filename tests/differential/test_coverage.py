"""Random programs and the matrix of all instructions reach every form of the opcodes that the reference knows."""

from __future__ import annotations

import re

from tests.reference.generator import generate
from tests.reference.matrix import build, every_instruction

from warpreg.ir.opcodes import OPCODES

PROGRAMS = 500
OPCODE_NAMES = frozenset(
    "abs activemask add addc and atom bar barrier bfe bfi bfind bmsk bra brev brx call clz cnot copysign "
    "cos cvt cvta div dp4a ex2 exit fence fma isspacep ld ldu lg2 lop3 mad mad24 madc max membar min mov "
    "mul mul24 nanosleep neg not or pmevent popc prefetch prefetchu prmt rcp red rem ret rsqrt sad selp "
    "set setp shf shfl shl shr sin slct sqrt st sub subc tanh testp vote xor".split()
)
OUTSIDE = re.compile(
    r"f16|tf32|x[24]|relu|lop3\.\(|proxy|mbarrier|cache_hint|cvt\.pack|cluster|tensormap|L2::|(shfl|vote)\.\(|vote\.ballot"
)
"""Rows beyond integers of 8 to 64 bits, f32 and f64; and forms without ``.sync``, which PTX has withdrawn."""
INSTRUCTION = re.compile(r"^\s*(?:@!?%\w+ )?([a-z][\w.:]*)", re.M)


def test_every_row_is_reached():
    texts = [build(every_instruction(), 32, 0).text, *(generate(seed).text for seed in range(PROGRAMS))]
    used = {opcode for text in texts for opcode in INSTRUCTION.findall(text)}
    rows = [row for row in OPCODES if row.name in OPCODE_NAMES and not OUTSIDE.search(row.syntax)]
    assert len(rows) > 150
    assert [row.syntax for row in rows if not any(row.pattern.fullmatch(opcode) for opcode in used)] == []
