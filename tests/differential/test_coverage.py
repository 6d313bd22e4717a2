"""Random programs, and the matrix of all instructions, reach every row of the semantics table but those named here."""

from __future__ import annotations

import re

from tests.reference.generator import generate
from tests.reference.matrix import build, every_instruction

from warpreg.ir.opcodes import OPCODES

PROGRAMS = 300
EXCEPT = ("trap", "brkpt", "shfl.(", "vote.(", "vote.ballot")
"""Faults, and forms without ``.sync``, which PTX has withdrawn."""
INSTRUCTION = re.compile(r"^\s*(?:@!?%\w+ )?([a-z][\w.:]*)", re.M)


def test_every_row_is_reached():
    texts = [build(every_instruction(), 32, 0).text, *(generate(seed).text for seed in range(PROGRAMS))]
    used = {opcode for text in texts for opcode in INSTRUCTION.findall(text)}
    expected = [row for row in OPCODES if not row.syntax.startswith(EXCEPT)]
    assert [row.syntax for row in expected if not any(row.pattern.fullmatch(opcode) for opcode in used)] == []
