"""Values of arguments and variables as text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from warpreg.simt import Structure
from warpreg.workloads.value_text import ValueReader, ValueTextError, files_of

READER = ValueReader(np.random.default_rng(0))
X = np.zeros(3)
LAUNCH_FILE = ValueReader(None, numbers={"n": 4}, buffers={"x": X}, textures={"image": "the image"})


def laid(value: Any) -> str:
    assert isinstance(value, Structure)
    layout = value.mapped(lambda one, place: np.uint64(0) if isinstance(one, np.ndarray) else one).layout()
    return f"{layout}; {layout.size} bytes"


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        ("struct:f32:2.5,s32:20,buffer:f32:32", "f32 at 0, s32 at 4, u64 at 8; 16 bytes"),
        ("struct:u8:1,f64:2", "u8 at 0, f64 at 8; 16 bytes"),
        ("struct:f32:1,2,3,s16:4", "f32[3] at 0, s16 at 12; 16 bytes"),
        ("struct:u8:1,[u8:2,s32:3],u8:4", "u8 at 0, u8 at 4, s32 at 8, u8 at 12; 16 bytes"),
        ("struct:[u8:2,[s32:3,4]],u8:4", "u8 at 0, s32[2] at 4, u8 at 12; 16 bytes"),
        ("struct:f32:1,f32x4:1,2,3,4", "f32 at 0, f32[4] at 16; 32 bytes"),
        ("struct:f32:1,f32x2:1,2,3,4", "f32 at 0, f32[4] at 8; 24 bytes"),
        ("struct:u8:1,f64x4:1,2,3,4", "u8 at 0, f64[4] at 16; 48 bytes"),
        ("struct:f32:4:arange,bytes:00ff,s32:1", "f32[4] at 0, bytes at 16, s32 at 20; 24 bytes"),
        ("struct:f16:1,b128:-1", "f16 at 0, u64[2] at 16; 32 bytes"),
        ("f32:1,2,3", "f32[3] at 0; 12 bytes"),
        ("f32:2x2:ones", "f32[4] at 0; 16 bytes"),
        ("b128:1,2", "u64[4] at 0; 32 bytes"),
    ],
)
def test_a_structure_is_laid_out_as_in_c(text: str, layout: str) -> None:
    assert laid(READER.argument(text)) == layout


def test_values_of_fields_and_their_places() -> None:
    structure = READER.argument("struct:f32:2.5,[s32:-1,buffer:s16:2:arange],f32:1,2")
    places = {place: np.asarray(value).tolist() for place, value in structure.values()}
    assert places == {".0": 2.5, ".1.0": -1, ".1.1": [0, 1], ".2.0": 1, ".2.1": 2}


def test_128_bits_are_two_words() -> None:
    words = [int(value) for _, value in READER.argument(f"b128:{(5 << 64) + 6}").values()]
    assert words == [6, 5]
    assert [int(value) for _, value in READER.argument("b128:-1").values()] == [2**64 - 1] * 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f32:1,2", np.array([1, 2], np.float32)),
        ("s16:4:arange", np.arange(4, dtype=np.int16)),
        ("f64:2x2:1.5", np.full((2, 2), 1.5)),
        ("f32:2.5", np.float32(2.5)),
    ],
)
def test_the_contents_of_a_variable_are_an_array(text: str, expected: Any) -> None:
    found = READER.contents(text)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_bytes_and_files(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.array([1, 2], np.uint16))
    np.save(tmp_path / "records.npy", np.array([(1, 2)], [("a", "u1"), ("b", "u1")]))
    (tmp_path / "raw.bin").write_bytes(b"xyz")
    reader = ValueReader(None, tmp_path)
    assert reader.argument("bytes:00fF") == b"\0\xff"
    assert reader.argument("bytes:raw.bin") == b"xyz"
    assert reader.argument("bytes:w.npy") == b"\1\0\2\0"
    assert reader.argument("bytes:records.npy") == b"\1\2"
    assert reader.contents("file:w.npy").tolist() == [1, 2]
    assert reader.argument("file:w.npy").tolist() == [1, 2]
    assert reader.argument("buffer:file:w.npy").tolist() == [1, 2]
    ((place, pointed),) = reader.contents("buffer:file:w.npy").values()
    assert (place, pointed.tolist()) == (".0", [1, 2])


def test_names_of_a_launch_file() -> None:
    assert LAUNCH_FILE.argument("s32:n") == 4
    assert LAUNCH_FILE.contents("f32:1,n").tolist() == [1, 4]
    assert LAUNCH_FILE.contents("f32:n:n").tolist() == [4, 4, 4, 4]
    values = [value for _, value in LAUNCH_FILE.argument("struct:s32:n,[buffer:x],texture:image").values()]
    assert values[0] == 4
    assert values[1] is X
    assert values[2] == "the image"


@pytest.mark.parametrize(
    ("reader", "text", "said"),
    [
        (READER, "struct:", "expected fields such as struct:f32:2.5,s32:20"),
        (READER, "struct:f32:1,[s32:1", "expected balanced brackets"),
        (READER, "struct:f32:1]", "expected balanced brackets"),
        (READER, "struct:2.5", "'2.5': expected TYPE:VALUE"),
        (READER, "struct:f32:1,i32:2", "'i32:2': no type named 'i32'"),
        (READER, "struct:f32:1,[]", "expected fields such as"),
        (READER, "sturct:f32:1", "no type named 'sturct'; did you mean 'struct'?"),
        (READER, "f32x3:1,2,3", "no type named 'f32x3'"),
        (READER, "f32x4:1,2,3", "expected a multiple of 4 numbers, found 3"),
        (READER, "f32:1,x", "'x' is not a number of type f32"),
        (READER, "u8:1,256", "256 is out of range [0, 255]"),
        (READER, f"b128:{1 << 128}", "is out of range"),
        (READER, "buffer:b128:4", "no type named 'b128'"),
        (READER, "buffer:f32x4:4", "no type named 'f32x4'"),
        (READER, "bytes:0f0", "expected two hexadecimal digits for each byte, found 3"),
        (READER, "bytes:xyz", "expected hexadecimal digits or a file, found 'xyz'"),
        (READER, "bytes:none.bin", "No such file"),
        (READER, "bytes:none.npy", "No such file"),
        (READER, "texture:image", "no type named 'texture'"),
        (LAUNCH_FILE, "s32:m", "'m' is not a number of type s32"),
        (LAUNCH_FILE, "buffer:y", "no array named 'y'; there are: x"),
        (LAUNCH_FILE, "texture:x", "no texture named 'x'; there are: image"),
        (LAUNCH_FILE, "file:x.npy", "expected the name of an array; a file is one under [arrays]"),
        (LAUNCH_FILE, "f32:4:random", "expected zeros, ones, arange or a number; an array may be random"),
    ],
)
def test_a_text_that_describes_nothing_says_what_was_expected(reader: ValueReader, text: str, said: str) -> None:
    with pytest.raises(ValueTextError, match=re.escape(said)):
        reader.argument(text)


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("f32:1", []),
        ("file:w.npy", ["w.npy"]),
        ("bytes:00ff", []),
        ("bytes:p.bin", ["p.bin"]),
        ("file:a,b.npy", ["a,b.npy"]),
        ("buffer:x", []),
        ("struct:f32:1,[bytes:p.bin,s32:2],bytes:a,b.bin", ["p.bin", "a,b.bin"]),
    ],
)
def test_the_files_of_a_value(text: str, files: list[str]) -> None:
    assert list(files_of(text)) == files
