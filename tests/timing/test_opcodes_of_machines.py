"""Opcodes whose timing differs from that of their pipe (docs/reference/timing.md, "Opcodes")."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.kernels import kernel
from tests.gpu.test_machine import edited, refusal
from tests.timing.assembly import assemble
from tests.timing.both_cores import agreed
from tests.timing.launches import FULL, Launched, WarpPath
from tests.timing.random_runs import Case
from tests.timing.random_runs import cases as plain_cases
from tests.timing.reference.instruction import Access
from tests.timing.reference.machine import PIPES, Opcode, Pipe
from tests.timing.test_read_window import cases as window_cases
from tests.timing.test_read_window import coded, sub_cores
from tests.timing.vocabulary import Timed

from warpreg.gpu import load
from warpreg.gpu.opcodes import OpcodeTiming, timing_of
from warpreg.ir.control_code import ControlCode
from warpreg.timing.errors import TimingError

PIPES_OF_TWO_CYCLES = {name: Pipe(queue=5, lead=5) if name in ("mem", "tex", "sfu") else Pipe(initiation=2)
                       for name in PIPES}  # fmt: skip


def run(lines: list[str], opcodes: dict[str, Opcode], *accesses: Access, code: ControlCode | None = None) -> Timed:
    """Straight code of one warp on a sub-core whose pipes take an instruction every other cycle."""
    own = kernel([assemble(line) if code is None else coded(line, code) for line in lines])
    path = WarpPath(((0, FULL),), accesses)
    return agreed(Launched(own, ((path,),)), sub_cores(opcodes=opcodes, pipes=PIPES_OF_TWO_CYCLES))


def test_a_chain_has_the_latency_of_its_opcode() -> None:
    """Nine cycles in place of the four of pipe ``int``."""
    chain = ["mul.hi.s32 R1, R1, R2"] * 5
    run(chain, {}).warp(0).issues().every(4, first=1)
    run(chain, {"mul": Opcode(latency=9)}).warp(0).issues().every(9, first=1)


def test_an_opcode_keeps_its_unit_for_its_own_interval() -> None:
    """Independent multiplications every four cycles; others of the pipe every two."""
    own = {"mul": Opcode(initiation=4)}
    run([f"mul.hi.s32 R{n}, R2, R3" for n in range(5, 10)], own).warp(0).issues().every(4, first=1)
    run([f"add.s32 R{n}, R2, R3" for n in range(5, 10)], own).warp(0).issues().every(2, first=1)


def test_an_opcode_of_another_pipe_does_not_wait_for_the_first() -> None:
    """Multiplications on the pipe of floating point: two pipes of an instruction every two cycles issue every cycle."""
    lines = [line for n in range(5, 10) for line in (f"add.s32 R{n}, R2, R3", f"mul.lo.s32 R{n + 10}, R2, R3")]
    run(lines, {}).warp(0).issues().every(2, first=1)
    run(lines, {"mul": Opcode(pipe="fp")}).warp(0).issues().every(1, first=1)


@pytest.mark.parametrize(("latency", "cycles"), [(None, 5 + 4 + 10), (42, 5 + 4 + 42)])
def test_what_shared_memory_answers_may_take_its_own_time(latency: int | None, cycles: int) -> None:
    """An atomic leaves its queue after 5 cycles, and has four cycles of conflicts."""
    lines = ["atom.shared.add.u32 R1, [R0], R2", "mov.u32 R3, R1"]
    timed = run(lines, {"atom-shared": Opcode(latency=latency)} if latency else {}, Access(FULL, "shared", 4))
    timed.warp(0).issues("mov").at(1 + cycles)


def test_an_opcode_with_a_counter_has_a_variable_latency() -> None:
    """It goes to the queue of ``sfu``, whose lead is 5 cycles, and takes 33 more."""
    lines = [coded("mul.hi.s32 R1, R2, R3", ControlCode(stall=2, write=0))]
    lines += [coded("mov.u32 R4, R1", ControlCode(waits=1))]
    sm = sub_cores(opcodes={"mul": Opcode(latency=33)}, pipes=PIPES_OF_TWO_CYCLES)
    agreed(Launched(kernel(lines), ((WarpPath(((0, FULL),)),),)), sm).warp(0).issues().at(1, 1 + 5 + 33)


def test_the_entry_with_most_modifiers_counts() -> None:
    slow, idx, wide = OpcodeTiming(latency=9), OpcodeTiming(latency=5), OpcodeTiming(latency=7)
    opcodes = {"SHFL": slow, "SHFL-IDX": idx, "IMAD-WIDE-U32": wide}
    assert timing_of(opcodes, "SHFL", ("BFLY",)) is slow
    assert timing_of(opcodes, "SHFL", ("IDX",)) is idx
    assert timing_of(opcodes, "IMAD", ("WIDE", "U32")) is wide
    assert timing_of(opcodes, "IMAD", ("WIDE",)) == OpcodeTiming()


def test_a_file_may_name_opcodes(tmp_path: Path) -> None:
    entry = '[opcodes.SHFL-IDX]\nlatency = { value = 15, unit = "cycles", source = "here" }\n\n[load_store]'
    machine = load(edited(tmp_path, "[load_store]", entry))
    assert machine.opcodes == {"SHFL-IDX": OpcodeTiming(latency=15)}
    assert str(machine.origins["opcodes.SHFL-IDX.latency"]) == "here"


def test_another_pipe_is_for_arithmetic_only(tmp_path: Path) -> None:
    message = "opcodes.SHFL.pipe: expected one of int, fp, sfu, dp, tensor, uniform, found 'mem'"
    entry = '[opcodes.SHFL]\npipe = { value = "mem", source = "here" }\n\n[load_store]'
    assert message in refusal(edited(tmp_path, "[load_store]", entry))
    with pytest.raises(TimingError, match="machine drawn: opcodes: ld belongs to pipe mem, not int"):
        run(["ld.global.u32 R1, [R4.64]"], {"ld": Opcode(pipe="int")}, Access(FULL, "global", 0, ((0, 15),)))


def test_an_opcode_of_which_nothing_is_said_is_refused(tmp_path: Path) -> None:
    message = refusal(edited(tmp_path, "[load_store]", "[opcodes.SHFL]\n\n[load_store]"))
    assert "opcodes.SHFL: expected a pipe, a latency or an initiation interval, found nothing" in message


opcodes = st.dictionaries(
    st.sampled_from(("add", "mad", "add-f32", "atom", "ld-shared", "ld-const", "sin", "bra")),
    st.builds(
        Opcode,
        st.none() | st.sampled_from(("int", "dp", "sfu")),
        st.none() | st.integers(3, 12),
        st.none() | st.integers(1, 4),
    ),
)


@st.composite
def differing(draw: st.DrawFn) -> Case:
    case = draw(st.one_of(plain_cases, window_cases, window_cases))
    own = draw(opcodes)
    memory = {name: replace(one, pipe=None) if name[:2] in ("at", "ld", "br") else one for name, one in own.items()}
    return replace(case, sm=replace(case.sm, opcodes=memory))


@settings(max_examples=80, deadline=None)
@given(differing())
def test_both_cores_agree(case: Case) -> None:
    agreed(case.launched, case.sm, case.latency, case.interval, case.sms, case.resident)
