"""Damaged files of machine code give one line and status 1, never a traceback."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpreg.cli import main
from warpreg.codegen import translate
from warpreg.ir.errors import WarpregError
from warpreg.ir.kernel import Kernel
from warpreg.machine_code import cubin, elf, fatbin, files
from warpreg.machine_code.errors import MachineCodeError
from warpreg.machine_code.fatbin import CONTAINER, CUBIN, ENTRY, LZ4, MAGIC, ZSTD

LISTINGS = Path(__file__).parent / "listings"
WHOLE = (LISTINGS / "kernels.sm_80.cubin").read_bytes()
TEXTS = {name: (LISTINGS / name).read_bytes() for name in ("scaled.sm_80.sass", "scaled.dump.sass")}
SECTION_ROW = elf.SECTION.size
FAILURE = 1
"""Exit status of an error."""


def entry(content: bytes, flags: int = 0, whole: int = 0) -> bytes:
    """A fat binary with one cubin."""
    body = ENTRY.pack(CUBIN, 0, ENTRY.size, len(content), len(content), 80, flags, whole) + content
    return CONTAINER.pack(MAGIC, 1, CONTAINER.size, len(body)) + body


FATBIN = entry(WHOLE)


def changed(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


def header(field: int) -> int:
    """The byte at which a field of the header begins: 7 is the start of the section table, 12 to 14 the bytes of a row,
    the rows, and the section of names."""
    return {7: 40, 12: 58, 13: 60, 14: 62}[field]


TABLE = int.from_bytes(WHOLE[40:48], "little")
ROWS = int.from_bytes(WHOLE[60:62], "little")


def section(name: str) -> tuple[int, elf.Section]:
    """The byte of a section's row, and the section."""
    found = elf.read(WHOLE, "k").sections
    number = next(n for n, one in enumerate(found) if one.name == name)
    return TABLE + SECTION_ROW * number, found[number]


INFO, _ = section(".nv.info")
INFO_DATA = int.from_bytes(WHOLE[INFO + 24 : INFO + 32], "little")
SYMBOLS, _ = section(".symtab")

CUBINS = {
    "empty": (b"", "k.cubin: no cubin: it is empty"),
    "text": (b"hello", "k.cubin: no cubin: it does not begin with ELF"),
    "header": (WHOLE[:40], "k.cubin: a damaged cubin: the header ends at byte 64 of 40"),
    "class": (changed(WHOLE, 4, b"\1"), "class and order of bytes are 1 and 1, expected 2 and 1"),
    "order": (changed(WHOLE, 5, b"\2"), "class and order of bytes are 2 and 2, expected 2 and 1"),
    "table": (WHOLE[: TABLE + 70], f"entry 1 of the section table ends at byte {TABLE + 128} of {TABLE + 70}"),
    "names": (changed(WHOLE, header(14), b"\xff\x00"), f"the header names section 255 of {ROWS}"),
    "link": (changed(WHOLE, SYMBOLS + 40, b"\xfe"), f"a table names section 254 of {ROWS}"),
    "record": (changed(WHOLE, INFO_DATA + 2, b"\x07"), "record 0x2f has 7 bytes, expected 8"),
    "symbol": (changed(WHOLE, INFO_DATA + 4, b"\xff\xff"), "a record names symbol 65535 of 54"),
    "symbols": (changed(WHOLE, SYMBOLS + 32, b"\x11"), ".symtab has 1297 bytes, no multiple of 24"),
}


@pytest.mark.parametrize("what", CUBINS)
def test_damaged_cubins(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data, expected = CUBINS[what]
    Path("k.cubin").write_bytes(data)
    assert main(["run", "k.cubin"]) == FAILURE
    (line,) = capsys.readouterr().err.splitlines()
    assert expected in line


def test_a_cubin_cut_at_any_section() -> None:
    """At the first byte of each section with data, and one byte before its end; the section table is the end."""
    for number in range(1, ROWS):
        row = TABLE + SECTION_ROW * number
        offset, size = (int.from_bytes(WHOLE[row + at : row + at + 8], "little") for at in (24, 32))
        for end in (offset, offset + size - 1):
            with pytest.raises(MachineCodeError, match=r"^k: a damaged cubin: .* ends at byte \d+ of \d+$"):
                cubin.read(WHOLE[:end], "k")


FATBINS = {
    "empty": (b"", "no fat binary: it does not begin with 0xba55ed50"),
    "container": (FATBIN[:12], "a damaged fat binary: a container ends at byte 16 of 12"),
    "cut": (FATBIN[:-1], f"a container of {len(FATBIN)} bytes at byte 0 of {len(FATBIN) - 1}"),
    "no header": (changed(FATBIN, CONTAINER.size + 4, bytes(8)), "an entry of 0 bytes at byte 16"),
    "zstd": (entry(b"abc", ZSTD, 100), "a compressed cubin that cannot be unpacked"),
    "huge": (entry(b"abc", ZSTD, 1 << 60), f"a cubin of {1 << 60} bytes, expected at most {1 << 30}"),
}


@pytest.mark.parametrize("what", FATBINS)
def test_damaged_fat_binaries(what: str) -> None:
    data, expected = FATBINS[what]
    with pytest.raises(MachineCodeError, match=f"^k: .*{re.escape(expected)}"):
        fatbin.read(data, "k")


def test_a_damaged_block_of_lz4() -> None:
    pytest.importorskip("lz4")
    with pytest.raises(MachineCodeError, match="a compressed cubin that cannot be unpacked"):
        fatbin.read(entry(b"\xff\xff\xff", LZ4, 100), "k")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "k.sass: no function; expected text of nvdisasm -c or cuobjdump -sass"),
        ("\t.target sm_80\n", "k.sass: no function"),
        ("\t.section .text.f\n /*0000*/ EXIT ;\n", "it does not name its architecture; choose it with --code"),
        ("\t.target sm_80\n\t.section .text.f\n\t.section .text.g\n", "k.sass: function f has no instructions"),
    ],
)
def test_listings_that_say_too_little(
    text: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.sass").write_text(text)
    assert main(["run", "k.sass", "--grid", "1", "--block", "32"]) == FAILURE
    (line,) = capsys.readouterr().err.splitlines()
    assert expected in line


def damage(data: bytes) -> st.SearchStrategy[bytes]:
    """The data cut somewhere, or with up to four other bytes."""
    place = st.integers(0, len(data) - 1)
    flips = st.lists(st.tuples(place, st.integers(0, 255)), min_size=1, max_size=4)
    return st.one_of(place.map(lambda end: data[:end]), flips.map(lambda all_: flipped(data, all_)))


def flipped(data: bytes, flips: list[tuple[int, int]]) -> bytes:
    found = bytearray(data)
    for at, byte in flips:
        found[at] = byte
    return bytes(found)


def message(action: Callable[[], object]) -> str:
    """The message of the error of Warpreg that an action raises, empty without one; no other may arise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            action()
        except WarpregError as error:
            return str(error)
    return ""


def lifted(path: Path, architecture: str | None = None) -> list[Kernel]:
    module = files.read(path, architecture)
    return [translate(module, kernel.name) for kernel in module.kernels]


@settings(max_examples=200)
@given(damage(WHOLE))
def test_any_damage_of_a_cubin(data: bytes) -> None:
    assert "\n" not in message(lambda: cubin.read(data, "k"))


@settings(max_examples=200)
@given(damage(FATBIN))
def test_any_damage_of_a_fat_binary(data: bytes) -> None:
    assert "\n" not in message(lambda: fatbin.read(data, "k"))


@pytest.mark.parametrize("name", TEXTS)
def test_any_damage_of_a_listing(name: str, tmp_path: Path) -> None:
    @settings(max_examples=100)
    @given(damage(TEXTS[name]))
    def check(data: bytes) -> None:
        path = tmp_path / "k.sass"
        path.write_bytes(data)
        assert "\n" not in message(lambda: lifted(path, "sm_80"))

    check()


@pytest.mark.slow
def test_any_damage_of_a_listed_cubin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through the disassembler, which may refuse the file, list other code, or not end."""
    pytest.importorskip("nvidia")
    monkeypatch.setattr("warpreg.machine_code.tools.LISTING_SECONDS", 3.0)

    @settings(max_examples=25, deadline=None)
    @given(damage(WHOLE))
    def check(data: bytes) -> None:
        path = tmp_path / "k.cubin"
        path.write_bytes(data)
        assert "\n" not in message(lambda: lifted(path))

    check()
