"""Placed kernels give the results of plain ones, and invalid placements are detected."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.codegen import random_code
from tests.designs.kernels import kernel, op, p, pair, r, when
from tests.differential.comparing import run_on_device
from tests.reference.generator import generate

from warpreg import codegen, ptx
from warpreg.checks.corruption import MRF_DROPPED, READ_PLACE, Corruption, possible, trials
from warpreg.checks.placement_check import (
    CheckingDevice,
    PlacementError,
    Reference,
    check_placement,
    checking,
    placing,
)
from warpreg.codegen import CompileOptions
from warpreg.designs import Program, load, program_table
from warpreg.designs.parts.placement.check import findings
from warpreg.designs.parts.placement.expand import expanded
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.module import Module
from warpreg.ir.operands import Label, Special
from warpreg.simt import Device, TaintFault

DESIGN = load("orf-lrf")
FORMS = (
    *random_code.SUMS,
    *random_code.LOGIC,
    *random_code.TESTS,
    *random_code.PRODUCTS,
    "mul.wide.s32 %rd9, {a}, {b}; cvt.u32.u64 {d}, %rd9;",
    "add.s64 %rd9, %rd9, %rd3; cvt.u32.u64 {d}, %rd9;",
    "ld.global.u32 {d}, [%rd4+4];",
    "shfl.sync.idx.b32 {d}, {a}, 3, 31, -1;",
    "membar.cta;",
)
parameters = st.fixed_dictionaries(
    {
        "entries": st.integers(0, 5),
        "lrf": st.sampled_from(["none", "unified", "split"]),
        "partial": st.sampled_from(["none", "immediate", "after"]),
        "operands": st.booleans(),
        "both": st.booleans(),
        "flush_when_descheduled": st.booleans(),
        "flush_at_backward_branches": st.booleans(),
        "flush_at_barriers": st.booleans(),
    }
)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(st.integers(0, 100_000), st.integers(0, 5), parameters)
def test_random_kernels_leave_the_same_memory(seed: int, branches: int, chosen: dict[str, Any]) -> None:
    module = ptx.parse(random_code.text(seed, FORMS, branches=branches))
    code = codegen.translate(module, "k", CompileOptions(predicate=bool(seed % 2)))
    program = placing(DESIGN, **chosen)(code)
    changed = expanded(code, program, DESIGN.levels)
    assert findings(code, program) == []
    assert _memory(module, changed.kernel, seed, changed.taints) == random_code.memory_of(module, code, seed)


def _memory(module: Module, code: Kernel, seed: int, taints: Any) -> bytes:
    class Tainted(Device):
        def install(self, kernel: Kernel, _: Any = None) -> None:
            super().install(kernel, taints)

    return random_code.memory_of(module, code, seed, Tainted)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(300, 302))
def test_generated_programs_compute_the_same(seed: int) -> None:
    case = generate(seed, 20)
    plain = run_on_device(case, Device(case.text))
    device = CheckingDevice(ptx.parse(case.text), placing(DESIGN), checking(DESIGN), CompileOptions())
    assert run_on_device(case, device) == plain


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bfs", "reduction"])
def test_workloads_leave_the_same_memory(name: str) -> None:
    check_placement(name, "tiny", "orf-lrf")


EMPTY = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry hand() { ret; }\n"


def test_lanes_that_wait_may_not_rely_on_what_the_others_make_the_warp_lose() -> None:
    """The side that falls through waits for a load; without the boundary at its start the other side would find R1 in
    an entry that another warp may have had meanwhile."""
    code = kernel(
        [
            op("mov.u32", r(0), Special("%laneid")),
            op("mov.u64", pair(2), 1 << 32),
            op("add.s32", r(1), r(0), 5),
            op("setp.lt.u32", p(0), r(0), 16),
            when(p(0), op("bra", Label("side"))),
        ],
        [op("mov.u32", r(4), 7), op("bar.warp.sync", -1)],
        [op("membar.cta"), op("add.s32", r(5), r(4), 1), op("bra", Label("end"))],
        [op("add.s32", r(6), r(1), 1), op("mov.u32", r(7), r(6))],
        [op("ret")],
        successors=((3, 1), (2,), (4,), (4,), ()),
    )
    program = placing(DESIGN, lrf="none")(code)
    assert program.strand_start[10] != 0
    without = program._replace(
        strand_start=_at(program.strand_start, 10, 0),
        source_level=_at(program.source_level, int(program.source_start[10]), 1),
        source_entry=_at(program.source_entry, int(program.source_start[10]), 2),
        result_level=_at(program.result_level, int(program.result_start[2]), 1),
        result_entry=_at(program.result_entry, int(program.result_start[2]), 2),
    )
    assert findings(code, without) == []
    device = Device(EMPTY)
    changed = expanded(code, without, DESIGN.levels)
    device.install(changed.kernel, changed.taints)
    with pytest.raises(TaintFault, match=r"thread \(0,0,0\), instruction 'add.s32 ORF0, ORF2, 1': reads R1 from ORF 2"):
        device.launch("hand", 1, 32)


def _at(column: Any, row: int, value: int) -> Any:
    changed = column.copy()
    changed[row] = value
    return changed


@pytest.fixture(scope="module")
def reference() -> Reference:
    return Reference.of("vector-add", "tiny")


def test_a_dropped_write_of_the_mrf_is_found_at_its_first_read(reference: Reference) -> None:
    code = reference.launches[0].kernel
    right = placing(DESIGN)(code)
    table = program_table(code)
    row = next(
        row
        for row in range(table.result.size)
        if not right.mrf_elided[row] and int(table.result[row]) in table.source[right.source_level == 0].tolist()
    )
    with pytest.raises(TaintFault, match=r"vector_add.*reads R\d+ from the register file, which need not hold it"):
        reference.check(lambda kernel: Corruption(MRF_DROPPED, row, (0, 0)).apply(right), checking(DESIGN))


def test_other_memory_is_found(reference: Reference) -> None:
    spoilt = Reference(
        reference.workload, "tiny", 0, reference.options, dict.fromkeys(reference.memory, b""), reference.launches
    )
    with pytest.raises(PlacementError, match="vector-add: output 'c' differs from that of the plain kernel"):
        spoilt.check(placing(DESIGN), checking(DESIGN))


def test_corruptions_change_one_operand(reference: Reference) -> None:
    code = reference.launches[0].kernel
    right = placing(DESIGN)(code)
    for corruption in possible(right, reference.launches[0].block_visits):
        wrong: Program = corruption.apply(right)
        changed = [name for name in Program._fields if not _same(getattr(wrong, name), getattr(right, name))]
        assert changed
        assert all(int((getattr(wrong, name) != getattr(right, name)).sum()) == 1 for name in changed)
        assert (corruption.kind == READ_PLACE) == any(name.startswith("source_") for name in changed)


def _same(one: Any, other: Any) -> bool:
    return bool((one == other).all()) if hasattr(one, "all") else bool(one == other)


@pytest.mark.slow
def test_corruptions_are_caught_or_equivalent() -> None:
    found = list(trials(["vector-add", "reduction"], 16))
    assert all(trial.message or trial.equivalent for trial in found)
    assert sum(bool(trial.message) for trial in found) >= 0.9 * len(found)


WINDOW = load("bow-wr")


@pytest.mark.slow
@settings(max_examples=5, deadline=None)
@given(st.integers(0, 100_000), st.integers(0, 5), st.integers(2, 7), st.booleans())
def test_random_kernels_find_their_values_in_the_window(seed: int, branches: int, window: int, after: bool) -> None:
    module = ptx.parse(random_code.text(seed, FORMS, branches=branches))
    code = codegen.translate(module, "k", CompileOptions(predicate=bool(seed % 2)))
    chosen: dict[str, Any] = {"window": window, "eviction": "after" if after else "before"}
    checked = checking(WINDOW, **chosen)(code, placing(WINDOW, **chosen)(code))
    assert checked.findings() == []
    assert _memory(module, code, seed, checked.taints) == random_code.memory_of(module, code, seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bfs", "reduction"])
def test_workloads_find_their_values_in_the_window(name: str) -> None:
    check_placement(name, "tiny", "bow-wr")


def in_the_window(*between: Instruction) -> None:
    """R1 is written to the collector only, and read after some instructions, with a window of 3."""
    code = kernel([op("mov.b32", r(1), 1), *between, op("mov.b32", r(2), r(1)), op("ret")])
    program = placing(WINDOW)(code)
    row = int(np.flatnonzero(program.result == 1)[0])
    wrong = program._replace(mrf_elided=_at(program.mrf_elided, row, 1), result_level=_at(program.result_level, row, 1))
    device = Device(EMPTY)
    device.install(code, checking(WINDOW)(code, wrong).taints)
    device.launch("hand", 1, 32)


def test_a_value_that_has_left_the_window_unsaved_is_a_fault() -> None:
    other = op("mov.b32", r(3), 0)
    in_the_window(other)
    with pytest.raises(TaintFault, match=r"thread \(0,0,0\), instruction 'mov.b32 R2, R1': reads R1, which has left"):
        in_the_window(other, other)


@pytest.mark.slow
def test_corrupted_bits_are_caught_or_equivalent() -> None:
    found = list(trials(["vector-add", "reduction"], 16, "bow-wr"))
    assert all(trial.message or trial.equivalent for trial in found)
    assert sum(bool(trial.message) for trial in found) >= 0.9 * len(found)
