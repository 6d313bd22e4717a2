"""Files of machine code on the command line and in Python: cubins, fat binaries, listings, and damaged ones."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.ptx.cuda.compilers import needs_nvcc

import warpreg
from warpreg.cli import main
from warpreg.codegen import translate
from warpreg.evaluation.runs.call import ArgumentError
from warpreg.ir.errors import WarpregError
from warpreg.machine_code import cubin, fatbin, files
from warpreg.machine_code.binary import OtherVersionWarning, frame_bytes
from warpreg.machine_code.errors import MachineCodeError
from warpreg.machine_code.listing import ListedInstruction, parse, parse_all
from warpreg.machine_code.tools import find_tool, version_of

LISTINGS = Path(__file__).parent / "listings"
ADD = ["--kernel", "add", "--grid", "4", "--block", "32", "--arg", "buffer:f32:128:arange", "--arg",
       "buffer:f32:128:ones", "--arg", "buffer:f32:128", "--arg", "s32:100"]  # fmt: skip
SUMS = [*range(1, 101), *[0] * 28]

SOURCE = """
struct Pair { int a; double b; };
__constant__ int table[4] = {1, 2, 3, 4};
__constant__ int added;
__device__ int counter = 5;
__device__ int *first = &counter;
namespace ns {
template <class T> __global__ void fill(T *out, T value, Pair pair) {
    extern __shared__ T shared[];
    shared[threadIdx.x] = value;
    __syncthreads();
    out[threadIdx.x] = shared[threadIdx.x ^ 1] * T(pair.a) + T(pair.b) + table[threadIdx.x & 3] + added;
    if (threadIdx.x == 0) *first += 2;
}
template __global__ void fill<float>(float *, float, Pair);
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with the cubin of sm_80 and both listings."""
    shutil.copy(LISTINGS / "kernels.sm_80.cubin", tmp_path / "k.cubin")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def message(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line of a command that fails."""
    capsys.readouterr()
    assert main([*arguments]) != 0
    lines = [line for line in capsys.readouterr().err.splitlines() if line]
    assert len(lines) == 1, lines
    return lines[0]


def nvcc(*options: str) -> None:
    subprocess.run([str(find_tool("nvcc")), *options], check=True, capture_output=True)


@pytest.mark.slow
def test_a_cubin_runs_like_ptx(folder: Path) -> None:
    pytest.importorskip("nvidia")
    assert main(["run", "k.cubin", *ADD, "--save", "2=o.npy"]) == 0
    assert np.load("o.npy").tolist() == SUMS
    assert main(["explain", "k.cubin", "--kernel", "add"]) == 0
    assert main(["diff", "k.cubin", "k.cubin", "--kernel", "add"]) == 0


@pytest.mark.parametrize("beside", [True, False])
def test_a_listing_runs_without_tools(folder: Path, beside: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parameters come from the cubin beside it, or from the arguments: 8, 8, 8 and 4 bytes."""
    monkeypatch.setattr("warpreg.machine_code.tools.find_tool", None)
    shutil.copy(LISTINGS / "kernels.sm_80.sass", "k.sass")
    if not beside:
        Path("k.cubin").unlink()
    assert main(["run", "k.sass", *ADD, "--save", "2=o.npy"]) == 0
    assert np.load("o.npy").tolist() == SUMS
    kernel = warpreg.compile("k.sass")["add"]
    out = np.zeros(128, np.float32)
    run = kernel[4, 32](np.arange(128, dtype=np.float32), np.ones(128, np.float32), out, np.int32(100))
    assert out.tolist() == SUMS
    assert run.kernels[0].register_demand == 12  # SHI_REGISTERS of the listing
    assert run.options["machine_code"] == "sm_80"


def test_arguments_that_say_no_bytes(folder: Path) -> None:
    shutil.copy(LISTINGS / "kernels.sm_80.sass", "other.sass")
    kernel = warpreg.compile("other.sass")["add"]
    with pytest.raises(ArgumentError, match=r"argument 0 is 1, and no record says how many bytes it has"):
        kernel[4, 32](1)


def test_records_of_a_cubin() -> None:
    """Three pointers and a number; bytes of shared memory; made by the assembler of CUDA 13."""
    records = cubin.read((LISTINGS / "kernels.sm_80.cubin").read_bytes())
    add = records.kernels["add"]
    assert [add.parameters[n] for n in range(4)] == [(0, 8), (8, 8), (16, 8), (24, 4)]
    assert add.is_entry
    assert (records.architecture, records.version.partition(".")[0]) == ("sm_80", "13")


@pytest.mark.slow
@needs_nvcc
def test_kernels_and_variables_of_cuda(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Element i: 2 * 3 + 4 + table[i & 3] + 10; the pointer leads to the counter, which becomes 7."""
    monkeypatch.chdir(tmp_path)
    Path("k.cu").write_text(SOURCE)
    nvcc("-cubin", "-arch=sm_90", "-o", "k.cubin", "k.cu")
    launch = ["--grid", "1", "--block", "32", "--shared-bytes", "128", "--arg", "buffer:f32:32", "--arg", "f32:2",
              "--arg", "struct:s32:3,f64:4", "--symbol", "added=s32:10"]  # fmt: skip
    for name in ("ns::fill<float>", "fill", "_ZN2ns4fillIfEEvPT_S1_4Pair"):
        saved = ["--save", "0=o.npy", "--save", "counter=c.npy"]
        assert main(["run", "k.cubin", "--kernel", name, *launch, *saved]) == 0
        assert np.load("o.npy").tolist() == [21, 22, 23, 24] * 8
        assert int(np.load("c.npy").view(np.int32)) == 7


@pytest.mark.slow
@needs_nvcc
def test_a_call_outside_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.cu").write_text('#include <cstdio>\n__global__ void k(int n) { printf("%d", n); }\n')
    nvcc("-cubin", "-arch=sm_80", "-o", "k.cubin", "k.cu")
    found = message(capsys, "run", "k.cubin", "--grid", "1", "--block", "32", "--arg", "s32:1")
    assert "CALL.ABS.NOINC calls a function outside of the kernel (vprintf), which is not supported" in found


@pytest.mark.slow
@needs_nvcc
@pytest.mark.parametrize("mode", ["none", "size", "balance", "speed"])
def test_fat_binaries(mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In every compression: plain, zstd, LZ4."""
    if mode == "speed":
        pytest.importorskip("lz4")
    monkeypatch.chdir(tmp_path)
    Path("k.cu").write_text(SOURCE)
    codes = [f"-gencode=arch=compute_{n},code=[sm_{n},compute_{n}]" for n in (80, 90)]
    nvcc("-fatbin", *codes, "-Xfatbin", "-compress-all", f"--compress-mode={mode}", "-o", "k.fatbin", "k.cu")
    nvcc("-cubin", "-arch=sm_80", "-o", "k.cubin", "k.cu")
    images = {one.architecture: one.data for one in fatbin.read(Path("k.fatbin").read_bytes(), "k.fatbin")}
    assert [*images] == ["sm_80", "sm_90"]
    assert cubin.read(images["sm_80"]).kernels == cubin.read(Path("k.cubin").read_bytes()).kernels
    assert files.read(Path("k.fatbin"), "sm_90").target == ("sm_90",)
    with pytest.raises(MachineCodeError, match="code for sm_80 and sm_90; choose one with --code"):
        files.read(Path("k.fatbin"))


def in_the_form_of_cuobjdump(*architectures: str) -> str:
    """What ``cuobjdump -sass`` prints: functions of each architecture, branches to addresses, no labels."""
    parts = []
    for one in architectures:
        function = parse((LISTINGS / f"kernels.{one}.sass").read_text(encoding="utf-8")).functions["collatz"]
        lines = [line_of(i, function.labels) for i in function.instructions]
        number = one.removeprefix("sm_")
        header = f'\t.headerflags\t@"EF_CUDA_SM{number} EF_CUDA_VIRTUAL_SM(EF_CUDA_SM75)"'
        parts.append("\n".join([f"\tcode for {one}", "\t\tFunction : collatz", header, *lines]))
    return "\n\nFatbin elf code:\n".join(parts)


def line_of(one: ListedInstruction, labels: dict[str, int]) -> str:
    guard = f"@{one.guard} " if one.guard else ""
    return f"        /*{one.address:04x}*/  {guard}{one.opcode} {by_address(one.operands, labels)} ;"


def by_address(operands: str, labels: dict[str, int]) -> str:
    for label, address in labels.items():
        operands = operands.replace(f"`({label})", f"{address:#x}")
    return operands


def test_text_of_several_architectures(tmp_path: Path) -> None:
    path = tmp_path / "all.sass"
    path.write_text(in_the_form_of_cuobjdump("sm_80", "sm_90"))
    assert [one.architecture for one in parse_all(path.read_text())] == ["sm_80", "sm_90"]
    with pytest.raises(MachineCodeError, match=r"all\.sass: code for sm_80 and sm_90; choose one with --code"):
        files.read(path)
    for architecture in ("sm_80", "sm_90"):
        kernel = warpreg.compile(path, machine_code=architecture)["collatz"]
        steps = np.zeros(32, np.int32)
        kernel[1, 32](np.full(32, 6, np.int32), steps, np.int32(32))
        assert steps.tolist() == [8] * 32  # 6 3 10 5 16 8 4 2 1


def test_frames_are_what_the_code_takes() -> None:
    text = (LISTINGS / "kernels.sm_80.sass").read_text(encoding="utf-8")
    records = cubin.read((LISTINGS / "kernels.sm_80.cubin").read_bytes())
    for name, function in parse(text).functions.items():
        assert frame_bytes(function) == records.kernels[name].frame_bytes, name


def test_bad_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = Path("k.cubin").read_bytes()
    assert message(capsys, "run", "k.cubin", "--code", "sm_90") == "warpreg: k.cubin: no code for sm_90; there is sm_80"
    assert "k.cubin: No such file or directory" in message(capsys, "run", "missing/k.cubin")
    assert "max_registers: an option of a compiler" in message(capsys, "run", "k.cubin", *ADD, "--max-registers", "32")
    assert "--print-after shows the passes" in message(capsys, "explain", "k.cubin", "--print-after", "all")
    Path("cut.cubin").write_bytes(whole[: len(whole) // 2])
    assert "cut.cubin: a damaged cubin: " in message(capsys, "run", "cut.cubin")
    Path("other.cubin").write_bytes(whole[:18] + (62).to_bytes(2, "little") + whole[20:])
    assert "an ELF file for machine 62, expected 190" in message(capsys, "run", "other.cubin")
    Path("unlinked.cubin").write_bytes(whole[:16] + (1).to_bytes(2, "little") + whole[18:])
    assert "a relocatable cubin: link it first" in message(capsys, "run", "unlinked.cubin")
    Path("new.cubin").write_bytes(whole[:48] + (100 << 8).to_bytes(4, "little") + whole[52:])
    assert "new.cubin: code for sm_100; expected sm_80 or sm_90" in message(capsys, "run", "new.cubin")
    Path("k.fatbin").write_bytes(whole)
    assert "k.fatbin: no fat binary" in message(capsys, "run", "k.fatbin")


def test_damaged_fat_binary() -> None:
    header = fatbin.CONTAINER.pack(fatbin.MAGIC, 1, 16, 1000)
    with pytest.raises(MachineCodeError, match=r"x: a damaged fat binary: a container of 1016 bytes at byte 0 of 20"):
        fatbin.read(header + b"\0" * 4, "x")


def test_bad_listings(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (LISTINGS / "kernels.sm_80.sass").read_text(encoding="utf-8")
    Path("cut.sass").write_text(text[:4000].rpartition(";")[0])
    assert "is no whole instruction" in message(capsys, "run", "cut.sass")
    Path("unknown.sass").write_text(text.replace("FADD ", "FXYZ ").replace("FMUL ", "FXYZ "))
    found = message(capsys, "run", "unknown.sass", *ADD)
    assert "unknown.sass:" in found
    assert "FXYZ is no known machine instruction" in found
    Path("far.sass").write_text(in_the_form_of_cuobjdump("sm_80").replace("BRA 0x", "BRA 0x9"))
    launch = ["--grid", "1", "--block", "32", "--arg", "buffer:s32:32", "--arg", "buffer:s32:32", "--arg", "s32:32"]
    assert "outside of the function" in message(capsys, "run", "far.sass", *launch)
    Path("bare.sass").write_text(in_the_form_of_cuobjdump("sm_80").partition("\n")[2].replace("EF_CUDA_SM", ""))
    assert "does not name its architecture; choose it with --code" in message(capsys, "run", "bare.sass")
    assert "has no record of the parameters of collatz" in message(capsys, "run", "bare.sass", "--code", "sm_80")
    Path("unlike.cubin").write_bytes((LISTINGS / "kernels.sm_90.cubin").read_bytes())
    Path("unlike.sass").write_text(text)
    assert "unlike.cubin: not the cubin of unlike.sass, which has sm_80" in message(capsys, "run", "unlike.sass")


def test_a_later_cubin_is_told(folder: Path) -> None:
    pytest.importorskip("nvidia")
    data = Path("k.cubin").read_bytes()
    Path("later.cubin").write_bytes(data.replace(b"V13.", b"V99."))
    kernel = warpreg.compile("later.cubin")["add"]
    with pytest.warns(OtherVersionWarning, match=r"later\.cubin: made by CUDA 99\.\d+, listed by nvdisasm"):
        kernel[4, 32](np.ones(128, np.float32), np.ones(128, np.float32), np.ones(128, np.float32), 100)


@pytest.mark.slow
def test_machine_code_in_a_launch_file(folder: Path) -> None:
    pytest.importorskip("nvidia")
    np.save("expected.npy", np.arange(128, dtype=np.float32))
    Path("launches.toml").write_text("""source = "k.cubin"
[arrays.a]
dtype = "float32"
shape = [128]
fill = "arange"
[arrays.b]
dtype = "float32"
shape = [128]
[arrays.out]
dtype = "float32"
shape = [128]
[[launches]]
kernel = "add"
grid = [4]
block = [32]
arguments = ["a", "b", "out", "s32:128"]
[expect.out]
file = "expected.npy"
""")
    assert main(["run", "launches.toml"]) == 0
    assert main(["export", "launches.toml", "--size", "small", "--output", "traces"]) == 0


def test_the_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    version_of.cache_clear()
    with pytest.raises(WarpregError, match=r"^'nvdisasm' is not installed.*warpreg\[cuda\]'$"):
        translate(files.read(Path("k.cubin")), "add")
