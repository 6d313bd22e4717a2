"""Traces joined with listings: control codes and reuse flags by kernel and pc, and what is told where they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.machine_code.test_listings import FOLDER, MODULE, lifted, sample
from tests.sass.text import Execution, executions, line, pcs, write_trace
from tests.trace.address_decoder import AddressDecoder

import warpreg
from warpreg.codegen import CompileOptions
from warpreg.evaluation.runs.run import Run
from warpreg.evaluation.runs.traces import export_run
from warpreg.ir.control_code import ControlCode
from warpreg.ir.instruction import Instruction, registers_of
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Register
from warpreg.machine_code.errors import MachineCodeError
from warpreg.machine_code.joining import joined
from warpreg.sass.errors import SassTraceError
from warpreg.sass.reader import RecordedLaunch, read_recording
from warpreg.simt import Device, Launch, Record
from warpreg.timing.core import access_record
from warpreg.timing.feed.memory_sites import access_kinds, memory_sites, step_bytes
from warpreg.trace import visits

CODE = (
    ("S2R R6, SR_CTAID.X", ControlCode(stall=4, write=0)),
    ("IMAD.WIDE R2, R6.reuse, R7.reuse, c[0x0][0x160]", ControlCode(stall=2)),
    ("FFMA R0, -R4, 2, |R6.reuse|", ControlCode(stall=4, yields=True, waits=0b101)),
    ("SHFL.BFLY PT, R9, R6, 0x10, 0x1f", ControlCode(stall=1, write=2)),
    ("LDG.E R4, desc[UR4][R2.64+0x8]", ControlCode(stall=4, write=2)),
    ("IADD3 R5, P0, R4, RZ, R0.reuse", ControlCode(stall=3)),
    ("LDC R8, c[0x3][R5]", ControlCode(stall=4, write=1)),
    ("STG.E [R2.64], R5", ControlCode(stall=1, read=3)),
    ("@!PT LDS RZ, [RZ]", ControlCode(stall=1)),
    ("EXIT", ControlCode(stall=5)),
)
"""Instructions of sm_80 with their control codes."""

TRACED = (
    line(0x00, "R6 <- S2R"),
    line(0x10, "R2 <- IMAD.WIDE R6 R7"),
    line(0x20, "R0 <- FFMA R4 R6"),
    line(0x30, "SHFL.BFLY R9 R6"),
    line(0x40, "R4 <- LDG.E R2", memory="4 1 0x1000 4"),
    line(0x50, "R5 <- IADD3 R4 R255 R0"),
    line(0x60, "R8 <- LDC"),
    line(0x70, "STG.E R2 R5", memory="4 1 0x1000 4"),
    line(0x80, "R255 <- LDS R255", mask=0, memory="4 1 0x0 0"),
    line(0x90, "EXIT"),
)
"""The lines that a tracer writes of them."""


def encoded(control: ControlCode) -> int:
    """The upper half of an encoding with this control code."""
    write, read = (7 if one is None else one for one in (control.write, control.read))
    bits = control.stall | (not control.yields) << 4 | write << 5 | read << 8 | control.waits << 11
    return bits << 41


def listing(code: Sequence[tuple[str, ControlCode]] = CODE, name: str = "_Z3foov", architecture: str = "sm_80") -> str:
    """A listing as nvdisasm prints it."""
    text = f'\t.target\t{architecture}\n\t.section\t.text.{name},"ax",@progbits\n{name}:\n'
    for number, (instruction, control) in enumerate(code):
        text += f"        /*{16 * number:04x}*/  {instruction} ;  /* 0x{number:016x} */\n"
        text += f"                    /* 0x{encoded(control):016x} */\n"
    return text


def read(folder: Path, text: str, lines: Sequence[str] = TRACED) -> RecordedLaunch:
    """A trace of one warp, joined with a listing."""
    (folder / "code.sass").write_text(text)
    path = write_trace(folder, [[lines]])
    (launch,) = read_recording(path, join=joined(folder / "code.sass").annotation).launches
    return launch


def kept(instruction: Instruction) -> list[int]:
    """The registers that an instruction keeps for reuse."""
    return [r.index for at in instruction.reuse for r in registers_of(instruction.sources[at])]


def test_instructions_get_control_codes_and_reuse_flags(tmp_path: Path) -> None:
    instructions = [*read(tmp_path, listing()).kernel.instructions()]
    assert [one.control for one in instructions] == [control for _, control in CODE]
    assert [kept(one) for one in instructions] == [[], [6, 7], [6], [], [], [0], [], [], [], []]
    assert str(instructions[1]) == "IMAD.WIDE R2.64, R6.reuse, R7.reuse"
    assert str(instructions[5]) == "IADD3 R5, R4, 0, R0.reuse"


def test_a_result_behind_a_predicate_shifts_no_flag(tmp_path: Path) -> None:
    """A tracer lists R9, which is written, as the first source."""
    code = [("SHFL.IDX P0, R9, R6.reuse, R5, 0x1f", ControlCode())]
    (instruction,) = read(tmp_path, listing(code), [line(0, "SHFL.IDX R9 R6 R5")]).kernel.instructions()
    assert str(instruction) == "SHFL.IDX R9, R6.reuse, R5"


def test_without_a_listing_there_are_none(tmp_path: Path) -> None:
    (launch,) = read_recording(write_trace(tmp_path, [[TRACED]])).launches
    assert {(one.control, one.reuse) for one in launch.kernel.instructions()} == {(None, ())}


@pytest.mark.parametrize(
    ("at", "text", "message"),
    [
        (1, line(0x10, "R2 <- IMAD R6 R7"),
         "_Z3foov+0x0010: the trace has 'R2 IMAD R6 R7', {listing}:6 has"
         " 'IMAD.WIDE R2, R6.reuse, R7.reuse, c[0x0][0x160]'"),
        (1, line(0x10, "R2 <- IMAD.WIDE R6 R8"), "_Z3foov+0x0010: the trace has 'R2 IMAD.WIDE R6 R8', {listing}:6 has"),
        (1, line(0x10, "R2 <- IMAD.WIDE R6"), "_Z3foov+0x0010: the trace has 'R2 IMAD.WIDE R6', {listing}:6 has"),
        (1, line(0x10, "R2 <- IMAD.WIDE R7 R6"), "_Z3foov+0x0010: the trace has 'R2 IMAD.WIDE R7 R6', {listing}:6 has"),
        (9, line(0x90, "R1 <- EXIT"), "_Z3foov+0x0090: the trace has 'R1 EXIT', {listing}:22 has 'EXIT'"),
        (9, line(0xA0, "EXIT"), "_Z3foov+0x00a0: no instruction at this pc in {listing}, which has every 16 bytes one"
         " up to 0x0090"),
        (9, line(0x98, "EXIT"), "_Z3foov+0x0098: no instruction at this pc"),
    ],
)  # fmt: skip
def test_what_differs_is_told_in_a_line(tmp_path: Path, at: int, text: str, message: str) -> None:
    with pytest.raises(SassTraceError) as caught:
        read(tmp_path, listing(), [*TRACED[:at], text, *TRACED[at + 1 :]])
    number = 24 + at
    expected = message.format(listing=tmp_path / "code.sass")
    assert str(caught.value).startswith(f"{tmp_path / 'kernel-1.traceg'}:{number}: {expected}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (listing(name="bar"), "_Z3foov: no kernel of this name in {listing}, which has bar"),
        (
            "".join(listing(name=one) for one in "abcde"),
            "_Z3foov: no kernel of this name in {listing}, which has a, b, c and 2 more",
        ),
        (listing(architecture="sm_90"), "_Z3foov: the trace is of sm_80, {listing} of sm_90"),
    ],
)
def test_another_listing_is_told(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SassTraceError) as caught:
        read(tmp_path, text)
    assert str(caught.value).endswith(message.format(listing=tmp_path / "code.sass"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no function; expected text of nvdisasm -c or cuobjdump -sass"),
        (b"\xff\xfe\x00", "no function"),
        (b"\t.section\t.text.f\n        /*0000*/  EXIT ;\n", "f has no encodings, which hold the control codes"),
        (b"\x7fELF" + bytes(14) + b"\x3e\0", "expected a cubin or a listing, found a program"),
        (b"\x7fELF" + bytes(14) + b"\xbe\0", "a damaged cubin"),
    ],
)
def test_a_file_that_is_no_listing_is_told(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(MachineCodeError) as caught:
        joined(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def words(registers: Sequence[Register]) -> list[int]:
    return [word for register in registers for word in register.words]


def by_pc(kernel: Kernel) -> Mapping[int, Instruction]:
    """The instructions of machine code by byte address."""
    begun = zip(kernel.blocks, kernel.block_addresses, strict=True)
    return {first + 16 * n: one for block, first in begun for n, one in enumerate(block.instructions)}


def executed(launch: Launch) -> Iterator[tuple[tuple[int, int], Execution, Instruction]]:
    """What the warps of a launch executed, in order, by byte address."""
    kernel = launch.kernel
    assert launch.trace is not None
    decoder = AddressDecoder(np.concatenate([np.zeros(0, np.uint32), *launch.trace.address_chunks()]))
    for visit in visits(launch.trace.path_chunks()):
        for n, one in enumerate(kernel.blocks[visit.block].instructions):
            pc, unit = kernel.block_addresses[visit.block] + 16 * n, step_bytes(one)
            if not unit:
                yield (visit.thread_block, visit.warp), Execution(pc, visit.mask), one
                continue
            mask, found = decoder.next(pc, visit.mask, unit, one.guard is not None)
            lanes = tuple(int(found[lane]) for lane in range(32) if mask >> lane & 1)
            yield (visit.thread_block, visit.warp), Execution(pc, visit.mask, mask, lanes), one
    assert decoder.at == len(decoder.words)


def exported(name: str, architecture: str, folder: Path) -> tuple[Launch, RecordedLaunch]:
    """A launch of a checked-in kernel, and what is read of its trace with its own listing."""
    device = Device(MODULE, CompileOptions(), Record(path=True, addresses=True))
    device.install(lifted(name, architecture))
    arguments, (grid, block) = sample(name)
    device.launch(name, grid, block, *(device.upload(a) if isinstance(a, np.ndarray) else a for a in arguments))
    listed = export_run(Run(name, tuple(device.launches)), folder)
    join = joined(FOLDER / f"kernels.{architecture}.sass").annotation
    (launch,) = read_recording(listed, join=join).launches
    return device.launches[0], launch


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
@pytest.mark.parametrize("name", [function.name for function in MODULE.kernels])
def test_exported_machine_code_comes_back_with_its_flags(tmp_path: Path, name: str, architecture: str) -> None:
    """Each instruction at the vendor's pc, with the opcode, registers, control code and reuse flags that it had."""
    launch, again = exported(name, architecture, tmp_path)
    originals = by_pc(launch.kernel)
    assert again.header.binary_version == int(architecture[3:])
    for one, pc in zip(again.kernel.instructions(), pcs(again.kernel), strict=True):
        original = originals[pc]
        assert (one.control, kept(one)) == (original.control, kept(original)), original
        assert one.opcode == original.opcode
        assert words(one.used) == words(original.used), (str(one), str(original))
        assert words(one.defined) == words(original.defined), (str(one), str(original))


@pytest.mark.parametrize("name", ["collatz", "sum_block", "local"])
def test_exported_machine_code_has_its_lanes_and_addresses(tmp_path: Path, name: str) -> None:
    launch, again = exported(name, "sm_80", tmp_path)
    found = {warp: iter(steps) for warp, steps in executions(again).items()}
    for warp, expected, instruction in executed(launch):
        mine = next(found[warp])
        assert (mine.pc, mine.mask, mine.addresses) == (expected.pc, expected.mask, expected.addresses)
        assert instruction.guard is not None or mine.active == expected.active
    assert all(next(rest, None) is None for rest in found.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hotspot", "bfs", "aes", "lud"])
def test_workloads_come_back_with_their_flags(tmp_path: Path, name: str) -> None:
    """Joined with the cubin of the assembler; ``aes`` has texture fetches and indexed constants."""
    from warpreg import ptx, workloads
    from warpreg.machine_code.assembler import MachineCode

    run = warpreg.run(name, size="tiny", machine_code="sm_80", record=Record(path=True, addresses=True))
    cubin, _ = MachineCode.of("sm_80").files(ptx.write(workloads.find(name).module()))
    (tmp_path / "code.cubin").write_bytes(cubin)
    listed = warpreg.write_trace(run, tmp_path / "traces")
    again = {one.name: one for one in warpreg.read_trace(listed, listing=tmp_path / "code.cubin").kernels}
    assert again.keys() == {kernel.name for kernel in run.kernels}
    for kernel in run.kernels:
        originals = by_pc(kernel)
        found = again[kernel.name]
        for one, pc in zip(found.instructions(), pcs(found), strict=True):
            assert (one.control, kept(one)) == (originals[pc].control, kept(originals[pc]))


@pytest.mark.slow
def test_texture_fetches_of_machine_code_have_their_addresses() -> None:
    """All records of a launch are used up, and the cores see the fetches as loads from texture memory."""
    run = warpreg.run("aes", size="tiny", machine_code="sm_80", record=Record(path=True, addresses=True))
    launch = run.launches[0]
    sites, kinds = memory_sites(launch.kernel), access_kinds(launch.kernel)
    fetches = [pc for pc, one in enumerate(launch.kernel.instructions()) if one.opcode == "TLD"]
    assert len(fetches) == 11
    assert set(sites.space[np.isin(sites.pc, fetches)].tolist()) == {access_record.TEXTURE}
    assert set(kinds[fetches].tolist()) == {access_record.LOAD}
    found = [one for _, one, instruction in executed(launch) if instruction.opcode == "TLD"]
    assert found
    assert all(len(one.addresses) == one.active.bit_count() for one in found)


def test_python_reads_a_listing_and_results_say_so(tmp_path: Path) -> None:
    (tmp_path / "code.sass").write_text(listing())
    path = write_trace(tmp_path, [[TRACED]])
    run = warpreg.read_trace(path, listing=tmp_path / "code.sass")
    assert [one.control for one in run.kernels[0].instructions()] == [control for _, control in CODE]
    assert len(run.options["listing"]) == 12
    assert "listing" not in warpreg.read_trace(path).options
    with pytest.raises(FileNotFoundError):
        warpreg.read_trace(path, listing=tmp_path / "none")
