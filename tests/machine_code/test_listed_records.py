"""Whole listings say what their cubins say: registers, frames, shared memory, parameters, variables with contents.

``listings/scaled.sm_80.sass`` is what ``nvdisasm`` prints of ``scaled.cu``, ``listings/scaled.dump.sass`` what
``cuobjdump -sass -elf`` prints of it for both architectures; the latter is no part of the ``cuda`` extra.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from warpreg.cli import main
from warpreg.machine_code import assembly, cubin, dump, files
from warpreg.machine_code.cubin import Cubin, KernelRecord
from warpreg.machine_code.errors import MachineCodeError
from warpreg.machine_code.tools import find_tool, output_of

LISTINGS = Path(__file__).parent / "listings"
WHOLE, DUMP = "scaled.sm_80.sass", "scaled.dump.sass"
READ = (".nv.constant", ".nv.global")
"""Sections whose symbols, contents and addresses are read."""

SCALED = {
    "sm_80": KernelRecord("scaled", 13, 0, 256, 0x160, {0: (0, 8), 1: (8, 8), 2: (16, 4)}, True),
    "sm_90": KernelRecord("scaled", 12, 0, 1280, 0x210, {0: (0, 8), 1: (8, 8), 2: (16, 4)}, True),
}
"""Two pointers and a number; 64 floats are shared, and for sm_90 1024 bytes are reserved below them."""


def known(records: Cubin) -> tuple[Any, ...]:
    """What is read of a cubin, in a form that compares."""
    symbols = {(s.name, s.section, s.offset, s.bytes) for rows in records.symbols.values() for s in rows if s.bytes}
    return (
        records.architecture,
        records.kernels,
        {row for row in symbols if row[1].startswith(READ)},
        {name: data for name, data in records.contents.items() if data},
        {name: dict(rows) for name, rows in records.relocated.items() if rows and name.startswith(READ)},
    )


def text(name: str) -> str:
    return (LISTINGS / name).read_text(encoding="utf-8")


def of_whole(listing: str, architecture: str) -> Cubin:
    whole = assembly.read(listing)
    assert whole is not None
    return cubin.records(whole, architecture)


@pytest.mark.parametrize("name", ["kernels.sm_80", "kernels.sm_90"])
def test_a_whole_listing_says_what_its_cubin_says(name: str) -> None:
    pytest.importorskip("nvidia")
    path = LISTINGS / f"{name}.cubin"
    expected = cubin.read(path.read_bytes())
    listing = output_of([str(find_tool("nvdisasm")), str(path)])
    assert known(of_whole(listing, expected.architecture)) == known(expected)


def test_both_tools_say_the_same() -> None:
    """`SCALED`; a table of four floats, and a pointer to a counter: 5, at byte 8 of its section, behind the pointer."""
    whole, dumped = of_whole(text(WHOLE), "sm_80"), dump.read(text(DUMP))
    assert [*dumped] == ["sm_80", "sm_90"]
    assert known(dumped["sm_80"]) == known(whole)
    for architecture, records in dumped.items():
        assert records.kernels == {"scaled": SCALED[architecture]}
        assert np.frombuffer(records.contents[".nv.constant3"], np.float32).tolist() == [1, 2, 3, 4]
        assert records.contents[".nv.global.init"] == bytes(8) + (5).to_bytes(4, "little")
        assert records.relocated[".nv.global.init"][0].symbol == "counter"


@pytest.mark.parametrize(("name", "architecture"), [(WHOLE, "sm_80"), (DUMP, "sm_80"), (DUMP, "sm_90")])
def test_a_whole_listing_runs_without_its_cubin(
    name: str, architecture: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Element i: i ^ 1 times 1, 2, 3 or 4; the counter becomes 7."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("warpreg.machine_code.tools.find_tool", None)
    shutil.copy(LISTINGS / name, "k.sass")
    launch = ["--grid", "1", "--block", "64", "--arg", "buffer:f32:64", "--arg", "buffer:f32:64:arange"]
    saved = ["--save", "0=o.npy", "--save", "counter=c.npy"]
    assert main(["run", "k.sass", "--code", architecture, *launch, "--arg", "s32:64", *saved]) == 0
    assert np.load("o.npy").tolist() == [(i ^ 1) * (i % 4 + 1) for i in range(64)]
    assert int(np.load("c.npy").view(np.int32)) == 7


@pytest.mark.parametrize(
    ("pattern", "replacement", "message"),
    [
        (r"\t\.byte\t0x04, 0x2f\n", "\t.byte\t0x04\n", "nv.info: data at 0002 where 0x1 follows"),
        (r"\(\.L_\d+ - \.L_\d+\)", "(.L_99 - .L_98)", r"'\(.L_99 - .L_98\)' is no known value"),
        (r"\.short\t0x0010\n", ".short\t0x0010, 0x0010\n", "data at"),
    ],
)
def test_damaged_records(pattern: str, replacement: str, message: str, tmp_path: Path) -> None:
    damaged, count = re.subn(pattern, replacement, text(WHOLE), count=1)
    assert count == 1
    path = tmp_path / "k.sass"
    path.write_text(damaged)
    with pytest.raises(MachineCodeError, match=f"k.sass: damaged records: .*{message}"):
        files.read(path)
