"""The compiler-managed hierarchy: levels of operands and results (MICRO 2011, section 4).

With three ORF entries, an ORF read costs 21.76 pJ and an MRF read 124.8 pJ; a write 47.36 and 148.8 pJ (private
datapath, wires included).  In the LRF they cost 8.64 and 19.04 pJ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.kernels import at, kernel, op, p, pair, r, when
from tests.replay.paths import Recorded, one_warp
from tests.replay.random_runs import runs

from warpreg import codegen, workloads
from warpreg.designs import Program, load, program_table
from warpreg.designs.compiled import orf_lrf
from warpreg.designs.parts.placement.check import findings
from warpreg.designs.parts.placement.hierarchy import place
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Label, Vector
from warpreg.replay import replay

TAKE = when(p(0), op("bra", Label("there")))


@dataclass
class Compiled:
    """A kernel's placement in words."""

    program: Program
    code: Kernel

    def reads(self, pc: int) -> list[str]:
        """Where the source registers of an instruction come from, and where they are kept besides."""
        table = self.program
        rows = range(table.source_start[pc], table.source_start[pc + 1])
        return [
            _place(table.source_level[row], table.source_entry[row])
            + (f" and into {_place(table.fill_level[row], table.fill_entry[row])}" if table.fill_level[row] else "")
            for row in rows
        ]

    def writes(self, pc: int) -> list[str]:
        """Where the result registers of an instruction go."""
        table = self.program
        found = []
        for row in range(table.result_start[pc], table.result_start[pc + 1]):
            places = [_place(table.result_level[row], table.result_entry[row])] if table.result_level[row] else []
            places += [_place(table.copy_level[row], table.copy_entry[row])] if table.copy_level[row] else []
            places += [] if table.mrf_elided[row] else ["MRF"]
            found.append(" and ".join(places))
        return found


def _place(level: int, entry: int) -> str:
    return f"{('MRF', 'ORF', 'LRF')[level]}{entry if level else ''}"


def compiled(code: Kernel, **parameters: Any) -> Compiled:
    """The placement of a kernel, proved right."""
    design = load("orf-lrf")
    program = design.compile(program_table(code), design.configure(**parameters), code)
    assert findings(code, program) == []
    return Compiled(program, code)


def straight(*code: Instruction, **parameters: Any) -> Compiled:
    return compiled(kernel(list(code)), **parameters)


def add(target: int, *sources: int) -> Instruction:
    """R<target> = R<first> + R<second>, or + 3."""
    first, *second = sources
    return op("add.s32", r(target), r(first), r(second[0]) if second else 3)


def store(index: int) -> Instruction:
    """On the shared datapath."""
    return op("st.shared.u32", at(r(index)), 7)


def test_a_value_that_dies_in_its_strand_never_touches_the_mrf() -> None:
    code = straight(add(1, 0), add(2, 1), store(2), lrf="none")
    assert (code.writes(0), code.reads(1)) == (["ORF0"], ["ORF0"])
    assert (code.writes(1), code.reads(2)) == (["ORF0"], ["ORF0"])


def test_a_value_that_lives_on_goes_to_both_if_its_reads_pay_for_it() -> None:
    """A read saves 103.04 pJ, a write costs 47.36: one read pays."""
    code = kernel([add(1, 0), add(2, 1), op("bar.sync", 0)], [store(1)])
    assert compiled(code, lrf="none").writes(0) == ["ORF0 and MRF"]
    assert compiled(code, lrf="none").reads(3) == ["MRF"]


def test_a_value_without_reads_in_its_strand_goes_to_the_mrf_alone() -> None:
    assert compiled(kernel([add(1, 0), op("bar.sync", 0)], [store(1)])).writes(0) == ["MRF"]


def test_the_best_saving_for_each_slot_comes_first() -> None:
    """One entry: R1 over one slot and R2 over one keep it from R5, which would save as much over four."""
    code = [add(5, 0), add(1, 0), add(2, 1), op("mov.b32", r(3), 1), add(4, 5, 2), store(4)]
    found = straight(*code, entries=1, lrf="none", partial="none")
    assert (found.writes(0), found.writes(1)) == (["MRF"], ["ORF0"])


@pytest.mark.parametrize(("slots_weigh", "first"), [(1.0, [1, 2, 3, 4]), (0.0, [0, 4])])
def test_how_much_slots_weigh_decides_which_saving_comes_first(slots_weigh: float, first: list[int]) -> None:
    """One entry: R5 saves 307.5 pJ over three and a half instructions, R1, R2 and R4 204.5 over one each."""
    code = kernel([add(5, 0), add(1, 0), add(2, 1), add(4, 5, 2), add(6, 5, 4), store(6)])
    chosen = orf_lrf.options(load("orf-lrf").configure(entries=1, lrf="none", partial="none", operands=False))
    options = replace(chosen, slots_weigh=slots_weigh)
    assert sorted(placed.candidate.pc for placed in place(code, program_table(code), options).placed) == first


def test_an_entry_may_be_written_by_the_instruction_that_reads_it_last() -> None:
    code = straight(add(1, 0), add(2, 1), add(3, 2), store(3), entries=1, lrf="none")
    assert [code.writes(pc) for pc in range(3)] == [["ORF0"]] * 3


def test_figure_8a_a_range_is_shortened_until_it_fits() -> None:
    """R2 lives from 2 to 3 and is worth more for its slot; R1 keeps the entry for its first read, and the MRF serves
    the other one."""
    code = [add(1, 0), add(3, 1), add(2, 0), add(4, 2), add(5, 1)]
    ends = [op("st.shared.v2.u32", at(r(6)), Vector((r(3), r(4)))), store(5)]
    parted = straight(*code, *ends, entries=1, lrf="none", operands=False)
    assert parted.writes(0) == ["ORF0 and MRF"]
    assert (parted.reads(1), parted.reads(4)) == (["ORF0"], ["MRF"])
    whole = straight(*code, *ends, entries=1, lrf="none", operands=False, partial="none")
    assert whole.writes(0) == ["MRF"]


def test_figure_8b_an_operand_that_is_read_again() -> None:
    """The first read fetches R0 from the MRF and keeps it; two more save 2 x 103.04 - 47.36 pJ."""
    code = straight(add(1, 0), add(2, 0), add(3, 0), lrf="none")
    assert [code.reads(pc) for pc in range(3)] == [["MRF and into ORF0"], ["ORF0"], ["ORF0"]]
    assert straight(add(1, 0), add(2, 0), add(3, 0), operands=False).reads(1) == ["MRF"]


def test_an_operand_is_not_kept_by_an_instruction_that_some_lanes_skip() -> None:
    code = straight(when(p(0), add(1, 0)), add(2, 0), add(3, 0), lrf="none")
    assert [code.reads(pc) for pc in range(3)] == [["MRF"], ["MRF and into ORF0"], ["ORF0"]]


def test_both_operands_of_the_filling_instruction_come_from_the_mrf() -> None:
    assert straight(op("mul.lo.s32", r(1), r(0), r(0)), add(2, 0), lrf="none").reads(0) == ["MRF and into ORF0", "MRF"]


def hammock(left: list[Instruction], right: list[Instruction], merge: list[Instruction]) -> Kernel:
    """R1 is live at the entry; the left side falls through."""
    return kernel([op("setp.lt.s32", p(0), r(0), 3), TAKE], left, right, merge, successors=((2, 1), (3,), (3,), ()))


def test_figure_10a_a_value_of_one_side_is_read_from_the_mrf_after_the_merge() -> None:
    code = compiled(hammock([add(1, 0)], [add(2, 0)], [store(1)]), lrf="none", operands=False)
    assert (code.writes(2), code.reads(4)) == (["MRF"], ["MRF"])


def test_figure_10b_a_read_on_the_same_side_may_come_from_the_orf() -> None:
    code = compiled(hammock([add(1, 0), add(2, 1)], [add(2, 0)], [store(1)]), lrf="none", operands=False)
    assert (code.writes(2), code.reads(3), code.reads(5)) == (["ORF0 and MRF"], ["ORF0"], ["MRF"])


def test_figure_10c_values_of_both_sides_in_one_entry_need_no_mrf() -> None:
    code = compiled(hammock([add(1, 0)], [add(1, 2)], [store(1)]), lrf="none", operands=False)
    assert (code.writes(2), code.writes(3), code.reads(4)) == (["ORF0"], ["ORF0"], ["ORF0"])


def test_a_value_stays_in_the_orf_across_a_hammock() -> None:
    code = kernel(
        [add(5, 0), op("setp.lt.s32", p(0), r(0), 3), TAKE],
        [add(1, 5)],
        [add(1, 2)],
        [op("st.shared.u32", at(r(1)), r(5))],
        successors=((2, 1), (3,), (3,), ()),
    )
    found = compiled(code, lrf="none", operands=False)
    assert found.writes(0) == ["ORF1"]
    assert found.reads(5) == ["ORF0", "ORF1"]


def test_a_guarded_write_joins_the_value_that_other_lanes_keep() -> None:
    code = straight(add(1, 0), when(p(0), add(1, 2)), store(1), lrf="none", operands=False)
    assert (code.writes(0), code.writes(1), code.reads(2)) == (["ORF0"], ["ORF0"], ["ORF0"])


def test_a_guarded_write_over_a_value_from_before_the_strand_stays_in_the_mrf() -> None:
    code = straight(when(p(0), add(1, 2)), store(1), lrf="none", operands=False)
    assert (code.writes(0), code.reads(1)) == (["MRF"], ["MRF"])


def test_the_lrf_serves_the_private_datapath_alone() -> None:
    code = straight(add(1, 0), add(2, 1), store(2), lrf="unified")
    assert (code.writes(0), code.reads(1)) == (["LRF0"], ["LRF0"])
    assert (code.writes(1), code.reads(2)) == (["ORF0"], ["ORF0"])


def test_a_result_of_the_shared_datapath_does_not_go_to_the_lrf() -> None:
    code = straight(op("sin.approx.f32", r(1), r(0)), add(2, 1), lrf="unified")
    assert code.writes(0) == ["ORF0"]


def test_the_unified_lrf_holds_one_value_and_the_split_one_a_value_for_each_slot() -> None:
    code = [add(1, 0), add(2, 0), add(3, 1, 2), store(3)]
    unified = straight(*code, lrf="unified", operands=False)
    assert sorted(unified.reads(2)) == ["LRF0", "ORF0"]
    assert straight(*code, lrf="split", operands=False).reads(2) == ["LRF0", "LRF1"]


def test_a_value_that_two_slots_read_does_not_go_to_the_split_lrf() -> None:
    code = [add(1, 0), add(2, 1), add(3, 0, 1)]
    assert straight(*code, lrf="split", operands=False).writes(0) == ["ORF0"]
    assert straight(*code, lrf="unified", operands=False).writes(0) == ["LRF0"]


def test_a_value_in_lrf_and_orf_at_once() -> None:
    """The store needs R1 in the ORF; two reads of 13.12 pJ less pay for an LRF write of 19.04."""
    code = [add(1, 0), add(2, 1), add(3, 1), store(1)]
    assert straight(*code, lrf="unified").writes(0) == ["ORF0"]
    both = straight(*code, lrf="unified", both=True)
    assert both.writes(0) == ["ORF0 and LRF0"]
    assert [both.reads(pc) for pc in (1, 2, 3)] == [["LRF0"], ["LRF0"], ["ORF0"]]


def test_a_wide_value_takes_entries_side_by_side() -> None:
    code = straight(op("mul.wide.u32", pair(2), r(0), 8), op("st.shared.u64", at(r(1)), pair(2)), operands=False)
    assert (code.writes(0), code.reads(1)) == (["ORF0", "ORF1"], ["MRF", "ORF0", "ORF1"])
    narrow = straight(op("mul.wide.u32", pair(2), r(0), 8), op("st.shared.u64", at(r(1)), pair(2)), entries=1)
    assert narrow.writes(0) == ["MRF", "MRF"]


def test_the_halves_of_a_wide_value_stay_together() -> None:
    code = straight(add(2, 0), add(3, 0), op("st.shared.u64", at(r(1)), pair(2)), operands=False, lrf="unified")
    assert (code.writes(0), code.writes(1), code.reads(2)) == (["ORF0"], ["ORF1"], ["MRF", "ORF0", "ORF1"])


def test_nothing_stays_above_where_a_warp_may_be_descheduled() -> None:
    load_ = op("ld.global.u32", r(4), at(pair(2)))
    code = straight(add(1, 0), load_, add(5, 4), add(6, 1))
    assert (code.writes(0), code.reads(3)) == (["MRF"], ["MRF"])
    always = straight(add(1, 0), load_, add(5, 4), add(6, 1), flush_when_descheduled=False, lrf="none")
    assert (always.writes(0), always.reads(3)) == (["ORF1"], ["ORF1"])
    assert (always.writes(1), always.reads(2)) == (["ORF0"], ["ORF0"])


def test_a_value_may_stay_for_all_of_a_loop_where_backward_branches_end_no_strand() -> None:
    loop = kernel([add(1, 0)], [add(2, 1), store(2), TAKE], [store(1)], successors=((1,), (1, 2), ()))
    plain = compiled(loop, lrf="none")
    assert (plain.writes(0), plain.reads(1)) == (["MRF"], ["MRF"])
    held = compiled(loop, lrf="none", flush_at_backward_branches=False)
    assert (held.writes(0), held.reads(1), held.reads(4)) == (["ORF1"], ["ORF1"], ["ORF1"])
    assert held.writes(1) == ["ORF0"]


def test_ideal_levels_take_every_access() -> None:
    code = straight_counts(add(1, 0), store(1), ideal="lrf")
    assert code == {"LRF.read.private": 1, "LRF.read.shared": 1, "LRF.write.private": 1}


def straight_counts(*code: Instruction, **parameters: Any) -> dict[str, int]:
    found: dict[str, int] = replay(one_warp([0]), kernel(list(code)), "orf-lrf", **parameters).as_dict()["accesses"]
    return found


def test_counts_follow_from_the_visits_of_blocks() -> None:
    """R1 through the LRF, R0 from the MRF; a fill is a write of the ORF: each three times."""
    counts = replay(one_warp([0, 0, 0]), kernel([add(1, 0), add(2, 1), add(3, 0)]), "orf-lrf")
    assert counts.as_dict()["accesses"] == {
        "MRF.read.private": 3,
        "ORF.read.private": 3,
        "ORF.write.private": 3,
        "LRF.read.private": 3,
        "LRF.write.private": 3,
        "MRF.write.private": 6,
    }
    assert counts.events == {"strands": 3, "waits": 0}


def test_the_reasons_say_what_a_place_saves() -> None:
    """Of 8 entries, on the shared datapath: 2 x (124.8 - 51.52) - 111.52 + 148.8 pJ."""
    sine, load_ = op("sin.approx.f32", r(1), r(0)), op("ld.shared.u32", r(2), at(r(1)))
    code = kernel([sine, store(1), load_, op("bar.sync", 0)], [store(2)])
    design = load("orf-lrf")
    why = design.explain(program_table(code), design.configure(entries=8), code)
    assert why[0] == "strand: the kernel begins, R1 in ORF 0: saves 183.8 pJ"
    assert why[4] == "strand: follows 'bar.sync'"


def test_ideal_levels_have_no_reasons() -> None:
    design, code = load("orf-lrf"), kernel([add(1, 0)])
    assert design.explain(program_table(code), design.configure(ideal="lrf"), code) == {}


parameters = st.fixed_dictionaries(
    {
        "entries": st.integers(0, 5),
        "lrf": st.sampled_from(["none", "unified", "split"]),
        "partial": st.sampled_from(["none", "immediate", "after"]),
        "operands": st.booleans(),
        "both": st.booleans(),
    }
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(runs(), parameters)
def test_every_read_is_served_once(run: tuple[Kernel, Recorded], chosen: dict[str, Any]) -> None:
    code, path = run
    compiled(code, **chosen)
    counts, plain = replay(path, code, "orf-lrf", **chosen), replay(path, code, "mrf")
    assert counts.reads() == plain.reads()
    assert counts.writes() >= plain.writes()
    if not chosen["entries"] and chosen["lrf"] == "none":
        assert counts.as_dict()["accesses"] == plain.as_dict()["accesses"]


@pytest.mark.parametrize("name", ["matrix-mul", "bfs", "hotspot"])
def test_placements_of_workloads_are_right_with_every_option(name: str) -> None:
    module = workloads.find(name).module()
    for declared in module.kernels:
        code = codegen.translate(module, declared.name)
        for chosen in (
            {},
            {"lrf": "unified", "both": True, "entries": 8},
            {"flush_when_descheduled": False, "partial": "after"},
            {"flush_at_backward_branches": False, "entries": 5},
        ):
            compiled(code, **chosen)


def test_parameters_that_price_the_orf_otherwise() -> None:
    priced = orf_lrf.structures(orf_lrf.Parameters(entries=8, priced_entries=3))
    assert [structure.entries for structure in priced] == [None, 3, 1]


@settings(max_examples=40, deadline=None)
@given(runs())
def test_a_cache_that_waits_for_all_loads_waits_where_strands_do(run: tuple[Kernel, Recorded]) -> None:
    """One rule of waiting for hardware and software (section 4.1)."""
    code, _ = run
    software, hardware = load("orf-lrf"), load("rfc")
    found = hardware.program(code, hardware.configure(waits="all")).suspends
    assert found.tolist() == software.program(code, software.configure()).suspends.tolist()
