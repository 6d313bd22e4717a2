"""What lets a thread block fit an SM: numbers worked out by hand for machines with limits of each kind."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.timing.test_miniatures import FOLDER

from warpreg import gpu, workloads
from warpreg.cli import main
from warpreg.codegen import CompileOptions, translate
from warpreg.counting.fitting import misfit, what_fits
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.gpu import Machine, occupancy

Output = pytest.CaptureFixture[str]
FERMI = gpu.load("bow-fermi")
"""32,768 registers in units of 64, two warps; 48 warps; 1,024 threads of a block; 63 registers; 48 KB shared."""
PLAIN = ConfiguredDesign.of((), {})
KERNEL = translate(workloads.find("vector-add").module(), "vector_add", CompileOptions())


def launch(threads: int, shared_bytes: int = 0) -> Any:
    return SimpleNamespace(kernel=KERNEL, block=(threads, 1, 1), shared_bytes=shared_bytes, trace=None)


def told(threads: int, registers: int, shared_bytes: int = 0, machine: Machine = FERMI) -> str:
    return what_fits(launch(threads, shared_bytes), machine, PLAIN, registers)


def test_the_machine_is_what_the_numbers_below_are_for() -> None:
    file = FERMI.register_file
    assert (file.registers, file.allocation_unit, file.warp_granularity) == (32768, 64, 2)
    assert (file.registers_per_thread, FERMI.sm.threads_per_block, FERMI.sm.warps) == (63, 1024, 48)
    assert FERMI.shared_memory.bytes == 49152


@pytest.mark.parametrize(
    ("threads", "registers", "shared_bytes", "expected"),
    [
        # 1,024 warp-registers hold 25 warps of 40, in twos 24; 32 warps of 32
        (1024, 40, 0, "at most 768 threads per block or 32 registers per thread"),
        # 17 warps of 60, in twos 16; of 51 a warp takes 26 units, so 19 warps fit, and of 50 25 units, so 20 do
        (640, 60, 0, "at most 512 threads per block or 50 registers per thread"),
        (256, 64, 0, "at most 63 registers per thread"),
        (256, 200, 0, "at most 63 registers per thread"),
        (1056, 16, 0, "at most 1024 threads per block"),
        (256, 16, 49153, "at most 49152 bytes of shared memory per block"),
        # no one of them alone
        (256, 200, 50000, "at most 63 registers per thread and 49152 bytes of shared memory per block"),
        (2048, 16, 50000, "at most 1024 threads per block and 49152 bytes of shared memory per block"),
        # 1,024 threads of 63 do not fit either: 16 warps of 63 do
        (2048, 200, 0, "at most 512 threads per block and 63 registers per thread"),
    ],
)
def test_how_far_each_must_fall(threads: int, registers: int, shared_bytes: int, expected: str) -> None:
    assert occupancy(FERMI, registers, shared_bytes, threads).blocks == 0
    assert told(threads, registers, shared_bytes) == expected


def test_the_numbers_are_the_largest_that_fit() -> None:
    for machine in map(gpu.load, ("bow-fermi", "v100", "gtx480", "gebhart-rfc")):
        for threads, registers in ((1024, machine.register_file.registers_per_thread), (512, 255), (768, 128)):
            if occupancy(machine, registers, 0, threads).blocks:
                continue
            for part in told(threads, registers, machine=machine).removeprefix("at most ").split(" or "):
                if " and " not in part:
                    least = int(part.split()[0])
                    by_threads = "threads per block" in part
                    step = 32 if by_threads else 1
                    at, beyond = (
                        occupancy(machine, *((registers, 0, one) if by_threads else (one, 0, threads))).blocks
                        for one in (least, least + step)
                    )
                    assert at > 0 == beyond


def test_a_design_that_shares_registers_needs_other_numbers() -> None:
    """A warp takes half of its registers: 1,024 threads of 64 fit as 32 warps of 32, and 63 is the machine's limit."""
    half = ConfiguredDesign.of([str(FOLDER / "half_registers.py")], {})
    assert what_fits(launch(1024), FERMI, half, 64) == "at most 63 registers per thread"
    small = dataclasses.replace(FERMI, register_file=dataclasses.replace(FERMI.register_file, bytes=65536))
    assert what_fits(launch(1024), small, half, 40) == "at most 768 threads per block or 32 registers per thread"


def test_nothing_helps_a_machine_without_registers() -> None:
    none = dataclasses.replace(FERMI, register_file=dataclasses.replace(FERMI.register_file, bytes=64))
    assert told(32, 16, machine=none) == ""
    assert misfit(launch(32), none, PLAIN, 16, "registers") == (
        "kernel vector_add: a thread block does not fit an SM of bow-fermi: registers (32 threads of 16 registers, 0"
        " bytes of shared memory)"
    )


@pytest.mark.slow
def test_commands_say_it(capsys: Output, tmp_path: Path) -> None:
    options = ("vector-add", "--size", "tiny", "--machine", "bow-fermi", "--registers", "200")
    sentence = (
        "kernel vector_add: a thread block does not fit an SM of bow-fermi: registers per thread (256 threads of 200"
        " registers, 0 bytes of shared memory); it fits with at most 63 registers per thread"
    )
    assert main(["compare", *options, "--designs", "mrf,rfc", "-j", "1"]) == 0
    assert f"occupancy 0% under mrf, rfc(entries=6): {sentence}" in " ".join(capsys.readouterr().out.split())
    assert main(["run", *options]) == 0
    assert f"occupancy 0%: {sentence}" in " ".join(capsys.readouterr().out.split())
    assert main(["run", *options, "--json"]) == 0
    assert f'"misfit": "{sentence}"' in capsys.readouterr().out
    assert main(["run", *options, "--cycles"]) == 1
    assert capsys.readouterr().err == f"warpreg: {sentence}\n"
    assert main(["run", *options[:-2], "--json"]) == 0
    assert "misfit" not in capsys.readouterr().out
