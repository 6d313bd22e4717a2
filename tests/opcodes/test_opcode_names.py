"""What opcodes do is asked of the table (`warpreg.ir.opcodes`), not of names.

Groups of names that remain outside the table belong to one module: it writes or reads exactly these opcodes, rewrites a
pattern of them, or knows a rule of ``ptxas`` for them.  These tests count what remains, so a new group needs a
decision: a trait in the rows, or a larger number here with its reason.
"""

from __future__ import annotations

import ast
import functools
from collections import Counter
from pathlib import Path

import pytest

from warpreg.ir.opcodes import table
from warpreg.sass.isa import opcodes as sass

ROOT = Path(__file__).parents[2]
SOURCES = (ROOT / "src" / "warpreg", *sorted((ROOT / "packages").glob("*/src")))
TABLE = ROOT / "src" / "warpreg" / "ir" / "opcodes"
NAMES = {row.name for row in (*table.OPCODES, *table.MACHINE_OPCODES)} | sass.table().keys()

TRANSLATE = {"mnemonics": 9, "own_code": 3, "normalize_legacy": 3, "services": 3, "example_arguments": 1}
"""From one notation to another: what an instruction is called in an exported trace, in a table of latencies, in PTX of
old versions, in C; the sums that bring an address on; and calls of the host in machine code."""
EXECUTE = {
    "machine_instructions": 1,
    "machine_surface": 2,
    "texture_instructions": 2,
    "constants": 2,
    "float": 1,
    "select_workaround": 1,
}
"""Emitters by opcode; instructions of LLVM and operations of atomics have the same names."""
REWRITE = {
    "fold_constants": 3, "form_lop3": 2, "fuse_tests": 1, "narrow_addresses": 1, "expand": 2, "divide_by_constant": 1,
    "copy_propagation": 1, "counter_values": 1, "if_conversion": 1, "rematerialize": 1,
}  # fmt: skip
"""Patterns of instructions that a pass turns into others, and what it counts as cheap or free."""
GUESS = {"lane_strides": 1}
"""How far apart the lanes of sums and products are: a guess that may be wrong."""
RULES_OF_PTXAS = {"shape": 3}
"""What the unroller of ``ptxas`` counts."""
READ_LISTINGS = {
    "evidence": 3,
    "instruction_placement": 4,
    "loop_copies": 2,
    "widths": 3,
    "matrices": 1,
    "textures": 1,
    "page": 1,
}
"""Text of the vendor's listings and traces: operand widths, matrices, surfaces, and comparison with our code."""
WRITE = {"stream": 3, "microbenchmarks": 1}
"""Programs that are written here."""
OTHER_WORDS = {"memory_access": 2, "product": 1, "contradiction": 1, "frames": 1, "published": 1}
"""Operations of atomics and matrices, and statistics."""

GROUPS = Counter(TRANSLATE | EXECUTE | REWRITE | GUESS | RULES_OF_PTXAS | READ_LISTINGS | WRITE | OTHER_WORDS)
"""Groups of names by module, at most."""

COMPARISONS = 146
"""Comparisons of an instruction's opcode with a name or a group of names, at most."""


def words(node: ast.AST) -> list[str]:
    """The strings in a literal tuple, list, set, or text that is split, and the keys of a literal dictionary."""
    elements: list[ast.expr | None] = []
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        elements = [*node.elts]
    elif isinstance(node, ast.Dict):
        elements = [*node.keys]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "split":
        text = node.func.value
        return text.value.split() if isinstance(text, ast.Constant) and isinstance(text.value, str) else []
    return [one.value for one in elements if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def is_group(node: ast.AST) -> bool:
    """Whether a literal names at least two opcodes, and mostly opcodes."""
    found = words(node)
    named = sum(word in NAMES for word in found)
    return named >= 2 and 2 * named > len(found)


def is_comparison(node: ast.AST) -> bool:
    sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
    return any(isinstance(side, ast.Attribute) and side.attr == "opcode" for side in sides)


@functools.cache
def remaining() -> tuple[Counter[str], int]:
    """Groups of names by module outside the table, and the number of comparisons there."""
    groups, comparisons = Counter[str](), 0
    for path in (path for folder in SOURCES for path in folder.rglob("*.py") if TABLE not in path.parents):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            groups[path.stem] += is_group(node)
            comparisons += is_comparison(node)
    return groups, comparisons


def test_a_group_is_found_in_any_notation() -> None:
    texts = ('{"ld", "st"}', '("ld", "st", "x")', '"ld st".split()', '{"ld": 1, "st": 2}', '["BRA", "CAL"]')
    assert all(any(map(is_group, ast.walk(ast.parse(text)))) for text in texts)
    others = ('{"ld"}', '("ld", "x", "y")', '("ld", "st", "x", "y")', '"ld st"')
    assert not any(any(map(is_group, ast.walk(ast.parse(text)))) for text in others)
    assert is_comparison(ast.parse('one.opcode in ("ld", "st")', mode="eval").body)


@pytest.mark.slow
def test_no_other_groups_of_opcode_names_stand_outside_the_table() -> None:
    assert remaining()[0] - GROUPS == Counter()


@pytest.mark.slow
def test_comparisons_with_opcode_names_do_not_grow() -> None:
    assert remaining()[1] <= COMPARISONS
