"""Control codes of compiled kernels: safe by the check, without a wait or a stall too much inside blocks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.analysis.control_codes.code import add, at, changed, kernel, one, p, r, wide
from tests.codegen import random_code
from tests.machine_code.test_listings import ARCHITECTURES, MODULE, lifted

from warpreg import codegen, ptx
from warpreg.analysis.control_codes.check import unsafe
from warpreg.analysis.control_codes.latencies import Latencies
from warpreg.codegen.passes.control_codes import UnallocatedError, with_control_codes
from warpreg.ir.instruction import Guard, Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Immediate

FORMS = (
    *random_code.SUMS,
    *random_code.PRODUCTS,
    *random_code.LOGIC,
    "ld.global.u32 {d}, [%rd4+4];",
    "st.global.u32 [%rd5+8], {a};",
    "popc.b32 {d}, {a};",
    "shfl.sync.idx.b32 {d}, {a}, 1, 31, -1;",
)
SEEDS = st.integers(0, 10**6)
TABLES = {name: Latencies.of(name) for name in ARCHITECTURES}


def coded(*blocks: list[Instruction], edges: object = ((),), code: str = "sm_90") -> list[str]:
    """The control codes and reuse of a kernel of machine instructions, as a listing has them."""
    found = with_control_codes(kernel(*blocks, edges=edges, code=code), TABLES[code])  # type: ignore[arg-type]
    return [f"{one.control} {one.reuse}" for one in found.instructions()]


def compiled(seed: int) -> Kernel:
    return codegen.translate(ptx.parse(random_code.text(seed, FORMS, 30)), "k")


def test_stalls_are_latencies_less_what_is_in_between() -> None:
    """4 cycles from the first sum to the third, of which the second takes 1; 13 from a predicate to a guard."""
    body = [
        add(1, 2, 3),
        add(5, 6, 7),
        add(4, 1, 8),
        one("ISETP.GE.AND", p(0), r(9), r(10), Immediate(1)),
        add(11, 12, 13, guard=Guard(p(0))),
    ]
    assert [code[8:] for code in coded(body)] == [
        "R-:W-:-:S01 ()",
        "R-:W-:-:S03 ()",
        "R-:W-:-:S01 ()",
        "R-:W-:Y:S13 ()",
        "R-:W-:-:S01 ()",
    ]


def test_a_load_has_a_counter_that_its_reader_waits_for() -> None:
    """Its address is overwritten later, so that it also has one for its sources; a store has only that."""
    body = [
        one("LDG.E", r(1), at(2), Immediate(1)),
        one("STG.E", None, at(2), r(3)),
        add(2, 8, 8),
        add(4, 1, 1),
    ]
    assert coded(body) == [
        "B------:R1:W0:-:S01 ()",
        "B------:R2:W-:-:S02 ()",
        "B--2---:R-:W-:-:S01 ()",
        "B0-----:R-:W-:-:S01 ()",
    ]


def test_the_oldest_counter_is_shared() -> None:
    loads = [one("LDG.E", r(n), at(20), Immediate(1)) for n in range(7)]
    assert [code[12] for code in coded(loads)] == [*"012345", "0"]


def test_blocks_begin_with_nothing_under_way() -> None:
    """The first instruction waits for the counter; a sum may have a reader that needs 6 cycles."""
    first = [one("LDG.E", r(1), at(2), Immediate(1)), add(3, 4, 5)]
    codes = coded(first, [], [add(6, 7, 8)], edges=((1,), (2,), ()))
    assert codes == ["B------:R-:W0:-:S01 ()", "B------:R-:W-:-:S06 ()", "B0-----:R-:W-:-:S01 ()"]


@pytest.mark.parametrize(
    ("body", "reuse"),
    [
        ([add(1, 2, 9), add(3, 2, 7), add(5, 2, 11)], [(0,), (0,), ()]),
        ([add(1, 2, 9), add(3, 7, 2), add(5, 2, 11)], [(0,), (), ()]),
        ([add(1, 2, 9), add(3, 4, 7), add(5, 2, 11)], [(), (), ()]),
        ([add(1, 2, 9), add(2, 7, 5), add(5, 2, 11)], [(), (), ()]),
        ([add(1, 2, 9), one("LDS", r(3), at(2)), add(5, 2, 11)], [(), (), ()]),
        ([one("DADD", wide(20), wide(2), wide(4)), one("DADD", wide(22), wide(2), wide(6))], [(0,), ()]),
    ],
    ids=["again", "other position", "other register", "overwritten", "memory", "pair"],
)
def test_a_source_is_kept_for_the_next_read_of_its_bank_and_position(
    body: list[Instruction], reuse: list[tuple[int, ...]]
) -> None:
    found = with_control_codes(kernel(body), TABLES["sm_90"])
    assert [one.reuse for one in found.instructions()] == reuse


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@given(seed=SEEDS)
@settings(max_examples=15, deadline=None)
def test_random_kernels_are_safe_and_otherwise_the_same(architecture: str, seed: int) -> None:
    before = compiled(seed)
    after = with_control_codes(before, TABLES[architecture])
    assert unsafe(after, TABLES[architecture]) == ()
    assert after.blocks == before.blocks
    assert {key: value for key, value in vars(after).items() if key not in ("blocks", "analyses")} == {
        key: value for key, value in vars(before).items() if key not in ("blocks", "analyses")
    }


def weakened(code: Kernel) -> Iterator[Kernel]:
    """The kernel with a wait less, but for those at the start of blocks; with a stall less by one, but for the ends."""
    first = code.first_pcs()
    for pc, instruction in enumerate(code.instructions()):
        control = instruction.control
        assert control is not None
        for counter in range(6):
            if control.waits >> counter & 1 and pc not in first:
                yield changed(code, pc, waits=control.waits & ~(1 << counter))
        if control.stall > 1 and pc + 1 not in first:
            yield changed(code, pc, stall=control.stall - 1)


@pytest.mark.parametrize("seed", range(1000, 1006))
def test_nothing_inside_a_block_can_be_left_out(seed: int) -> None:
    table = TABLES["sm_80"]
    for weaker in weakened(with_control_codes(compiled(seed), table)):
        assert unsafe(weaker, table)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", [function.name for function in MODULE.kernels])
def test_machine_code_gets_other_codes_that_are_safe_too(name: str, architecture: str) -> None:
    assert unsafe(with_control_codes(lifted(name, architecture), TABLES[architecture])) == ()


def test_virtual_registers_are_refused() -> None:
    virtual = codegen.build_kernel(ptx.parse(random_code.text(1, FORMS)), "k")
    with pytest.raises(UnallocatedError, match="kernel 'k' has virtual registers; allocate them first"):
        with_control_codes(virtual, TABLES["sm_90"])
