"""Computing forms that ptxas accepts give the results of the reference interpreter on edge values."""

from __future__ import annotations

import random
import re

import pytest
from tests.isa.forms import FORMS, covering, operand_types, results, sections, width
from tests.opcodes.bench import LANES, Case, run
from tests.opcodes.exact16 import BF16, EDGES, F16
from tests.opcodes.samples import F32_EDGES, F64_EDGES, integer_edges
from tests.reference.instruction import Pure
from tests.reference.pure import lookup

from warpreg.ir.operands import Immediate

NUMBERS: dict[str, tuple[int, ...]] = {"f32": F32_EDGES, "f64": F64_EDGES, "f16": EDGES[F16], "bf16": EDGES[BF16]}
ELSEWHERE = frozenset("setp mov cvta mapa getctarank isspacep".split())
"""Opcodes that the reference carries out, or compares, in another way."""
COMPUTING = [s for s in sections(FORMS) if not re.match("memory|control|lanes|old", s.title)]


def draw(name: str, source: random.Random) -> int:
    """A pattern of a type: now and then any, else an edge of each element."""
    bits = width(name)
    if source.random() < 0.3:
        return source.getrandbits(bits)
    one = name.removesuffix("x2")
    if one not in NUMBERS:
        return source.choice(integer_edges(bits)) & (1 << bits) - 1 if bits > 1 else source.getrandbits(1)
    elements = [
        source.choice(NUMBERS[one]) | source.getrandbits(1) << width(one) - 1 for _ in range(bits // width(one))
    ]
    return sum(element << i * width(one) for i, element in enumerate(elements))


def cases(title: str) -> list[tuple[Case, Pure]]:
    source, found = random.Random(title), []
    section = next(s for s in COMPUTING if s.title == title)
    for group, operands in section.groups:
        for opcode in covering(group):
            name, *modifiers = opcode.split(".")
            if name in ELSEWHERE or {"approx", "full"} & set(modifiers):
                continue
            words = [w for word in operand_types(opcode, operands)[1:] for w in re.split(r"[{},|]", word) if w]
            pure = lookup(name, tuple(modifiers), len(words))
            assert pure, opcode
            columns = [Immediate(int(w)) if w.isdigit() else [draw(w, source) for _ in range(LANES)] for w in words]
            carry = [source.getrandbits(1) for _ in range(LANES)] if pure.carry else None
            found.append((Case(opcode, columns, results=len(results(opcode, operands)), carry=carry), pure))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("title", [s.title for s in COMPUTING])
def test_forms_equal_the_reference(title: str) -> None:
    found = cases(title)
    run([case for case, _ in found])
    for case, pure in found:
        mask = (1 << width(pure.result)) - 1
        for lane in range(LANES):
            given = [s.value if isinstance(s, Immediate) else s[lane] for s in case.sources]
            expected = pure.function(*given, *([case.carry[lane]] if case.carry is not None else []))
            first, *rest = expected if isinstance(expected, tuple) else (expected,)
            got = [case.outcome[0][lane] & mask, *(row[lane] for row in case.outcome[1:])]
            if pure.sets_carry:
                got.append(case.carry_out[lane])
            wanted = [first & mask, *rest][: len(got)]
            assert [*map(hex, got)] == [*map(hex, wanted)], f"{case.opcode} of {', '.join(map(hex, given))}"
