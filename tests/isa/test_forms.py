"""Every instruction form that ptxas accepts has a row; computing forms give equal results compiled and interpreted.

Families that are not implemented are rejected by name and place.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.isa.forms import (
    COUNT,
    FORMS,
    LATER,
    REFUSED,
    WIDTHS,
    Section,
    covering,
    declarations,
    instruction,
    results,
    sections,
    width,
)
from tests.opcodes.samples import F32_EDGES, integer_edges

from warpreg import ptx
from warpreg.codegen import CompileOptions
from warpreg.codegen.lower.normalize_legacy import legacy_normalizer
from warpreg.ir import opcodes
from warpreg.ir.errors import UnsupportedError
from warpreg.ir.instruction import Instruction
from warpreg.simt import Device

SECTIONS = {section.title: section for path in (FORMS, LATER) for section in sections(path)}
COMPUTING = [title for title in SECTIONS if title not in ("memory", "control")]
WITHOUT_ROW = re.compile(r"multimem|alloca|stack")
"""Those of the stack, which building rewrites, and those that are refused."""
THREADS, SLOT = 32, 16
"""Threads of a run, and bytes of a thread's place for a value."""


def text_of(section: Section, lines: list[str], parameters: str = "") -> str:
    head = f".version {section.version}\n.target {section.target}\n.address_size 64\n.entry k({parameters})\n{{\n"
    return head + "\n".join([*declarations(), *declarations(prefix="%d"), "L:", *lines, "ret;", "}"])


@pytest.mark.slow
@pytest.mark.parametrize("title", SECTIONS)
def test_every_form_has_a_row(title: str) -> None:
    section = SECTIONS[title]
    module = ptx.parse(text_of(section, [instruction(*form) for form in section.forms()]))
    normalize = legacy_normalizer(module) or (lambda instruction: instruction)
    missing = set()
    for statement in module.kernels[0].body or ():
        if isinstance(statement, Instruction):
            try:
                opcodes.lookup(normalize(statement))
            except UnsupportedError:
                missing.add(statement.full_opcode)
    assert {opcode for opcode in missing if not WITHOUT_ROW.match(opcode)} == set()


def loads() -> list[str]:
    """Fill every register: each with a row of the first buffer, predicates with bits of the thread's number."""
    lines = [
        "ld.param.u64 in, [x];",
        "ld.param.u64 out, [y];",
        "mov.u32 tid, %tid.x;",
        f"mad.wide.u32 in, tid, {SLOT}, in;",
        f"mad.wide.u32 out, tid, {SLOT}, out;",
    ]
    places = [(bits, number) for bits in WIDTHS for number in range(COUNT)]
    for row, (bits, number) in enumerate(places):
        lines.append(f"ld.global.b{bits} %r{bits}_{number}, [in+{row * THREADS * SLOT}];")
    for bit in range(4):
        lines += [f"and.b32 spare, tid, {1 << bit};", f"setp.ne.u32 %p{bit}, spare, 0;"]
    return lines


def stores(form: tuple[str, str], row: int) -> list[str]:
    """The form, and its results put where they can be seen."""
    lines, used = [instruction(*form, "%d")], dict.fromkeys((1, *WIDTHS), 0)
    for name in results(*form):
        bits = width(name)
        register, place = f"%d{bits}_{used[bits]}", f"[out+{row * THREADS * SLOT}]"
        if bits == 1:
            lines.append(f"selp.u32 spare, 1, 0, {register};")
        lines.append(f"st.global.b32 {place}, spare;" if bits == 1 else f"st.global.b{bits} {place}, {register};")
        used[bits] += 1
        row += 1
    return lines


def inputs() -> np.ndarray:
    """Edge values of 32 bits: integers in half of the words, single precision in the others."""
    source = np.random.default_rng(5)
    return source.choice(np.array([*integer_edges(32), *F32_EDGES], np.uint32), len(WIDTHS) * COUNT * THREADS * 4)


@pytest.mark.slow
@pytest.mark.parametrize("title", COMPUTING)
def test_computing_forms_run_the_same_compiled(title: str) -> None:
    section = SECTIONS[title]
    forms = [(opcode, operands) for group, operands in section.groups for opcode in covering(group)]
    lines, row = [".reg .u64 in, out;", ".reg .u32 tid, spare;", *loads()], 0
    for form in forms:
        lines += stores(form, row)
        row += len(results(*form))
    text = text_of(section, lines, ".param .u64 x, .param .u64 y")
    outcomes = []
    for options in (None, CompileOptions(schedule=False)):
        device = Device(text, options=options)
        out = device.zeros(row * THREADS * SLOT, np.uint8)
        device.launch("k", 1, THREADS, device.upload(inputs()), out)
        outcomes.append(out.download().reshape(row, THREADS * SLOT))
    differing = np.flatnonzero((outcomes[0] != outcomes[1]).any(axis=1))
    assert [forms[i] for i in differing if i < len(forms)] == []


@pytest.mark.parametrize("statement", [line for line in REFUSED.read_text().splitlines() if not line.startswith("#")])
def test_families_that_are_not_carried_out_are_one_clear_error(statement: str) -> None:
    text = text_of(SECTIONS["control"], [statement])
    line = text[: text.index(statement)].count("\n") + 1
    opcode = re.escape(statement.rstrip(";").split()[0])
    with pytest.raises(UnsupportedError, match=rf"^<ptx>:{line}:1: {opcode} is not supported"):
        Device(text).launch("k", 1, THREADS)
