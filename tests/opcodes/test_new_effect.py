"""Adding opcodes with an effect as in CONTRIBUTING: row, execution, reference, test.  Everything else asks the row.

Two made-up opcodes, which only these tests know: ``settle`` orders memory, and ``bump`` adds to memory, like ``red``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest
from tests.codegen.texts import kernel, listing
from tests.reference import compiled
from tests.reference.interpreter import Reference
from tests.reference.operands import Execute
from tests.reference.reader import Statement

from warpreg.analysis.accesses import accesses
from warpreg.analysis.strand_rules import deschedules
from warpreg.codegen.lower.if_conversion import predicated
from warpreg.codegen.machine.legality import base_needs_register, must_be_registers
from warpreg.codegen.passes.dead_code import EliminateDeadCode
from warpreg.codegen.passes.narrow_addresses import NarrowAddresses
from warpreg.codegen.passes.uniform_addresses import FormUniformAddresses
from warpreg.codegen.pipeline import compile
from warpreg.codegen.regalloc.late_reads import in_flight
from warpreg.codegen.schedule.dependence_graph import dependences
from warpreg.codegen.unroll.shape import is_unrollable, meets_threads
from warpreg.designs.parts.load_sharing import hints
from warpreg.ir import memory_access
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.opcodes import OPCODES, Latency, Opcode, Unit, classify, memory, table
from warpreg.ir.operands import Address, ConstantBank, Immediate, Register
from warpreg.ir.types import B32, B64
from warpreg.simt import Device
from warpreg.timing.core import access_record as record
from warpreg.timing.core.columns import code
from warpreg.timing.feed import kernel_table
from warpreg.timing.feed.memory_sites import access_kinds, memory_sites, step_bytes

SETTLE = Opcode("settle.gpu", "<-", unit=Unit.CTRL, effect="orders memory", traits=memory.ORDERS)
BUMP = Opcode(
    "bump[.global].add.u32", "<- address T", unit=Unit.MEM, latency=Latency.STORE, effect="adds to memory",
    update=lambda m, f, old, b: m.add(old, b), traits=memory.REDUCES,
)  # fmt: skip

PROGRAM = """.version 8.0
.target sm_75
.address_size 64
.entry k(.param .u64 out) {
.reg .u64 %a; .reg .u32 %t, %x; .reg .pred %p;
ld.param.u64 %a, [out];
mov.u32 %t, %tid.x;
mad.wide.u32 %a, %t, 4, %a;
st.global.u32 [%a], %t;
settle.gpu;
setp.gt.u32 %p, %t, 40;
@%p bump.global.add.u32 [%a], 5;
bump.global.add.u32 [%a], %t;
ret;
}
"""


def _forget() -> None:
    for cached in (
        table._by_name, table._matching, table._resolved, table.traits_of, memory_access._form, hints._order_of,
    ):  # fmt: skip
        cached.cache_clear()


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The table has the rows; the reference carries out ``settle`` as nothing and ``bump`` as its reduction."""
    monkeypatch.setattr(table, "OPCODES", (*OPCODES, SETTLE, BUMP))
    monkeypatch.setattr(compiled, "_NOTHING", (*compiled._NOTHING, "settle"))
    original = compiled.CompiledFunction._statement

    def statement(self: compiled.CompiledFunction, s: Statement) -> Execute:
        return original(self, dataclasses.replace(s, opcode="red") if s.opcode == "bump" else s)

    monkeypatch.setattr(compiled.CompiledFunction, "_statement", statement)
    _forget()
    yield
    monkeypatch.undo()
    _forget()


def settle() -> Instruction:
    return Instruction("settle", ("gpu",), ())


def bump(*operands: Address | Register | Immediate) -> Instruction:
    return Instruction("bump", ("global", "add", "u32"), operands)


A, X = Address(Register("%rd1", B64)), Register("%r1", B32)


def edges(body: str) -> set[tuple[int, int]]:
    """Pairs of positions in the first block of which the first must stay ahead of the second."""
    program = kernel(body)
    found = dependences(program.blocks[0].instructions, accesses(program), 0)
    return {(before, after) for before, following in enumerate(found.successors) for after in following}


def test_they_run_as_in_the_reference() -> None:
    """Thread t stores t and adds t, and 5 more where t > 40."""
    reference = Reference(PROGRAM)
    wanted = reference.buffer(bytes(4 * 64))
    reference.launch("k", 1, 64, [wanted])
    device = Device(PROGRAM)
    out = device.zeros(64, np.uint32)
    device.launch("k", 1, 64, out)
    assert out.download().tolist() == [2 * t + 5 * (t > 40) for t in range(64)]
    assert out.download().tobytes() == bytes(wanted.data)


def test_neither_has_a_result() -> None:
    assert bump(A, X).defined == ()
    assert bump(A, X).used == (A.base, X)
    assert settle().results == ()


def test_dead_code_elimination_keeps_them() -> None:
    program = EliminateDeadCode().run(kernel("mov.u32 %r1, 7; settle.gpu; bump.global.add.u32 [%rd1], 3; ret;"))
    assert listing(program).splitlines() == ["settle.gpu", "bump.global.add.u32 [%rd1], 3", "ret"]


def test_the_scheduler_orders_accesses_around_them() -> None:
    """0 store, 1 fence, 2 load of other memory, 3 reduction, 4 load: the fence parts 0 from 2; 3 stays ahead of 4."""
    body = """st.shared.u32 [%r9], %r1; settle.gpu; ld.local.u32 %r2, [%r8];
        bump.global.add.u32 [%rd1], %r3; ld.global.u32 %r4, [%rd2]; ret;"""
    found = edges(body)
    assert {(0, 1), (1, 2), (1, 3), (3, 4)} <= found
    assert (2, 3) not in found


def test_if_conversion_guards_an_access_and_leaves_a_fence() -> None:
    branch = "setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE; {} DONE: ret;"
    guarded = listing(predicated(kernel(branch.format("bump.global.add.u32 [%rd1], 3;"))))
    assert "@!%p1 bump.global.add.u32 [%rd1], 3" in guarded
    assert "bra" not in guarded
    assert "@%p1 bra" in listing(predicated(kernel(branch.format("settle.gpu;"))))


def test_a_loop_with_a_fence_is_not_unrolled_and_an_atomic_meets_threads() -> None:
    assert not is_unrollable([settle()])
    assert is_unrollable([bump(A, X)])
    assert meets_threads([bump(A, X)])


def test_stored_values_and_addresses_of_variables_are_registers() -> None:
    assert list(must_be_registers(bump(A, Immediate(3)))) == [1]
    variable = Address(ConstantBank(4, 0, B64, name="table"))
    assert base_needs_register(bump(variable, X), variable)


def test_its_operands_are_read_late() -> None:
    program = kernel("bump.global.add.u32 [%rd1], %r1; mov.u32 %r2, 1; mov.u32 %r3, 2; ret;")
    cells = accesses(program).cells
    assert {cells.names[cell] for cell in in_flight(program)} == {"%rd1", "%r1"}


def test_its_address_is_narrowed_and_takes_a_uniform_part() -> None:
    body = "ld.param.u64 %rd1, [out]; {} add.s64 %rd3, %rd1, %rd2; bump.global.add.u32 [%rd3+4], %r1; ret;"
    narrow = NarrowAddresses().run(kernel(body.format("mul.wide.u32 %rd2, %r1, 4;")))
    (access,) = (i for i in narrow.instructions() if i.opcode == "bump")
    assert all(r.type.bits == 32 for r in access.used)
    both = body.replace("ld.param.u64 %rd1, [out]; ", "").replace("%rd3, %rd1, %rd2", "%rd3, %rd2, %rd1")
    constant = _with_bank(kernel(both.format("mul.wide.u32 %rd2, %r1, 4;")))
    (access,) = (i for i in FormUniformAddresses().run(constant).instructions() if i.opcode == "bump")
    (address,) = (o for o in access.operands if isinstance(o, Address))
    assert address.uniform is not None


def _with_bank(program: Kernel) -> Kernel:
    """The kernel with the word of the parameter ``out`` in place of the register %rd1."""
    word = ConstantBank(0, 0, B64)
    blocks = tuple(
        dataclasses.replace(
            block,
            instructions=tuple(
                dataclasses.replace(i, operands=tuple(word if o == A.base else o for o in i.operands))
                for i in block.instructions
            ),
        )
        for block in program.blocks
    )
    return dataclasses.replace(program, blocks=blocks, analyses={})


def test_strands_end_at_the_fence() -> None:
    assert deschedules(settle())
    assert not deschedules(bump(A, X))


def test_the_timing_core_classes_them() -> None:
    program = compile(kernel("ld.param.u64 %rd1, [out]; settle.gpu; @%p1 bump.global.add.u32 [%rd1], %r1; ret;"))
    (one,) = (i for i in program.instructions() if i.opcode == "bump")
    sites = memory_sites(program)
    assert classify(one) == (Unit.MEM, Latency.STORE)
    assert (step_bytes(one), sites.space.tolist(), sites.size.tolist()) == (4, [record.GLOBAL], [4])
    assert (sites.guarded.tolist(), sites.atomic.tolist()) == ([1], [1])
    assert record.STORE in access_kinds(program).tolist()
    assert kernel_table.fence_flags(settle()) == code.FENCE
    assert kernel_table.fence_flags(one) == 0


def test_designs_that_share_loads_see_them() -> None:
    assert hints.order_of(settle()) == hints.FENCE
    assert hints.stored_bytes(bump(A, X)) == 4
