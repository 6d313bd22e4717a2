"""Modifiers in every order that ptxas accepts have the meaning of the manual's order, here and in the reference."""

from __future__ import annotations

import random
import re

import pytest
from tests.differential.forms import drawn
from tests.isa.forms import ORDERS, Section, instruction, operand_types, sections
from tests.isa.test_forms import text_of
from tests.isa.test_meaning import draw
from tests.reference.pure import lookup

from warpreg import ptx
from warpreg.codegen.lower.normalize_legacy import legacy_normalizer
from warpreg.ir import opcodes
from warpreg.ir.instruction import Instruction
from warpreg.ir.opcodes.order import arranged

ASKED = sections(ORDERS)
DRAWS = 20


def lines(section: Section) -> list[tuple[str, str, str]]:
    """Form, operands, and the opcode with its modifiers in another order."""
    split = ((form, *rest.rsplit(" ", 1)) for form, rest in section.groups)
    return [(form, operands.strip(" :"), other) for form, operands, other in split]


def parsed(section: Section, statements: list[str]) -> list[Instruction]:
    module = ptx.parse(text_of(section, statements))
    normalize = legacy_normalizer(module) or (lambda instruction: instruction)
    return [normalize(s) for s in module.kernels[0].body or () if isinstance(s, Instruction)][:-1]


@pytest.mark.slow
@pytest.mark.parametrize("section", ASKED, ids=lambda section: section.title)
def test_an_instruction_is_read_into_the_order_of_its_row(section: Section) -> None:
    asked = [line for line in lines(section) if opcodes.is_known(line[0].split(".")[0])]
    plain = parsed(section, [instruction(form, operands) for form, operands, _ in asked])
    mixed = parsed(section, [instruction(form, operands).replace(form, other, 1) for form, operands, other in asked])
    pairs = zip(plain, mixed, strict=True)
    assert [(str(a), str(b)) for a, b in pairs if _row(a) != _row(b) or a.operands != b.operands] == []


def _row(instruction: Instruction) -> tuple[str, list[str]]:
    """The first row that allows the order found, and the words: two words may have two orders within a row."""
    texts = (row.syntax for row in opcodes.OPCODES if row.pattern.fullmatch(instruction.full_opcode))
    return next(texts, instruction.full_opcode), sorted(instruction.modifiers)


@pytest.mark.slow
@pytest.mark.parametrize("section", ASKED, ids=lambda section: section.title)
def test_the_reference_takes_them_in_any_order(section: Section) -> None:
    source = random.Random(section.title)
    for form, operands, other in lines(section):
        (name, *plain), (_, *mixed) = form.split("."), other.split(".")
        words = [w for word in operand_types(form, operands)[1:] for w in re.split(r"[{},|]", word) if w]
        one, two = lookup(name, tuple(plain), len(words)), lookup(name, tuple(mixed), len(words))
        assert (one is None) == (two is None), other
        if one is None or two is None:
            continue
        assert one._replace(function=abs) == two._replace(function=abs), other
        for _ in range(DRAWS):
            values = [int(w) if w.isdigit() else draw(w, source) for w in words] + [0] * one.carry
            assert one.function(*values) == two.function(*values), other


@pytest.mark.parametrize(
    "text",
    [
        "div.ftz.rn.f32", "setp.ftz.lt.f32", "cvt.sat.rn.f32.u32", "ld.global.volatile.u32", "atom.add.acq_rel.cta.u64",
        "ldmatrix.sync.aligned.x1.trans.m8n8.shared.b16", "atom.exch.relaxed.gpu.b32", "red.add.release.gpu.u32",
        "atom.global.v2.f32.add", "atom.cas.b128", "wmma.load.a.sync.aligned.shared.row.m16n16k16.f16",
        "mma.m16n8k16.sync.row.aligned.col.f32.f16.f16.f32", "barrier.aligned.sync", "tex.v4.2d.f32.s32",
    ],
)  # fmt: skip
def test_orders_that_compilers_write(text: str) -> None:
    name, *modifiers = text.split(".")
    found = opcodes.canonical(name, tuple(modifiers))
    assert sorted(found) == sorted(modifiers)
    assert any(row.pattern.fullmatch(".".join((name, *found))) for row in opcodes.OPCODES)


@pytest.mark.parametrize(
    "text",
    [
        "mul.u32.lo", "mad.cc.hi.u32", "shf.wrap.l.b32", "cvta.global.to.u64", "cvt.u32.rn.f32", "bar.popc.red.u32",
        "mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32", "cp.cg.async.shared.global", "fence.async.proxy",
        "add.u32.sat.sat", "wmma.a.load.sync.aligned.row.m16n16k16.shared.f16", "cvt.f32.u32.f32",
    ],
)  # fmt: skip
def test_orders_that_ptxas_refuses_stay_as_they_are(text: str) -> None:
    name, *modifiers = text.split(".")
    assert opcodes.canonical(name, tuple(modifiers)) == tuple(modifiers)


@pytest.mark.slow
@pytest.mark.parametrize("row", opcodes.OPCODES, ids=lambda row: row.syntax[:40])
def test_what_a_row_takes_is_in_its_order(row: opcodes.Opcode) -> None:
    for seed in range(3):
        name, *modifiers = drawn(row.syntax, random.Random(seed)).split(".")
        assert opcodes.canonical(name, tuple(modifiers)) == tuple(modifiers)
        mixed = random.Random(seed).sample(modifiers, len(modifiers))
        found = arranged(name, row.syntax, tuple(mixed))
        assert found is None or row.pattern.fullmatch(".".join((name, *found)))
