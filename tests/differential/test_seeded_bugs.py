"""Seeded bugs in the executor and the compiler: random programs detect each of them.

A bug is detected if a program gives other results than the reference, or an error.  Programs without the affected
feature are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pytest
from tests.differential.comparing import differences, expected, run_on_device
from tests.differential.planting import Garden, in_native_code, planted
from tests.reference.generator import KERNEL, generate

from warpreg import codegen
from warpreg.analysis import liveness as liveness_module
from warpreg.analysis.accesses import accesses
from warpreg.analysis.definitions import SingleDefinitions, single_definitions
from warpreg.analysis.reconvergence import reconvergence
from warpreg.codegen import CompileOptions
from warpreg.codegen.passes import copy_propagation
from warpreg.codegen.regalloc import first_fit, spill
from warpreg.codegen.schedule import dependence_graph
from warpreg.ir.errors import WarpregError
from warpreg.ir.opcodes import cross_lane
from warpreg.ir.opcodes.arithmetic import bits, compare, floating, half, video
from warpreg.ir.opcodes.arithmetic.sixteen_bit import halves
from warpreg.ir.opcodes.form import Form
from warpreg.ir.types import U32
from warpreg.simt import Device
from warpreg.simt.block import block_values
from warpreg.simt.block.native_records import BlockKind
from warpreg.simt.kernel import block_compiler, compile_image, warp_steps
from warpreg.simt.lanes import float as lanes_float
from warpreg.simt.launch import launch_memory
from warpreg.simt.llvm.emitter import I32, MASK

PROGRAMS = 20
"""Programs that touch the bug, in which it must be caught."""
SEEDS = range(2000, 2200)

FEW_REGISTERS = CompileOptions(max_registers=16, schedule=False)


@dataclass(frozen=True)
class Bug:
    """``touches`` is a pattern in the text of programs that can show it; ``options`` None runs virtual registers."""

    plant: Callable[[Garden], None]
    touches: str = "."
    options: CompileOptions | None = None


def subtraction_swaps_its_operands(g: Garden) -> None:
    g.meaning("sub", lambda old: lambda m, f, a, b, *carry: old(m, f, b, a, *carry))


def shift_amounts_wrap(g: Garden) -> None:
    g.set(bits, "amount", lambda m, f, n: m.and_(bits.resized(m, n, f.bits), m.constant(f.bits, f.bits - 1)))


def signed_comparison_is_unsigned(g: Garden) -> None:
    g.set(compare, "less", lambda m, f, a, b: m.ult(a, b))


def carry_is_lost(g: Garden) -> None:
    def forget(old: Callable[..., Any]) -> Callable[..., Any]:
        def meaning(m: Any, f: Any, *operands: Any) -> Any:
            result = old(m, f, *operands)
            return (result[0], m.constant(1, 0)) if isinstance(result, tuple) else result

        return meaning

    for opcode in ("addc", "subc", "mad", "madc"):
        g.meaning(opcode, forget)


def high_product_is_unsigned(g: Garden) -> None:
    def unsigned(old: Callable[..., Any]) -> Callable[..., Any]:
        def meaning(m: Any, f: Any, *operands: Any) -> Any:
            if "hi" not in f.modifiers or not f.signed or f.bits == 64:
                return old(m, f, *operands)
            wide = m.mul(*(m.zext(x, 2 * f.bits) for x in operands[:2]))
            return m.trunc(m.lshr(wide, m.constant(2 * f.bits, f.bits)), f.bits)

        return meaning

    g.meaning("mul", unsigned)


def ftz_is_forgotten(g: Garden) -> None:
    g.set(floating, "flushed", lambda m, f, a: a)


def nan_keeps_its_payload(g: Garden) -> None:
    g.set(floating, "canonical", lambda m, a: a)


def rounding_mode_is_ignored(g: Garden) -> None:
    g.set(Form, "rounding", property(lambda f: "rn"))


def saturation_lets_negative_numbers_through(g: Garden) -> None:
    one = floating.number
    g.set(
        floating,
        "saturated",
        lambda m, a: m.select(m.fcmp("olt", one(m, m.width(a), 1.0), a), one(m, m.width(a), 1.0), a),
    )


def unsigned_numbers_convert_as_signed(g: Garden) -> None:
    old = lanes_float.VectorLanes.int_to_float
    g.set(lanes_float.VectorLanes, "int_to_float", lambda self, a, is_signed, *rest: old(self, a, True, *rest))


def bytes_are_permuted_without_signs(g: Garden) -> None:
    g.meaning("prmt", lambda old: lambda m, f, a, b, c: old(m, f, a, b, m.and_(c, m.constant(32, 0x7777))))


def shuffle_takes_the_next_lane(g: Garden) -> None:
    g.meaning("shfl", lambda old: lambda m, f, on, a, b, *rest: old(m, f, on, a, m.add(b, m.constant(32, 1)), *rest))


def votes_count_inactive_lanes(g: Garden) -> None:
    g.meaning("vote", lambda old: lambda m, f, active, *rest: old(m, f, m.constant(1, 1), *rest))


def inactive_lanes_are_written(g: Garden) -> None:
    old = block_values.BlockValues.flush

    def flush(self: block_values.BlockValues, kept: Any) -> None:
        self.mask = self.code.const(I32, 0xFFFFFFFF)
        self.active = self.mask.bitcast(MASK)
        old(self, kept)

    g.set(block_values.BlockValues, "flush", flush)


def guards_are_never_negated(g: Garden) -> None:
    old = block_compiler.Body.guard

    def guard(self: Any, instruction: Any, pc: int) -> Any:
        plain = replace(instruction.guard, negated=False) if instruction.guard else None
        return old(self, replace(instruction, guard=plain), pc)

    g.set(block_compiler.Body, "guard", guard)


def narrow_values_lose_their_sign(g: Garden) -> None:
    old = block_values.BlockValues.resized
    g.set(block_values.BlockValues, "resized", lambda self, value, width, signed: old(self, value, width, False))


def lanes_never_meet_again(g: Garden) -> None:
    g.set(compile_image, "reconvergence", lambda kernel: (-1,) * len(kernel.blocks))


def lanes_meet_one_block_too_late(g: Garden) -> None:
    old = reconvergence
    g.set(compile_image, "reconvergence", lambda kernel: tuple(old(kernel)[b] if b >= 0 else b for b in old(kernel)))


@in_native_code
def branch_runs_the_other_side_with_all_lanes(g: Garden) -> None:
    old = warp_steps._diverge
    g.set(
        warp_steps,
        "_diverge",
        lambda c, s, target, fall, taken, stay, meet: old(c, s, target, fall, taken | stay, stay, meet),
    )


def barriers_let_warps_pass(g: Garden) -> None:
    old = compile_image._end

    def end(block: Any) -> Any:
        kind, target, fall = old(block)
        return (BlockKind.GOTO, fall, fall) if kind == BlockKind.BARRIER else (kind, target, fall)

    g.set(compile_image, "_end", end)


@in_native_code
def atomic_maximum_takes_the_minimum(g: Garden) -> None:
    g.update("max", lambda old: lambda m, f, a, b: m.select(m.eq(old(m, f, a, b), a), b, a))


def partial_warps_miss_their_last_lane(g: Garden) -> None:
    old = launch_memory._threads

    def threads(block: Any) -> Any:
        indices, masks = old(block)
        masks = masks.copy()
        masks[masks != 0xFFFFFFFF] >>= 1
        return indices, masks

    g.set(launch_memory, "_threads", threads)


def scheduler_ignores_memory(g: Garden) -> None:
    g.set(dependence_graph, "_access", lambda graph, spaces, instruction, i: None)


def spilled_values_share_a_place(g: Garden) -> None:
    g.set(spill, "align", lambda offset, alignment: 64)


def guarded_writes_end_the_old_value(g: Garden) -> None:
    old = accesses
    g.set(liveness_module, "accesses", lambda kernel: replace(old(kernel), guards=(None,) * len(old(kernel).guards)))


class _Everything(SingleDefinitions):
    def __contains__(self, name: str) -> bool:
        return True


def copies_outlive_their_source(g: Garden) -> None:
    old = single_definitions
    g.set(copy_propagation, "single_definitions", lambda kernel: _Everything(old(kernel).defining, old(kernel).reads))


def high_half_of_a_pair_is_not_reserved(g: Garden) -> None:
    old = first_fit.Assignment._occupy

    def occupy(self: Any, unit: Any, base: int) -> None:
        old(self, unit, base)
        for offset, live in unit.words.items():
            if offset:
                self._occupied[base + offset] &= ~live.since(self._origin)

    g.set(first_fit.Assignment, "_occupy", occupy)


def pairs_take_the_lower_half_twice(g: Garden) -> None:
    old = halves
    g.set(half, "halves", lambda m, a: (old(m, a)[0],) * 2)


def parts_of_registers_lose_their_sign(g: Garden) -> None:
    old = video.source
    g.set(video, "source", lambda m, f, index, a, type_: old(m, f, index, a, U32))


def the_second_lane_is_elected(g: Garden) -> None:
    def second(m: Any, members: Any) -> Any:
        return m.and_(members, m.sub(members, m.constant(32, 1)))

    g.meaning("elect", lambda old: lambda m, f, active, members: old(m, f, active, second(m, members)))


def a_lane_does_not_match_itself(g: Garden) -> None:
    old = cross_lane.equal_lanes

    def match(meaning: Callable[..., Any]) -> Callable[..., Any]:
        def changed(m: Any, f: Any, active: Any, a: Any, members: Any) -> Any:
            if not f.has("any"):
                return meaning(m, f, active, a, members)
            return m.xor(old(m, f, active, a, members), m.shl(m.constant(32, 1), m.lane_ids()))

        return changed

    g.meaning("match", match)


STORED_THEN_LOADED = r" st[\w.]* \[(\S+?)\+\d+\], \S+;\n(?:.*\n){0,2} *ld[\w.]* [%\w]+, \[\1\+"

BUGS = [
    Bug(subtraction_swaps_its_operands, r" sub\."),
    Bug(shift_amounts_wrap, r" sh[lr]\..*(33|6[345]|255);"),
    Bug(signed_comparison_is_unsigned, r"set.*\.s\d\d"),
    Bug(carry_is_lost, r" (addc|subc|mad|madc)\..*\.?cc\."),
    Bug(high_product_is_unsigned, r" mul\.hi\.s(16|32)"),
    Bug(ftz_is_forgotten, r"\.ftz"),
    Bug(nan_keeps_its_payload, r" (add|sub|mul|fma|div)\.r"),
    Bug(rounding_mode_is_ignored, r"\.(rz|rm|rp)\."),
    Bug(saturation_lets_negative_numbers_through, r"\.sat\.f32"),
    Bug(unsigned_numbers_convert_as_signed, r"cvt\.r.*\.f\d\d\.u"),
    Bug(bytes_are_permuted_without_signs, r"prmt\.b32 "),
    Bug(shuffle_takes_the_next_lane, r"shfl"),
    Bug(votes_count_inactive_lanes, r"vote\."),
    Bug(inactive_lanes_are_written),
    Bug(guards_are_never_negated, r"@!%p"),
    Bug(narrow_values_lose_their_sign, r"ld.*\.s(8|16)"),
    Bug(lanes_never_meet_again, r"shfl|vote|bar\.red"),
    Bug(lanes_meet_one_block_too_late, r"vote|bar\.red|shfl"),
    Bug(branch_runs_the_other_side_with_all_lanes),
    Bug(barriers_let_warps_pass, r"rem\.u32 (%t\d+), \1, \d+;\n.*mul\.lo"),
    Bug(pairs_take_the_lower_half_twice, r" (add|mul|min|fma)\.[\w.]*f16x2"),
    Bug(parts_of_registers_lose_their_sign, r" v(add|sub|min|max|absdiff|set|mad)\.[\w.]*s32"),
    Bug(the_second_lane_is_elected, r"elect\."),
    Bug(a_lane_does_not_match_itself, r"match\.any"),
    Bug(atomic_maximum_takes_the_minimum, r"\.max\..*\["),
    Bug(partial_warps_miss_their_last_lane),
    Bug(scheduler_ignores_memory, STORED_THEN_LOADED, CompileOptions()),
    Bug(spilled_values_share_a_place, options=FEW_REGISTERS),
    Bug(guarded_writes_end_the_old_value, r"@!?%p", CompileOptions()),
    Bug(copies_outlive_their_source, options=CompileOptions()),
    Bug(high_half_of_a_pair_is_not_reserved, options=CompileOptions()),
]


def is_caught(bug: Bug, seed: int) -> bool:
    """Whether the program of a seed shows the bug."""
    case, wanted = expected(seed)
    try:
        device = Device(case.text, options=None)
        kernel = codegen.build_kernel(device.module, KERNEL)
        device.install(codegen.compile(kernel, bug.options) if bug.options else kernel)
        return differences(case, run_on_device(case, device), wanted) != []
    except WarpregError:
        return True


@cache
def text_of(seed: int) -> str:
    return generate(seed).text


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.plant.__name__)
def test_bug_is_caught(bug: Bug) -> None:
    touching = [seed for seed in SEEDS if re.search(bug.touches, text_of(seed))][:PROGRAMS]
    with planted(bug.plant):
        assert any(is_caught(bug, seed) for seed in touching)


@pytest.mark.slow
def test_without_a_bug_nothing_is_caught() -> None:
    assert not is_caught(Bug(lambda garden: None), SEEDS[0])
    assert not is_caught(Bug(lambda garden: None, options=FEW_REGISTERS), SEEDS[1])
