"""An exported run read again: equal instructions, registers, lanes and addresses."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.differential.comparing import run_on_device
from tests.reference.generator import generate
from tests.sass.text import Execution, executions, pcs
from tests.simt.recorded import accesses_of

from warpreg import api, workloads
from warpreg.codegen import CompileOptions
from warpreg.designs.parts.hints.program_table import classify
from warpreg.evaluation.runs.run import Run
from warpreg.evaluation.runs.traces import export_run
from warpreg.ir.instruction import registers_of
from warpreg.ir.operands import Operand
from warpreg.ptx import parse
from warpreg.sass.errors import SassTraceError
from warpreg.sass.reader import RecordedLaunch, read_recording
from warpreg.simt import Device, Launch, Record
from warpreg.timing.feed.memory_sites import step_bytes
from warpreg.trace import visits

RECORD = Record(path=True, addresses=True)
UNADDRESSED = frozenset({"tex", "tld4", "suld", "sust", "sured"})


def again(launches: tuple[Launch, ...], folder: Path) -> list[tuple[Launch, RecordedLaunch]]:
    """Each launch with itself as read from its export."""
    read = read_recording(export_run(Run("exported", launches), folder)).launches
    return list(zip(launches, read, strict=True))


def words(operands: tuple[Operand, ...], most: int) -> list[int]:
    """Registers of the first ``most`` runs of neighbours that operands name."""
    found: list[list[int]] = []
    for operand in operands:
        begun = len(found)
        for register in registers_of(operand):
            if len(found) > begun and register.words and found[-1][-1] + 1 == register.words[0]:
                found[-1] += register.words
            elif register.words:
                found.append(list(register.words))
    return [word for run in found[:most] for word in run]


def expect_same(launch: Launch, read: RecordedLaunch) -> None:
    kernel, found = launch.kernel, executions(read)
    assert read.warp_instructions == launch.warp_instructions
    accesses = iter(accesses_of(launch))
    instructions = list(kernel.instructions())
    first = kernel.first_pcs()
    done: dict[tuple[int, int], int] = {}
    assert launch.trace is not None
    for visit in visits(launch.trace.path_chunks()):
        for pc in range(first[visit.block], first[visit.block + 1]):
            instruction, warp = instructions[pc], (visit.thread_block, visit.warp)
            mine = found[warp][done.get(warp, 0)]
            done[warp] = done.get(warp, 0) + 1
            assert mine.pc == 16 * pc
            if instruction.guard is None:
                assert mine.active == visit.mask
            if step_bytes(instruction):
                access = next(accesses)
                lanes = tuple(int(access.addresses[lane]) for lane in range(32) if access.mask >> lane & 1)
                if instruction.opcode not in UNADDRESSED and "const" not in instruction.modifiers:
                    assert mine == Execution(16 * pc, mine.active, access.mask, lanes)
    assert done == {warp: len(steps) for warp, steps in found.items()}
    for instruction, pc in zip(read.kernel.instructions(), pcs(read.kernel), strict=True):
        original = instructions[pc // 16]
        assert words(instruction.results, 1) == words(original.results, 1), original
        assert words(instruction.sources, 4) == words(original.sources, 4), original


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_random_programs_come_back(tmp_path: Path, seed: int) -> None:
    case = generate(seed, 25)
    device = Device(parse(case.text), CompileOptions(), RECORD)
    run_on_device(case, device)
    for launch, read in again(tuple(device.launches), tmp_path):
        expect_same(launch, read)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bfs", "histogram"])
def test_workloads_come_back(tmp_path: Path, name: str) -> None:
    workload = workloads.find(name)
    device = Device(workload.module(), CompileOptions(), RECORD)
    workload.problem("tiny", 0).run(device)
    for launch, read in again(tuple(device.launches)[:6], tmp_path):
        expect_same(launch, read)


def test_units_of_a_compiled_kernel_survive(tmp_path: Path) -> None:
    workload = workloads.find("hotspot")
    device = Device(workload.module(), CompileOptions(), RECORD)
    workload.problem("tiny", 0).run(device)
    launch, read = again(tuple(device.launches)[:1], tmp_path)[0]
    instructions = list(launch.kernel.instructions())
    for instruction, pc in zip(read.kernel.instructions(), pcs(read.kernel), strict=True):
        original = instructions[pc // 16]
        assert classify(instruction) == classify(original), (str(instruction), str(original))


def test_a_run_without_addresses_is_not_exported(tmp_path: Path) -> None:
    run = api.run("vector-add")
    with pytest.raises(SassTraceError, match="addresses were not recorded"):
        export_run(run, tmp_path)
