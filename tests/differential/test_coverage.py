"""Random programs reach every opcode of the table, and every row of those with effects on memory, control or
threads.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.differential.elsewhere import NO_RESULT, ROWS_TESTED_IN, TESTED_IN, is_elsewhere
from tests.reference.generator import generate
from tests.reference.vocabulary import APPROXIMATE, FAMILIES, VIDEO

from warpreg.ir.opcodes import OPCODES

PROGRAMS = 500
INSTRUCTION = re.compile(r"^\s*(?:@!?%\w+ )?([a-z][\w.:]*)", re.M)


@pytest.mark.slow
def test_every_opcode_is_used() -> None:
    used = {text for seed in range(PROGRAMS) for text in INSTRUCTION.findall(generate(seed).text)}
    names = {row.name for row in OPCODES} - set(NO_RESULT) - set(TESTED_IN)
    assert names - {text.split(".")[0] for text in used} == set(), (
        "give these to the generator of tests/reference, or name their own test in elsewhere.py"
    )
    rows = [row for row in OPCODES if row.meaning is None and not is_elsewhere(row)]
    missing = [row.syntax for row in rows if not any(row.pattern.fullmatch(opcode) for opcode in used)]
    assert missing == [], "give them to the generator"
    unknown = [text for text in used if not any(row.pattern.fullmatch(text) for row in OPCODES)]
    assert unknown == [], "programs use what the table does not have"


def test_the_vocabulary_is_in_the_table() -> None:
    texts = [text for family in FAMILIES.values() for text in family] + VIDEO + APPROXIMATE
    assert [text for text in texts if not any(row.pattern.fullmatch(text) for row in OPCODES)] == []


def test_what_is_tested_elsewhere_is() -> None:
    root = Path(__file__).parents[2]
    assert [place for place in {*TESTED_IN.values(), *ROWS_TESTED_IN.values()} if not (root / place).exists()] == []
