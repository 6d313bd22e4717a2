"""The kit for a real GPU, against a stand-in for the driver, and on what an H100 answered."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from warpreg.checks.gpu.driver import GpuFault
from warpreg.cli import main
from warpreg.gpu import load
from warpreg.gpu_kit import cubins, summary
from warpreg.gpu_kit.cubins import prepare
from warpreg.gpu_kit.measured_device import MeasuredDevice
from warpreg.gpu_kit.measuring_driver import Function, MeasuringDriver
from warpreg.gpu_kit.micro import CHASED, Micro
from warpreg.gpu_kit.microbenchmarks import ITERATIONS, LONG, MICROBENCHMARKS, OPERATIONS, SHORT, unlike
from warpreg.gpu_kit.outputs import compare_outputs, compared
from warpreg.gpu_kit.register_banks import CASES, COPIES, ffma_places, patched, register_bank_ptx
from warpreg.gpu_kit.simulated import Accuracy, ComparedCycles, compare_cycles
from warpreg.machine_code.tools import assembled, disassembled
from warpreg.ptx import parse

from .fake_driver import FakeDriver

Output = pytest.CaptureFixture[str]
H100 = Path(__file__).parents[2] / "measurements" / "h100.json"
DOUBLED = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry doubled(.param .u64 data)
{
    .reg .b64 %a;
    .reg .f32 %f;
    ld.param.u64 %a, [data];
    ld.global.f32 %f, [%a];
    add.f32 %f, %f, %f;
    st.global.f32 [%a], %f;
    ret;
}
"""


def test_a_launch_is_timed_cold_and_restored() -> None:
    """Three runs each; the memory that the host sees is what the GPU left, here unchanged."""
    library = FakeDriver()
    device = MeasuredDevice(MeasuringDriver(1 << 20, library), parse(DOUBLED), b"cubin")
    buffer = device.upload(np.full(4, 2.0, np.float32))
    device.launch("doubled", 1, 32, buffer)
    (times,) = device.times
    assert (times.grid, times.block, times.cold_ms, times.restored_ms) == ((1, 1, 1), (32, 1, 1), 0.5, 0.5)
    assert library.calls["cuLaunchKernel"] == 6
    assert library.calls["cuMemsetD32_v2"] == 3
    assert buffer.download().tolist() == [2.0] * 4


def test_a_sequence_is_measured_if_the_host_only_launches() -> None:
    device = MeasuredDevice(MeasuringDriver(1 << 20, FakeDriver()), parse(DOUBLED), b"cubin")
    buffer = device.upload(np.zeros(4, np.float32))
    device.launch("doubled", 1, 32, buffer)
    device.launch("doubled", 1, 32, buffer)
    assert device.sequence() == [{"ms": 0.5, "least_ms": 0.5}] * 2
    buffer.write(np.ones(4, np.float32))
    device.launch("doubled", 1, 32, buffer)
    assert device.sequence() == []


def test_a_fault_names_the_function() -> None:
    device = MeasuredDevice(MeasuringDriver(1 << 20, FakeDriver("cuEventSynchronize")), parse(DOUBLED), b"cubin")
    with pytest.raises(GpuFault, match=r"cuEventSynchronize: error \(700\)"):
        device.launch("doubled", 1, 32, device.zeros(4, np.float32))


def test_patched_code_has_the_registers_and_flags_of_the_case() -> None:
    """Every FFMA of the loop reads three even registers, the first of which is kept for reuse; nothing stalls."""
    case = next(one for one in CASES if one.name == "three in a bank, A reused")
    code = patched(assembled(register_bank_ptx(), "sm_90"), case)
    lines = [line.split("/*")[1].split("*/")[1].strip() for line in disassembled(code).splitlines() if "FFMA" in line]
    assert len(lines) == len(ffma_places(code)) == COPIES
    for line in lines:
        _, a, b, c = line.removeprefix("FFMA ").removesuffix(" ;").split(", ")
        assert a.endswith(".reuse")
        assert all(int(one.removesuffix(".reuse")[1:]) % 2 == 0 for one in (a, b, c))


@pytest.mark.parametrize(
    "operation", [one for one in OPERATIONS if one.name in ("ffma", "imad-wide", "lds-64", "shfl-idx")]
)
def test_machine_code_has_the_instructions_that_are_meant(operation: object) -> None:
    """The assembler must neither unroll, fold nor replace the chain."""
    (one,) = [m for m in MICROBENCHMARKS if m.kind == "chain" and m.operation is operation]
    listing = disassembled(assembled(one.ptx(), "sm_90"))
    assert one.operation is not None
    assert unlike(one, listing) == ""
    folded = listing.replace(one.operation.sass.split()[0], "NOP")
    assert unlike(one, folded).endswith("are meant")


def test_a_chain_is_the_difference_of_two_lengths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """1,000 and 50,152 cycles: 49,152 more for 192 copies in 64 iterations, so 4 for a copy."""
    driver = MeasuringDriver(8 << 20, FakeDriver())
    monkeypatch.setattr(cubins, "read", lambda folder, name: b"cubin")
    answers = iter((1000, 50152))
    monkeypatch.setattr(Micro, "cycles", lambda *given: next(answers))
    found = Micro(driver, tmp_path).chain("chain-fadd", OPERATIONS[0])
    assert (LONG - SHORT) * ITERATIONS == 12288
    assert found["cycles_per_copy"] == 4.0


def test_cycles_run_from_the_first_warp_to_the_last(tmp_path: Path) -> None:
    """Warp 0 runs from cycle 100 to 300, warp 1 from 250 to 420: the pipe was busy for 320 cycles, not 200."""
    driver = MeasuringDriver(8 << 20, FakeDriver())
    clocks = np.zeros((64, 2), np.uint64)
    clocks[0], clocks[32] = (100, 300), (250, 420)
    driver.write_memory(clocks.tobytes())
    assert Micro(driver, tmp_path).read_cycles(2) == 320


def test_a_pointer_chase_is_warmed_inside_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first-level cache is empty when a kernel begins, so all lines are visited before the clock is read."""
    driver = MeasuringDriver(8 << 20, FakeDriver())
    monkeypatch.setattr("warpreg.gpu_kit.micro.FOOTPRINTS", (4096, 4096 + 128))
    launches: list[tuple[int, ...]] = []
    monkeypatch.setattr(Micro, "launch", lambda self, function, *words, **more: launches.append(words))
    Micro(driver, tmp_path).chase(Function(None, None, 0, 0, 0))
    assert launches == [(1, CHASED, 32), (1, CHASED, 36)]


def test_what_a_launch_finds_of_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All 8,192 lines of 1 MB are visited, then some again in the same launch, in the next one, in the one after an
    empty kernel, and after the second level was emptied.
    """
    library = FakeDriver()
    driver = MeasuringDriver(8 << 20, library)
    monkeypatch.setattr(cubins, "read", lambda folder, name: b"cubin")
    monkeypatch.setattr("warpreg.gpu_kit.micro.BETWEEN", (1 << 20,))
    visited: list[int] = []
    answers = iter((270.0, 280.0, 0.0, 290.0, 560.0))

    def chased(self: Micro, function: Function, warm: int) -> float:
        visited.append(warm)
        return next(answers)

    monkeypatch.setattr(Micro, "chased", chased)
    found = Micro(driver, tmp_path).between_launches()
    rows = {"same launch": 270.0, "next launch": 280.0, "after another kernel": 290.0, "emptied": 560.0}
    assert found == {str(1 << 20): rows}
    assert visited == [8192, 0, 8192, 0, 0]
    assert (library.calls["cuLaunchKernel"], library.calls["cuMemsetD32_v2"]) == (1, 1)
    assert summary.between({"cycles_per_load": found}) == [{"bytes": 1 << 20, **rows}]


def test_what_an_h100_answered() -> None:
    """Register banks as in Huerta et al. (MICRO 2025), sections 3 and 5.3: an FFMA whose three sources are in one bank
    takes 3 cycles, two of them 2; a kept operand takes no port; a register that is named thrice is read once."""
    found = json.loads(H100.read_text(encoding="utf-8"))
    banks = {row["sources"]: row["4"] for row in summary.banks(found["banks"])}
    assert banks["three in the even bank"] == pytest.approx(3, abs=0.2)
    assert banks["two of three in a bank"] == pytest.approx(2, abs=0.2)
    assert banks["three in a bank, A reused"] == pytest.approx(2, abs=0.2)
    assert banks["three in a bank, A and B reused"] == pytest.approx(1, abs=0.2)
    assert banks["one register thrice"] == pytest.approx(1, abs=0.2)
    cycles = {row["chain"]: row["cycles"] for row in summary.latencies(found["micro"])}
    for name, expected in (("fadd", 4), ("ffma", 4), ("imad", 4), ("dfma", 8), ("lds", 23)):
        assert cycles[name] == pytest.approx(expected, abs=0.1)


@pytest.mark.slow
def test_the_machine_has_the_cycles_of_the_gpu() -> None:
    """What follows from the model, not from a number of the machine file: chains of several opcodes, whose stall counts
    and counters come from the code; FFMA by banks and reuse flags on one warp and on sixteen, four to a sub-core."""
    found = json.loads(H100.read_text(encoding="utf-8"))
    names = ("chain-isetp-sel", "chain-i2f-f2i", "rate-ffma", "rate-brev")
    found["micro"] = {name: found["micro"][name] for name in names}
    for case in found["banks"]["cases"]:
        cycles = case["cycles_per_ffma_of_a_warp"]
        case["cycles_per_ffma_of_a_warp"] = {warps: cycles[warps] for warps in ("1", "8")}
    found["barrier"] = {}
    rows = [*compare_cycles(found, load("h100"))]
    assert len(rows) == 2 + 2 * 2 + 2 * len(CASES)
    assert [row.what for row in rows if row.error > 0.06] == []
    accuracy = Accuracy.of(rows)
    assert accuracy.mean < 0.03
    assert accuracy.rank_correlation > 0.98


def test_accuracy_is_of_relative_errors() -> None:
    """10 for 8 is a quarter too much, 6 for 8 a quarter too little, 16 for 16 right: two thirds of a quarter."""
    rows = [ComparedCycles("a", 1, 8.0, 10.0), ComparedCycles("b", 1, 8.0, 6.0), ComparedCycles("c", 1, 16.0, 16.0)]
    accuracy = Accuracy.of(rows)
    assert (accuracy.mean, accuracy.percentile_90, accuracy.count) == (pytest.approx(1 / 6), 0.25, 3)


def test_every_workload_ran_on_the_h100() -> None:
    """One output differs: the texture unit interpolates with 8 bits (two of 1,665 pixels)."""
    found = json.loads(H100.read_text(encoding="utf-8"))
    assert [row["task"] for row in summary.failures(found)] == ["ambient-occlusion tiny"]
    assert [row["workloads"] for row in summary.sizes(found["workloads"])] == [106, 106]


def test_show_prints_tables(capsys: Output) -> None:
    assert main(["bench", "gpu", "--show", str(H100)]) == 0
    printed = capsys.readouterr().out
    assert "NVIDIA H100 80GB HBM3" in printed
    assert "three in the even bank" in printed


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--show", "no-such.json"], 1, "no-such.json: no measurements of a GPU: No such file or directory\n"),
        ([], 2, "give one of --out, --prepare, --show and --compare"),
        (["--cubins", "x", "--show", "y"], 2, "--cubins requires --out"),
        (
            ["--machine", "h100", "--show", "y"],
            2,
            "--machine requires --compare, and --workloads then --launches",
        ),
        (["--compare", str(H100), "--machine", "h1000"], 1, "no machine named 'h1000'"),
        (["--launches", "tiny", "--show", "y"], 2, "--launches requires --machine"),
        (["--in-sequence", "--show", "y"], 2, "--in-sequence requires --launches"),
        (
            ["--compare", str(H100), "--machine", "h100", "--launches", "tiny", "--workloads", "x"],
            1,
            "no workload among the measurements named 'x'",
        ),
        (
            ["--compare", str(H100), "--machine", "h100", "--launches", "tiny", "--workloads", "bfs"],
            1,
            "no launch to compare: by events, only those that take 10 times as long as an empty one count",
        ),
        (["--workloads", "bfs", "--show", "y"], 2, "--workloads requires --compare"),
        (["--compare", str(H100), "--workloads", "no-such"], 1, "no workload among the kept outputs named 'no-such'"),
        (["--out", "x.json"], 1, "this machine has no NVIDIA driver"),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str], status: int, message: str, capsys: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["bench", "gpu", *arguments]) == status
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert [*tmp_path.iterdir()] == []


@pytest.mark.slow
def test_the_executor_leaves_the_bits_of_the_gpu() -> None:
    """The machine code that ran on the H100, of integers, floats, doubles, shared memory, atomics and textures."""
    names = ("aes", "b-tree", "bfs", "hotspot", "dgemm", "convolution-texture", "cfd", "histogram64")
    found = [*compare_outputs(H100, names)]
    assert {one.workload for one in found} == {*names}
    assert [(one.output, one.error) for one in found if one.differing or one.error] == []


def test_two_arrays_are_compared_by_bits() -> None:
    """NaNs of any bits are equal; zeros of two signs are not."""
    ours, theirs = np.array([1.0, np.nan, 0.0, 3.0], np.float32), np.array([1.0, np.nan, -0.0, 2.0], np.float32)
    one = compared("w", "o", ours, theirs)
    assert (one.elements, one.differing, one.absolute) == (4, 2, 1.0)
    assert one.relative == pytest.approx(1 / 3)


@pytest.mark.slow
def test_all_machine_code_is_prepared(tmp_path: Path) -> None:
    manifest = prepare(tmp_path, "sm_90")
    assert manifest["failed"] == {}
    assert (tmp_path / "banks-0.cubin.zst").is_file()
