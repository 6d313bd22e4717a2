"""Listings and cubins that are checked in: lifted and executed without NVIDIA's tools, against NumPy and PTX."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from warpreg import ptx, simt
from warpreg.analysis.control_codes.check import unsafe
from warpreg.codegen import build_kernel
from warpreg.ir.control_code import ControlCode
from warpreg.ir.errors import UnsupportedError
from warpreg.ir.instruction import registers_of
from warpreg.ir.kernel import Kernel
from warpreg.ir.opcodes.sass.pattern import encoded_place
from warpreg.machine_code import cubin, files, listing
from warpreg.machine_code.code import Code
from warpreg.machine_code.errors import MachineCodeError
from warpreg.machine_code.lift import lift
from warpreg.simt import Device

FOLDER = Path(__file__).parent / "listings"
ARCHITECTURES = ("sm_80", "sm_90")
MODULE = ptx.parse((FOLDER / "kernels.ptx").read_text(encoding="utf-8"))
Arrays = dict[str, NDArray[Any]]
LINE = "        /*0000*/                   MOV R1, c[0x0][0x28] ;   /* 0x00000a0000017a02 */\n"
UPPER = "                                                            /* 0x000fe40000000f00 */\n"


def text_of(architecture: str) -> str:
    return (FOLDER / f"kernels.{architecture}.sass").read_text(encoding="utf-8")


def lifted(name: str, architecture: str) -> Kernel:
    records = cubin.read((FOLDER / f"kernels.{architecture}.cubin").read_bytes())
    function = listing.parse(text_of(architecture)).functions[name]
    return lift(Code(function, architecture, records), build_kernel(MODULE, name))


def sample(name: str) -> tuple[list[NDArray[Any] | int], tuple[int, int]]:
    """Arguments of a kernel, arrays that it may write included, and its grid and block."""
    rng = np.random.default_rng(7)
    whole = rng.integers(-1000, 1000, 128).astype(np.int32)
    real = rng.normal(0, 100, 128).astype(np.float32)
    out = np.zeros(128, np.int32)
    long = rng.integers(-(1 << 50), 1 << 50, 128)
    arguments: dict[str, tuple[list[NDArray[Any] | int], tuple[int, int]]] = {
        "add": ([real, real[::-1].copy(), np.zeros(128, np.float32), 100], (4, 32)),
        "collatz": ([np.abs(whole) + 1, out, 120], (4, 32)),
        "divide": ([real, np.r_[real[:100], real[100:] * 1e-38].astype(np.float32),
                    np.zeros(128, np.float32)], (1, 128)),
        "divide_whole": ([whole, np.where(whole[::-1] == 0, 1, whole[::-1]), out, whole.view(np.uint32),
                          np.zeros(128, np.uint32)], (1, 128)),
        "sum_block": ([np.tile(whole, 3), np.zeros(3, np.int32)], (3, 128)),
        "count": ([whole, np.zeros(8, np.int32), 120], (4, 32)),
        "exchange": ([whole, out], (1, 128)),
        "doubles": ([real.astype(np.float64), real[::-1].astype(np.float64), np.zeros(128)], (1, 128)),
        "wide": ([long, long[::-1].copy(), np.zeros(128, np.int64)], (1, 128)),
        "choose": ([whole, out], (1, 128)),
        "local": ([np.abs(whole[:16]), out], (1, 128)),
        "narrow": ([whole.astype(np.uint8), whole.astype(np.int16), np.zeros(128, np.uint8), np.zeros(128, np.int16)],
                   (1, 128)),
    }  # fmt: skip
    return arguments[name]


def ran(name: str, kernel: Kernel | None) -> list[NDArray[Any]]:
    """Every array after a launch of machine code, or without it of this compiler's code."""
    device = Device(MODULE)
    if kernel:
        device.install(kernel)
    arguments, (grid, block) = sample(name)
    given = [device.upload(a) if isinstance(a, np.ndarray) else a for a in arguments]
    device.launch(name, grid, block, *given)
    return [one.download() for one in given if isinstance(one, simt.Buffer)]


def collatz_steps(values: NDArray[Any]) -> list[int]:
    found = []
    for value in map(int, values):
        count = 0
        while value != 1:
            value, count = (3 * value + 1 if value % 2 else value // 2), count + 1
        found.append(count)
    return found


EXPECTED: dict[str, Callable[[list[Any]], Any]] = {
    "add": lambda a: np.r_[(a[0] + a[1])[:100], np.zeros(28, np.float32)],
    "collatz": lambda a: np.r_[collatz_steps(a[0][:120]), np.zeros(8, int)],
    "divide": lambda a: a[0] / a[1],
    "sum_block": lambda a: a[0].reshape(3, 128).sum(axis=1),
    "count": lambda a: np.bincount(a[0][:120] & 7, minlength=8),
    "doubles": lambda a: a[0] / a[1] + a[0] * a[1] - np.sqrt(np.abs(a[1])),
}
"""What some kernels leave in their last array, by NumPy."""


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", [function.name for function in MODULE.kernels])
def test_machine_code_leaves_what_the_ptx_leaves(name: str, architecture: str) -> None:
    """Bit for bit, but for a product and a sum that both compilers may contract in their own way."""
    found, expected = ran(name, lifted(name, architecture)), ran(name, None)
    for one, other in zip(found, expected, strict=True):
        if name == "doubles":
            np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-9)
        else:
            np.testing.assert_array_equal(one, other)
    if name in EXPECTED:
        given = [a for a in sample(name)[0] if isinstance(a, np.ndarray)]
        np.testing.assert_allclose(found[-1], EXPECTED[name](given), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_records_are_those_of_the_cubin(architecture: str) -> None:
    """128 integers of shared memory, behind the 1,024 bytes that sm_90 keeps; three pointers and a number behind the
    words of the launch."""
    kernel = lifted("sum_block", architecture)
    assert kernel.shared_bytes == {"sm_80": 512, "sm_90": 1024 + 512}[architecture]
    first = {"sm_80": 0x160, "sm_90": 0x210}[architecture]
    assert [p.offset for p in lifted("add", architecture).parameters] == [first, first + 8, first + 16, first + 24]
    assert kernel.machine_code == architecture
    assert kernel.register_demand >= kernel.register_count


def test_an_instruction_has_its_control_code() -> None:
    """0x000fe40000000f00: bits 41 to 61 are 0x7f2, stall 2 without yield, counter or wait."""
    first = next(iter(lifted("add", "sm_80").instructions()))
    assert str(first) == "MOV R1, c[0][0x28]"
    assert first.control == ControlCode(stall=2)
    assert str(ControlCode.decoded(0x001FCA00078E0203)) == "B0-----:R-:W-:Y:S05"


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_reuse_is_by_position_among_the_sources(architecture: str) -> None:
    """``IMAD.WIDE R4, R2.reuse, R3.reuse, c[...]`` keeps sources 0 and 1: the registers that the text marks are those
    at the positions that the instruction has, in all kernels."""
    counted = 0
    for name, function in listing.parse(text_of(architecture)).functions.items():
        for instruction, listed in zip(lifted(name, architecture).instructions(), function.instructions, strict=False):
            marked = re.findall(r"\bR(\d+)\S*\.reuse", listed.operands)
            kept = [next(registers_of(instruction.sources[place])) for place in instruction.reuse]
            assert [str(register.index) for register in kept] == marked, listed
            counted += len(marked)
    assert counted == text_of(architecture).count(".reuse")


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_reuse_flags_stand_at_places_of_the_encoding(architecture: str) -> None:
    """Bits 122 to 124 of an instruction are one flag for each of its three operands (CuAssembler, NAK)."""
    upper = [int(one, 16) for one in re.findall(r"^ +/\* 0x([0-9a-f]{16}) \*/$", text_of(architecture), re.MULTILINE)]
    at = 0
    for name, function in listing.parse(text_of(architecture)).functions.items():
        flags = [word >> 58 & 7 for word in upper[at : at + len(function.instructions)]]
        at += len(function.instructions)
        for instruction, flag in zip(lifted(name, architecture).instructions(), flags, strict=False):
            assert sum(1 << encoded_place(instruction.opcode, place) for place in instruction.reuse) == flag


def test_branches_lead_to_blocks() -> None:
    """The loop of a while, the call and return of a division."""
    loop = lifted("collatz", "sm_80")
    assert any(s <= block.index for block in loop.blocks for s in block.successors)
    division = lifted("divide", "sm_80")
    called = {b.successors[0] for b in division.blocks if b.instructions[-1].opcode == "CALL"}
    returned = [b for b in division.blocks if b.instructions[-1].opcode == "RET"]
    assert len(called) == 1
    assert all(b.successors for b in returned)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.sass: no function; expected text of nvdisasm -c or cuobjdump -sass"),
        (LINE, "x.sass:1: an instruction before the first function"),
        (
            f"\t.section\t.text.f\n{LINE.partition(';')[0]}\n",
            "x.sass:2: 'MOV R1, c[0x0][0x28]' is no whole instruction",
        ),
        (f"\t.section\t.text.f\n{LINE}", "x.sass:2: the upper half of the encoding is missing"),
        (
            f"\t.section\t.text.f\n{LINE}{UPPER}{LINE}{UPPER}",
            "x.sass:4: address 0x0 where 0x10 follows; lines are missing",
        ),
    ],
)
def test_a_damaged_listing_is_one_line(text: str, message: str) -> None:
    with pytest.raises(MachineCodeError) as caught:
        listing.parse(text, "x.sass")
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_text_without_encodings_is_read_too() -> None:
    plain = "Function : f\n" + LINE.partition(";")[0] + ";\n"
    (instruction,) = listing.parse(plain).functions["f"].instructions
    assert (instruction.opcode, instruction.operands, instruction.control) == ("MOV", "R1, c[0x0][0x28]", None)


def test_data_of_other_sections_is_no_code() -> None:
    """As ``nvdisasm`` prints it without ``-c``."""
    data = '\t.section\t.nv.info,""\n        /*0000*/ \t.byte\t0x04, 0x2f\n        /*0002*/ \t.short\t(.L_2 - .L_1)\n'
    found = listing.parse(data + text_of("sm_80") + data).functions
    assert found == {
        name: replace(function, instructions=[replace(i, line=i.line + 3) for i in function.instructions])
        for name, function in listing.parse(text_of("sm_80")).functions.items()
    }


def test_an_unknown_opcode_names_its_place() -> None:
    text = text_of("sm_80").replace("FADD ", "FXYZ ", 1)
    records = cubin.read((FOLDER / "kernels.sm_80.cubin").read_bytes())
    with pytest.raises(UnsupportedError, match=r"listing:\d+: FXYZ is no known machine instruction"):
        for name, function in listing.parse(text).functions.items():
            lift(Code(function, "sm_80", records), build_kernel(MODULE, name))


@pytest.mark.parametrize("data", [b"", b"not an ELF file", (FOLDER / "kernels.sm_80.cubin").read_bytes()[:2000]])
def test_a_damaged_cubin_is_one_line(data: bytes) -> None:
    with pytest.raises(MachineCodeError, match=r"x\.cubin: ") as caught:
        cubin.read(data, "x.cubin")
    assert "\n" not in str(caught.value)


def test_a_bulk_copy_and_its_mbarrier() -> None:
    """From the listing and records alone: twice what is brought in; its control codes are safe."""
    kernel = files.read(FOLDER / "bulk.sm_90.sass")
    device = Device(kernel)
    values = np.arange(256, dtype=np.int32)
    out = device.zeros(256, np.int32)
    device.launch("twice", 2, 128, device.upload(values), out)
    np.testing.assert_array_equal(out.download(), 2 * values)
    assert unsafe(device.kernel("twice")) == ()
