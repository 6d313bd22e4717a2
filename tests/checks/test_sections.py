"""Code with acquires and releases gives the results of the plain kernel, and wrong code is detected."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.checks.test_placement_check import EMPTY, FORMS
from tests.codegen import random_code
from tests.designs.kernels import kernel, op, r
from tests.simt.test_calls import SUM_TO, call

from warpreg import codegen, ptx
from warpreg.checks.corruption import trials
from warpreg.checks.placement_check import check_placement
from warpreg.codegen import CompileOptions
from warpreg.designs import load
from warpreg.designs.parts.sharing.check import checked_division
from warpreg.designs.parts.sharing.division import Division, divided
from warpreg.designs.parts.sharing.instructions import acquire, release
from warpreg.designs.parts.sharing.states import DivisionError
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.module import Module
from warpreg.simt import Device, TaintFault


def same_memory(module: Module, code: Kernel, found: Division, seed: int) -> bool:
    """Whether the compiled code, whose lost registers are poisoned, leaves the memory that the kernel leaves."""
    checked = checked_division(code, found)
    assert checked.findings() == []

    class Tainted(Device):
        def install(self, kernel: Kernel, _: Any = None) -> None:
            super().install(kernel, checked.taints)

    return random_code.memory_of(module, found.kernel, seed, Tainted) == random_code.memory_of(module, code, seed)


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(st.integers(0, 100_000), st.integers(0, 5), st.integers(1, 6))
def test_random_kernels_leave_the_same_memory(seed: int, branches: int, halved: int) -> None:
    module = ptx.parse(random_code.text(seed, FORMS, branches=branches))
    code = codegen.translate(module, "k", CompileOptions(predicate=bool(seed % 2)))
    total = -(-code.register_count // 4) * 4
    try:
        found = divided(code, total - 2 * halved, total)
    except DivisionError:
        return
    assert same_memory(module, code, found, seed)


CALLING = f"""
.version 8.0
.target sm_75
.address_size 64
{SUM_TO}
.visible .entry k({random_code.PARAMETERS})
{{
.reg .b64 %rd<8>; .reg .b32 %r<32>; .reg .pred %p<4>;
mov.u32 %r20, %tid.x; ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
mul.wide.u32 %rd3, %r20, 32; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
{"".join(f"ld.global.u32 %r{i}, [%rd4+{4 * i}];" for i in range(8))}
setp.lt.s32 %p0, %r0, %r1;
@%p0 sub.s32 %r0, %r1, %r0;
and.b32 %r21, %r0, 3;
{call("sum_to", "%r21", "%r8")}
bar.sync 0;
LOOP:
{"".join(f"mad.lo.s32 %r{9 + i}, %r{i}, %r{i + 1}, %r8;" for i in range(7))}
add.s32 %r0, %r0, %r9;
sub.s32 %r21, %r21, 1; setp.ge.s32 %p1, %r21, 0;
@%p1 bra LOOP;
{"".join(f"xor.b32 %r{i}, %r{i}, %r{9 + i};" for i in range(7))}
st.global.u32 [%rd5], %r0;
setp.gt.s32 %p2, %r2, %r3;
@%p2 exit;
{"".join(f"mad.lo.s32 %r{10 + i}, %r{i}, %r{i}, %r8; st.global.u32 [%rd5+{4 * i}], %r{10 + i};" for i in range(1, 8))}
ret;
}}
"""
"""A recursive call, a guarded write, a barrier in front of a loop whose lanes leave at different times, and an exit of
some lanes."""


@pytest.mark.slow
@pytest.mark.parametrize("predicate", [False, True])
def test_calls_loops_and_early_exits_leave_the_same_memory(predicate: bool) -> None:
    """For each base set with which the code can be compiled; with the smallest ones, most of it holds a section."""
    module = ptx.parse(CALLING)
    code = codegen.translate(module, "k", CompileOptions(predicate=predicate))
    total = -(-code.register_count // 4) * 4
    compiled = edges = 0
    for base in range(total - 8, total, 2):
        try:
            found = divided(code, base, total)
        except DivisionError:
            continue
        compiled += found.acquires > 0
        edges += len(found.kernel.blocks) > len(code.blocks)
        assert same_memory(module, code, found, 1)
    assert compiled > 1
    assert edges > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bfs", "reduction"])
def test_workloads_leave_the_same_memory(name: str) -> None:
    check_placement(name, "tiny", "regmutex")


@pytest.mark.slow
def test_corruptions_are_caught_or_equivalent() -> None:
    found = list(trials(["bfs", "matrix-mul"], 14, "regmutex"))
    assert all(trial.message or trial.equivalent for trial in found)
    assert sum(bool(trial.message) for trial in found) >= 0.95 * len(found)
    assert len({trial.corruption.kind for trial in found}) == 4


def run(*code: Instruction) -> None:
    """Run code with a base set of two registers of four."""
    whole = kernel([*code, op("ret")])
    device = Device(EMPTY)
    division = Division(whole, tuple(range(len(code) + 1)), 2, 4)
    device.install(whole, checked_division(replace(whole, analyses={}), division).taints)
    device.launch("hand", 1, 32)


WRITE, READ = op("mov.b32", r(2), 1), op("mov.b32", r(0), r(2))


def test_a_section_keeps_what_is_written_until_it_is_released() -> None:
    run(acquire(4), WRITE, READ, release(2), op("mov.b32", r(1), r(0)))


def test_a_repeated_acquire_keeps_it_too() -> None:
    """Nothing happens at the second one; a released section that is acquired again is another one."""
    run(acquire(4), WRITE, acquire(4), READ, release(2), release(2))


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ((WRITE,), "writes R2, and the warp holds no section"),
        ((READ,), "reads R2, and the warp holds no section"),
        ((acquire(4), READ), "reads R2, which was lost with its section"),
        ((acquire(4), WRITE, release(2), READ), "reads R2, and the warp holds no section"),
        ((acquire(4), WRITE, release(2), acquire(4), READ), "reads R2, which was lost with its section"),
    ],
)
def test_what_is_not_in_a_section_of_the_warp_is_a_fault(code: tuple[Instruction, ...], message: str) -> None:
    with pytest.raises(TaintFault, match=message):
        run(*code)


def test_a_section_held_at_a_barrier_is_a_fault() -> None:
    whole = kernel([acquire(4), WRITE, op("bar.sync", 0)], [op("ret")])
    device = Device(EMPTY)
    device.install(whole, checked_division(whole, Division(whole, (0, 1, 2, 3), 2, 4)).taints)
    with pytest.raises(TaintFault, match=r"'bar\.sync 0': may wait for another warp, and the warp holds a section"):
        device.launch("hand", 1, 32)


def test_sizes_by_rule_are_verified_with_the_largest_candidate() -> None:
    """Of 12 registers, 2 and 4 are candidates; the code has a base set of 8."""
    six = [op("mov.b32", r(i), i) for i in range(12)]
    code = kernel([*six, *(op("add.s32", r(0), r(0), r(i)) for i in range(1, 12)), op("ret")])
    design = load("regmutex")
    checked = design.checked(design.program(code, design.configure()), design.configure(), code)
    assert "setmaxnreg.dec.sync.aligned.u32 8" in map(str, checked.kernel.instructions())
