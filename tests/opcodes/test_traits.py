"""What the table answers about instructions, and what follows for their compilation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.codegen.texts import kernel, listing
from tests.isa.forms import FORMS, sections

from warpreg.analysis.accesses import accesses
from warpreg.analysis.strand_rules import deschedules
from warpreg.codegen import CompileOptions
from warpreg.codegen.machine.legality import base_needs_register
from warpreg.codegen.passes.fold_constants import FoldConstants
from warpreg.codegen.passes.narrow_addresses import NarrowAddresses
from warpreg.codegen.pipeline import compile
from warpreg.codegen.regalloc.late_reads import in_flight
from warpreg.codegen.schedule.dependence_graph import dependences
from warpreg.codegen.unroll.shape import is_unrollable, meets_threads
from warpreg.ir.instruction import Instruction
from warpreg.ir.opcodes import OPCODES, Flow, Opcode, Trait, Traits, canonical, is_allowed, traits_of
from warpreg.ir.opcodes.table import MACHINE_OPCODES
from warpreg.ir.opcodes.trait import ANSWERS
from warpreg.ir.operands import Address, ConstantBank, Immediate, Register
from warpreg.ir.types import B32, B64

FULL_OPCODES = sorted({full for section in sections(FORMS) for full, _ in section.forms()})


def instruction(text: str, *operands: Register | Address | Immediate) -> Instruction:
    opcode, *modifiers = text.split(".")
    return Instruction(opcode, canonical(opcode, tuple(modifiers)), operands)


def traits(text: str) -> Traits:
    return instruction(text).traits


def holding(answers: Traits, *names: str) -> set[str]:
    return {name for name in names if getattr(answers, name)}


DOES = (
    ("ld.global.u32", "accesses_elements reads_memory loads is_removable"),
    ("ld.volatile.global.u32", "accesses_elements reads_memory loads is_ordered"),
    ("st.shared.v2.f32", "accesses_elements writes_memory stores"),
    ("atom.global.add.u32", "accesses_elements reads_memory writes_memory stores is_atomic returns_old"),
    ("red.global.add.u32", "accesses_elements reads_memory writes_memory stores is_atomic"),
    ("tex.2d.v4.f32.f32", "reads_memory is_texture fetches_channels takes_handle is_removable"),
    ("txq.width.b32", "is_texture takes_handle is_removable"),
    ("sust.b.2d.b32.trap", "writes_memory is_texture takes_handle"),
    ("membar.gl", "is_fence is_pinned is_idle"),
    ("prefetch.global.L1", "is_pinned is_idle"),
    ("bar.sync", "is_barrier is_pinned stops ends_block"),
    ("vprintf.u32", "is_service is_pinned stops ends_block"),
    ("bra.uni", "is_branch is_direct jumps ends_block"),
    ("brx.idx", "is_branch is_indirect jumps ends_block"),
    ("cp.async.ca.shared.global", "reads_memory writes_memory is_copy is_asynchronous"),
    ("cp.async.wait_all", "commits_copies awaits_copies is_pinned"),
    ("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "is_matrix"),
    ("add.u32", "is_pure is_removable commutes is_uniform"),
    ("sub.f32", "is_pure is_removable ignores_nan_bits"),
)
"""Of each form, which of the answers in this list hold."""


@pytest.mark.parametrize(("text", "held"), DOES)
def test_what_instructions_of_ptx_do(text: str, held: str) -> None:
    asked = {word for _, words in DOES for word in words.split()}
    assert holding(traits(text), *asked) == set(held.split())


@pytest.mark.parametrize(
    ("opcode", "flow", "space"),
    [("BRA", Flow.BRANCH, ""), ("RET", Flow.INDIRECT, ""), ("KILL", Flow.EXIT, ""), ("LDG", Flow.NEXT, "global")],
)
def test_where_machine_code_goes_and_what_it_accesses(opcode: str, flow: Flow, space: str) -> None:
    assert (traits_of(opcode).flow, traits_of(opcode).space) == (flow, space)


def test_a_form_that_no_row_has_does_what_any_row_of_its_opcode_does_but_has_no_carry() -> None:
    unknown = traits("add.mystery")
    assert (unknown.is_pure, unknown.commutes, unknown.writes_carry) == (True, True, False)
    assert traits("add.cc.u32").writes_carry


def test_an_opcode_without_a_row_has_a_result_and_nothing_else() -> None:
    assert traits_of("mystery", ("u32",)) == Traits()
    assert instruction("mystery.u32", Register("%r1", B32)).has_result


def test_every_trait_is_asked_for_and_every_row_states_what_it_does() -> None:
    """A row with an effect on memory or control flow that states nothing would be left out by every module."""
    asked = Trait.NONE
    for answer in ANSWERS.values():
        asked |= answer
    assert asked | Trait.ELEMENTS == ~Trait.NONE
    silent = {row.name for row in OPCODES if row.effect and row.traits is Trait.NONE}
    assert silent == {"createpolicy"}
    lanes = {"BSSY", "B2R", "QSPC", "BMOV"}
    assert {row.name for row in MACHINE_OPCODES if row.effect and not row.traits and row.flow is Flow.NEXT} == lanes


def test_a_flow_of_machine_code_is_no_control_flow_of_ptx() -> None:
    """Blocks of machine code have no terminator, so nothing is inserted in front of one."""
    ptx = Trait.BRANCH | Trait.EXIT | Trait.BARRIER | Trait.SERVICE
    assert not any(row.traits & ptx for row in MACHINE_OPCODES)
    assert not any(row.flow is not Flow.NEXT for row in OPCODES)


@given(st.sampled_from(FULL_OPCODES))
def test_answers_are_those_of_the_rows_that_match(full: str) -> None:
    opcode, *modifiers = full.split(".")
    found = traits_of(opcode, canonical(opcode, tuple(modifiers)))
    rows: list[Opcode] = [row for row in OPCODES if row.pattern.fullmatch(".".join((opcode, *found_modifiers(full))))]
    assert is_allowed(opcode, found_modifiers(full)) == bool(rows)
    if rows:
        assert found.has_result == any(row.types.split("<-")[0].strip() not in ("", "CC") for row in rows)
        assert found.is_pure == all(row.is_pure for row in rows)
        for name, enough in ANSWERS.items():
            assert getattr(found, name) == any(row.traits & enough for row in rows)


def found_modifiers(full: str) -> tuple[str, ...]:
    opcode, *modifiers = full.split(".")
    return canonical(opcode, tuple(modifiers))


# Rows tell forms apart that share a base opcode.


def test_the_sum_of_a_half_and_a_number_keeps_its_order() -> None:
    """Its first operand has 16 bits and its second one 32 (PTX ISA, "Mixed Precision Floating Point Instructions"):
    a constant as the first one cannot become the second."""
    found = listing(FoldConstants().run(kernel("add.rn.f32.f16 %f1, 15360, %f2; add.u32 %r1, 7, %r2; ret;")))
    assert found.splitlines()[:2] == ["add.rn.f32.f16 %f1, 15360, %f2", "add.u32 %r1, %r2, 7"]


@pytest.mark.parametrize(
    "text",
    [
        "sust.b.1d.b32.trap [%rd1, {%r1}], %r2;",
        "sured.b.add.1d.u32.trap [%rd1, {%r1}], %r2;",
        "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2};",
        "cp.async.ca.shared.global [%r1], [%rd1], 4;",
    ],
)
def test_every_access_reads_its_operands_late(text: str) -> None:
    """Stores to surfaces, matrices and copies, like loads and stores."""
    program = kernel(f"{text} mov.u32 %r8, 1; mov.u32 %r9, 2; ret;")
    names = accesses(program).cells.names
    assert {names[cell] for cell in in_flight(program)} == {r.name for r in program.blocks[0].instructions[0].used}


@pytest.mark.parametrize("text", ["discard.global.L2", "applypriority.global.L2::evict_normal", "prefetchu.L1"])
def test_every_hint_to_caches_takes_its_address_like_an_access(text: str) -> None:
    variable = Address(ConstantBank(4, 0, B64, name="table"))
    assert base_needs_register(instruction(text, variable), variable)
    more = "" if text == "prefetchu.L1" else ", 128"
    body = f"ld.param.u64 %rd1, [out]; add.s64 %rd2, %rd1, 64; {text} [%rd2]{more}; ret;"
    (hint,) = (i for i in NarrowAddresses().run(kernel(body)).instructions() if i.traits.is_idle)
    assert [register.type.bits for register in hint.used] == [32]


def order(body: str) -> set[tuple[int, int]]:
    """Pairs of positions of which the first stays ahead of the second."""
    program = kernel(body)
    found = dependences(program.blocks[0].instructions, accesses(program), 0)
    return {(before, after) for before, following in enumerate(found.successors) for after in following}


@pytest.mark.parametrize("text", ["griddepcontrol.wait", "cp.async.bulk.prefetch.L2.global [%rd3], 128"])
def test_waits_for_grids_and_prefetches_keep_their_place(text: str) -> None:
    found = order(f"st.global.u32 [%rd1], %r1; {text}; ld.local.u32 %r2, [%r3]; ret;")
    assert {(0, 1), (1, 2)} <= found


def test_reading_a_state_of_an_mbarrier_is_arithmetic() -> None:
    """``pending_count`` takes a state from a register (PTX ISA, "mbarrier.pending_count")."""
    found = order("st.global.u32 [%rd1], %r1; mbarrier.pending_count.b64 %r2, %rd2; st.global.u32 [%rd1], %r3; ret;")
    assert (0, 2) in found
    assert not {(0, 1), (1, 2)} & found


def test_atomics_on_surfaces_meet_threads_and_transposed_matrices_meet_lanes() -> None:
    assert meets_threads([instruction("sured.b.add.1d.u32.trap")])
    assert not is_unrollable([instruction("movmatrix.sync.aligned.m8n8.trans.b16")])


@pytest.mark.parametrize(
    ("opcode", "modifiers", "does"),
    [("MEMBAR", ("SC", "GPU"), True), ("fence", ("acq_rel", "gpu"), True), ("LDG", ("E",), False)],
)
def test_strands_end_at_fences_of_both_languages(opcode: str, modifiers: tuple[str, ...], does: bool) -> None:
    assert deschedules(Instruction(opcode, modifiers, ())) is does


def test_an_unread_atomic_becomes_a_reduction_where_ptx_has_one() -> None:
    """``red`` has neither ``exch`` nor an order that acquires (PTX ISA, "red")."""
    body = """ld.param.u64 %rd1, [out];
        atom.global.add.u32 %r1, [%rd1], 1; atom.acquire.gpu.global.add.u32 %r2, [%rd1], 2;
        atom.relaxed.gpu.global.or.b32 %r3, [%rd1], 4; atom.global.exch.b32 %r4, [%rd1], 8; ret;"""
    made = [i for i in compile(kernel(body), CompileOptions(schedule=False)).instructions() if i.traits.is_atomic]
    assert [i.opcode for i in made] == ["red", "atom", "red", "atom"]
