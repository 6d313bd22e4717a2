"""Conversions from and to narrow formats equal the reference, bit for bit, on edge and random values."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.isa.forms import FORMS, LATER, covering, sections
from tests.opcodes.bench import LANES, Case, check
from tests.opcodes.samples import F32_EDGES, integer_edges
from tests.reference.instruction import Pure
from tests.reference.narrow import FORMATS, narrow
from tests.reference.number import F32

LINES = [
    (group, op) for path in (FORMS, LATER) for s in sections(path) for group, _ in s.groups for op in covering(group)
]
OPCODES = sorted({opcode for _, opcode in LINES if opcode.startswith("cvt.") and narrow(tuple(opcode.split(".")[1:]))})


def pure(opcode: str) -> Pure:
    found = narrow(tuple(opcode.split(".")[1:]))
    assert found
    return found


def near_the_grid(opcode: str, source: random.Random) -> int:
    """Single precision: a number of the result's format, the middle to the next, or one beside these."""
    name = next((m.removesuffix("x2") for m in opcode.split(".") if m.removesuffix("x2") in FORMATS), "")
    f = FORMATS.get(name) or FORMATS.get(next((m[:4] for m in opcode.split(".") if m[:4] in FORMATS), "bf16"))
    assert f
    at = source.randrange(f.largest + 1)
    middle = (f.magnitudes[at] + f.magnitudes[at + 1] * source.choice((0, 1))) / source.choice((1, 2))
    number, exponent = middle.numerator, -middle.denominator.bit_length() + 1
    pattern = F32.round(F32.exact(0)._replace(number=number, exponent=exponent), "rn")
    return (pattern + source.choice((-1, 0, 0, 1))) % (1 << 31) | source.getrandbits(1) << 31


def draw(opcode: str, kind: str, source: random.Random) -> int:
    bits = int(kind[1:])
    if kind == "f32" and source.random() < 0.6:
        return near_the_grid(opcode, source)
    edges = F32_EDGES if kind == "f32" else integer_edges(bits)
    return source.choice(edges) if source.random() < 0.4 else source.getrandbits(bits)


def case(opcode: str, columns: Sequence[Sequence[int]]) -> tuple[Case, object]:
    return Case(opcode, columns), pure(opcode).function


def test_all_narrow_conversions_are_there() -> None:
    assert len(OPCODES) > 50


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_edges(part: int) -> None:
    source, cases = random.Random(part), []
    for opcode in OPCODES[part::4]:
        for _ in range(4):
            columns = [[draw(opcode, kind, source) for _ in range(LANES)] for kind in pure(opcode).sources]
            cases.append(case(opcode, columns))
    check(cases)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(st.data())
def test_any_patterns(data: st.DataObject) -> None:
    opcode = data.draw(st.sampled_from(OPCODES))
    kinds = [int(kind[1:]) for kind in pure(opcode).sources]
    patterns = [st.lists(st.integers(0, (1 << bits) - 1), min_size=LANES, max_size=LANES) for bits in kinds]
    check([case(opcode, data.draw(st.tuples(*patterns)))])
