"""Adding an opcode that computes as in CONTRIBUTING: a row, its meaning in the reference, and a candidate line.

The compiler, the executor and the random programs derive the rest (`test_new_effect` adds opcodes with an effect).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pytest
from tests.codegen.texts import kernel, listing
from tests.differential.elsewhere import is_elsewhere
from tests.isa.forms import Section
from tests.reference import pure_integers, vocabulary
from tests.reference.instruction import Pure
from tests.reference.interpreter import Reference

from warpreg.codegen import CompileOptions
from warpreg.codegen.passes import fold_constants
from warpreg.codegen.pipeline import compile
from warpreg.ir import opcodes
from warpreg.ir.errors import UnsupportedError
from warpreg.ir.opcodes import OPCODES, Opcode, Unit, table
from warpreg.sass.export import mnemonics
from warpreg.simt import Device

ROW = Opcode("mean.u32", "T <- T T", lambda m, f, a, b: m.add(m.and_(a, b), m.lshr(m.xor(a, b), m.constant(32, 1))))
"""The mean of two numbers, rounded down."""
TEXT = """.version 8.0
.target sm_75
.address_size 64
.entry k(.param .u64 out) {
.reg .u64 %a; .reg .u32 %t, %x, %y, %z;
ld.param.u64 %a, [out];
mov.u32 %t, %tid.x;
mad.wide.u32 %a, %t, 4, %a;
mul.lo.u32 %x, %t, 0x9E3779B9;
mean.u32 %y, %x, 0xFFFFFFFF;
mean.u32 %z, %x, 0xFFFFFFFF;
add.u32 %y, %y, %z;
mean.u32 %x, %x, %y;
st.global.u32 [%a], %x;
ret;
}
"""


def _forget() -> None:
    for cached in (table._by_name, table._matching, table._resolved, table.traits_of):
        cached.cache_clear()


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The table has the row, and the reference an independent meaning."""
    monkeypatch.setattr(table, "OPCODES", (*OPCODES, ROW))
    mean = lambda types, rest, count: Pure(types[0], (types[0],) * 2, lambda a, b: (a + b) // 2)  # noqa: E731
    monkeypatch.setitem(pure_integers.BUILDERS, "mean", mean)
    _forget()
    yield
    monkeypatch.undo()
    _forget()


@pytest.mark.usefixtures("known")
def test_a_plain_opcode_runs_from_its_row_alone() -> None:
    reference = Reference(TEXT)
    wanted = reference.buffer(bytes(4 * 64))
    reference.launch("k", 1, 64, [wanted])
    for options in (None, CompileOptions(), CompileOptions(level="ptx")):
        device = Device(TEXT, options=options)
        out = device.zeros(64, np.uint32)
        device.launch("k", 1, 64, out)
        assert out.download().tobytes() == bytes(wanted.data)


@pytest.mark.usefixtures("known")
def test_the_compiler_treats_it_as_arithmetic() -> None:
    """Shared, removed where nothing reads it, with a constant in place of a register."""
    body = """ld.param.u32 %r1, [n]; mov.u32 %r9, %tid.x; mov.u32 %r2, 7; mean.u32 %r3, %r9, %r2;
    mean.u32 %r4, %r9, 7; mean.u32 %r5, %r9, %r1; add.u32 %r6, %r3, %r4; st.shared.u32 [0], %r6; ret;"""
    program = compile(kernel(body), CompileOptions(schedule=False))
    made = [line for line in listing(program).splitlines() if line.startswith("mean")]
    assert made == ["mean.u32 R0, R0, 7"]
    (mean,) = (i for i in program.instructions() if i.opcode == "mean")
    assert opcodes.classify(mean) == (Unit.ALU, opcodes.Latency.ALU)
    assert mnemonics.mnemonic(mean, recorded=False) == "IADD3"


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("wrong", ["mean.u32 %r1, %r2;", "mean.u32 %r1, %p1, %r2;", "mean.f32 %f1, %f2, %f3;"])
def test_other_forms_of_it_are_refused_with_their_place(wrong: str) -> None:
    with pytest.raises(UnsupportedError, match="mean"):
        kernel(wrong + " ret;")


@pytest.mark.usefixtures("known")
def test_random_programs_use_it_once_ptxas_takes_its_form() -> None:
    forms = [Section("made up", "9.0", "sm_100a", (("mean.u32", "T T T"),))]
    assert vocabulary.plain(forms) == {"mean": ["mean.u32"]}
    assert not is_elsewhere(ROW)


NAMED: dict[str, Iterable[str]] = {
    "folded": fold_constants.EVALUATE,
    "SASS": {*mnemonics.INTEGER, *mnemonics.SINGLE, *mnemonics.HALF, *mnemonics.DOUBLE, *mnemonics.CONTROL},
}


@pytest.mark.parametrize("purpose", NAMED)
def test_sets_name_what_the_table_has(purpose: str) -> None:
    assert set(NAMED[purpose]) <= {row.name for row in OPCODES}
