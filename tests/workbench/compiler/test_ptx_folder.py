"""A folder of PTX files with its launches: its contents, and error messages for invalid files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from warpreg.cli import main
from warpreg_workbench.compiler.ptx_folder import LaunchFileError, ptx_files, read_launches


def launches(folder: Path, text: str) -> None:
    (folder / "launches.toml").write_text(text, encoding="utf-8")


def test_arguments_are_numbers_and_buffers(tmp_path: Path) -> None:
    launches(
        tmp_path,
        """
        [k]
        grid = [2, 3]
        block = [64]
        shared_bytes = 16
        arguments = [{ f32 = 2 }, { type = "s16", shape = [2, 4] }, { type = "u8", shape = [90], low = 7, high = 9 },
          { type = "f64", shape = [50], low = -1, high = 1 }]
        """,
    )
    launch = read_launches(tmp_path)["k"]
    assert (launch.grid, launch.block, launch.shared_bytes) == ((2, 3), (64,), 16)
    number, zeros, integers, reals = launch.arguments
    assert isinstance(number, np.float32)
    assert number == 2
    assert (zeros.shape, zeros.dtype, np.count_nonzero(zeros)) == ((2, 4), np.int16, 0)
    assert (integers.dtype, set(np.asarray(integers).tolist())) == (np.uint8, {7, 8})
    assert (np.asarray(reals).min() < 0) & (np.asarray(reals).max() > 0) & (np.abs(np.asarray(reals)).max() <= 1)


def test_the_same_seed_gives_the_same_inputs(tmp_path: Path) -> None:
    launches(tmp_path, '[k]\ngrid = [1]\nblock = [1]\narguments = [{ type = "s32", shape = [9], high = 1000 }]')
    one, again, other = (np.asarray(read_launches(tmp_path, seed)["k"].arguments[0]) for seed in (0, 0, 1))
    assert (one == again).all()
    assert (one != other).any()


def test_a_folder_need_not_have_launches(tmp_path: Path) -> None:
    assert read_launches(tmp_path) == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[k\n", r"launches\.toml: "),
        ("[k]\ngrid = [1]", r"\[k\]: expected the keys arguments, block, grid, shared_bytes"),
        ("[k]\ngrid = [0]\nblock = [1]\narguments = []", r"\[k\]: grid should be .* positive integers, found \[0\]"),
        ("[k]\ngrid = [1]\nblock = 4\narguments = []", r"\[k\]: block should be"),
        ("[k]\ngrid = [1]\nblock = [1]\narguments = [{ i32 = 1 }]", r"argument 0: no type named 'i32'"),
        ("[k]\ngrid = [1]\nblock = [1]\narguments = [7]", r"argument 0: expected"),
        ("[k]\ngrid = [1]\nblock = [1]\narguments = [{ type = 's32', shape = [] }]", "argument 0: shape should be"),
    ],
)
def test_a_faulty_file_is_named_with_the_place(tmp_path: Path, text: str, message: str) -> None:
    launches(tmp_path, text)
    with pytest.raises(LaunchFileError, match=message):
        read_launches(tmp_path)


def test_a_folder_without_ptx_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LaunchFileError, match=r"expected a folder with \.ptx files"):
        ptx_files(tmp_path)


def test_only_the_compiler_benchmark_takes_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "spine", "--ptx", str(tmp_path)]) == 2
    assert "--ptx and --address-bits require" in capsys.readouterr().err
