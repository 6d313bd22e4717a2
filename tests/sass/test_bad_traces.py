"""Invalid traces: the message names file and line, the expected and the found text."""

import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.sass.text import body, header, line, write_trace

from warpreg.designs.parts.hints.program_table import program_table
from warpreg.sass.choice import TraceChoice
from warpreg.sass.errors import SassTraceError
from warpreg.sass.reader import read_recording

WARP = [line(0x00, "R1 <- MOV"), line(0x10, "R2 <- LDG.E R2", memory="4 1 0x100 4"), line(0x20, "EXIT")]
HEADER_LINES = header().count("\n")
FIRST = HEADER_LINES + 8
"""The line of the first instruction."""


def complaint(folder: Path, text: str) -> str:
    path = folder / "kernel-1.traceg"
    path.write_text(text)
    with pytest.raises(SassTraceError) as caught:
        read_recording(path).launches[0]
    message = str(caught.value)
    assert message.startswith(f"{path}:"), message
    return message.removeprefix(f"{path}:")


GOOD = header(threads=64) + body([[WARP, WARP]])


@pytest.mark.parametrize(
    ("found", "put", "place", "message"),
    [
        ("0010 ffffffff", "0010 fffffffff", FIRST + 1, "expected a mask of 32 lanes in hexadecimal of at most 32 bits"),
        ("0010 ffffffff", "0010 ffffzzzz", FIRST + 1, "expected a mask of 32 lanes in hexadecimal, found 'ffffzzzz'"),
        ("1 R1 MOV", "1 R256 MOV", FIRST, "expected a destination register (R0 to R255), found 'R256'"),
        ("1 R1 MOV", "1 X1 MOV", FIRST, "expected a destination register (R0 to R255), found 'X1'"),
        ("1 R1 MOV", "2 R1 MOV", FIRST, "expected a destination register (R0 to R255), found 'MOV'"),
        ("1 R1 MOV", "1 R1 mov", FIRST, "expected an opcode, found 'mov'"),
        ("4 1 0x100 4", "4 1 0xzz 4", FIRST + 1, "expected the address of the first lane, found '0xzz'"),
        (
            "4 1 0x100 4",
            "4 3 0x100 4",
            FIRST + 1,
            "expected the mode of the addresses (0, 1 or 2) from 0 to 2, found 3",
        ),
        ("4 1 0x100 4 0", "4 2 0x100 4 4", FIRST + 1, "expected the distance from the lane before, found the end of"),
        ("4 1 0x100 4 0", "4 0 0x1 0x2", FIRST + 1, "expected the address of a lane, found the end of the line"),
        ("0010 ffffffff", "0010\tffffffff", FIRST + 1, "expected words with one space between them"),
        (
            "insts = 3",
            "insts = 2",
            FIRST + 2,
            "warp 0 of thread block 0,0,0 announces 2 instructions, here is one more",
        ),
        ("insts = 3", "insts = 4", FIRST + 4, "announces 4 instructions, found 'warp = 1' after 3"),
        ("insts = 3\n", "", FIRST - 1, "may not stand at the beginning of a warp"),
        ("warp = 1", "warp = 0", FIRST + 4, "warp 0 is in thread block 0,0,0 twice"),
        ("warp = 1", "warp = 2", FIRST + 4, "a thread block has 2 warps, found warp 2"),
        ("thread block = 0,0,0", "thread block = 1,0,0", FIRST - 4, "thread block 1,0,0 is outside of the grid 1x1x1"),
        ("thread block = 0,0,0\n", "", FIRST - 3, "'warp = 0' may not stand at the beginning of a thread block"),
        ("#BEGIN_TB", "#END_TB", HEADER_LINES + 2, "'#END_TB' may not stand between thread blocks"),
        ("#END_TB", "#END", FIRST + 10, "'#END' may not stand in a warp"),
        (
            "accelsim tracer version = 5",
            "accelsim tracer version = 2",
            12,
            "versions 3 to 6 are read, this is version 2",
        ),
        ("binary version = 80", "binary version = 35", 7, "expected machine code of sm_50 or later, found sm_35"),
        ("grid dim = (1,1,1)", "grid dim = (0,1,1)", 3, "'(0,1,1)'"),
        ("block dim = (64,1,1)", "block dim = (64,64,1)", 4, "1 to 1024 threads in a block"),
        ("nregs = 32", "nregs = many", 6, "expected a number for 'nregs', found 'many'"),
        ("-shmem = 64", "shmem 64", 5, "expected '-key = value' or '#', found 'shmem 64'"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, found: str, put: str, place: int, message: str) -> None:
    assert found in GOOD
    told = complaint(tmp_path, GOOD.replace(found, put, 1))
    assert told.startswith(f"{place}: ")
    assert message in told


def test_a_missing_entry_of_the_header_is_named(tmp_path: Path) -> None:
    told = complaint(tmp_path, header(grid_dim=None) + body([[WARP]]))
    assert "the header has no entry '-grid dim = ...'" in told


@pytest.mark.parametrize(
    ("kept", "message"),
    [
        (lambda text: text[: text.index("0010")], "the trace stops in warp 0 of thread block 0,0,0, after 1 of 3"),
        (lambda text: text[: text.rindex("R1 MOV") + 3], "end of the line"),
        (lambda text: text[: text.index("warp = 1")], "the trace stops in warp 0 of thread block 0,0,0: expected"),
        (lambda text: text.replace("grid dim = (1,", "grid dim = (3,"), "stops after 1 of 3 thread blocks"),
        (lambda text: text[: text.index("\nwarp = 1")] + "\n#END_TB\n", "has 1 of its 2 warps"),
        (lambda text: text[: text.index("-kernel id")], "the trace ends before its header does"),
        (lambda text: "", "the trace ends before its header does"),
    ],
)
def test_a_trace_that_stops_early_says_where(tmp_path: Path, kept: Callable[[str], str], message: str) -> None:
    assert message in complaint(tmp_path, kept(GOOD))


VERSION_3 = GOOD.replace("version = 5", "version = 3").replace("-enable lineinfo = 0\n", "").replace(" 0 \n", " \n")
"""Tracer version 3 knows no line information and writes no immediates."""


@pytest.mark.parametrize(
    ("cut", "message"),
    [
        ("0x100 4", "expected the address of the first lane, found the end of the line"),
        (" 1 R2 4 1 0x100 4", "expected the number of source registers, found the end of the line"),
        ("0020 ffffffff", "the trace stops in warp 0 of thread block 0,0,0, after 2 of 3"),
    ],
)
def test_a_trace_of_version_3_that_stops_early_says_where(tmp_path: Path, cut: str, message: str) -> None:
    assert message in complaint(tmp_path, VERSION_3[: VERSION_3.index(cut)])


def test_a_trace_without_instructions_is_refused(tmp_path: Path) -> None:
    path = write_trace(tmp_path, [[[]]])
    with pytest.raises(SassTraceError, match="no warp executes an instruction"):
        read_recording(path)


def test_a_thread_block_may_not_come_twice(tmp_path: Path) -> None:
    again = body([[WARP], [WARP]]).replace("thread block = 1,0,0", "thread block = 0,0,0")
    assert "thread block 0,0,0 is in the trace twice" in complaint(tmp_path, header(2) + again)


def test_unknown_opcodes_are_counted_and_listed(tmp_path: Path) -> None:
    warp = [line(0, "R1 <- FROB.X R2"), line(0x10, "R1 <- QUUX R1"), line(0x20, "R1 <- FROB.Y R2"), line(0x30, "EXIT")]
    told = complaint(tmp_path, header(threads=64) + body([[warp, warp]]))
    path = tmp_path / "kernel-1.traceg"
    expected = f"FROB executed 4 times, first at {path}:{FIRST}; QUUX executed 2 times, first at {path}:{FIRST + 1}"
    assert told.startswith(f"{FIRST}: ")
    assert expected in told


def test_unknown_opcodes_count_as_alu_when_asked(tmp_path: Path) -> None:
    path = write_trace(tmp_path, [[[line(0, "R1 <- FROB R2"), line(0x10, "EXIT")]]])
    recording = read_recording(path, TraceChoice("alu"))
    assert recording.unknown == {"FROB": 1}
    assert str(next(recording.launches[0].kernel.instructions())) == "FROB R1, R2"


@pytest.mark.parametrize("entry", ["accelsim tracer version = 4", "binary version = 70"])
def test_versions_may_not_mix_in_a_list(tmp_path: Path, entry: str) -> None:
    text = header() + body([[WARP]])
    key = entry.partition(" = ")[0]
    (tmp_path / "kernel-1.traceg").write_text(text)
    changed = "".join(f"-{entry}\n" if key in one else one for one in text.splitlines(keepends=True))
    (tmp_path / "kernel-2.traceg").write_text(changed)
    (tmp_path / "kernelslist.g").write_text("kernel-1.traceg\nkernel-2.traceg\n")
    with pytest.raises(SassTraceError, match=r"kernel-2\.traceg:\d+: .*, but the first trace of the list has"):
        read_recording(tmp_path / "kernelslist.g")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kernel-7.traceg\n", ":1: the list names 'kernel-7.traceg', which does not exist"),
        ("kernel-1.trace\n", ":1: expected the name of a .traceg (plain, .xz, .zst) or .tracez file"),
        ("MemcpyHtoD,0x100\n", ":1: expected 'MemcpyHtoD,0xADDRESS,BYTES', found 'MemcpyHtoD,0x100'"),
        ("\n", ": the list names no trace"),
    ],
)
def test_a_wrong_list_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "kernelslist.g"
    path.write_text(text)
    with pytest.raises(SassTraceError) as caught:
        read_recording(path)
    assert str(caught.value).startswith(f"{path}{message}")


@pytest.mark.parametrize("compress", [lzma.compress, zstandard.ZstdCompressor(write_checksum=True).compress])
@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_damaged_compression_is_told(tmp_path: Path, compress: Callable[[bytes], bytes], damage: str) -> None:
    data = bytearray(compress(GOOD.encode()))
    if damage == "cut":
        del data[-10:]
    else:
        data[len(data) // 2] ^= 0x55
    path = tmp_path / ("kernel-1.traceg.zst" if data[:1] == b"\x28" else "kernel-1.traceg.xz")
    path.write_bytes(data)
    with pytest.raises(SassTraceError, match=r"kernel-1\.traceg\.(xz|zst): the compressed file is (cut off|damaged)"):
        read_recording(path).launches[0]


def test_a_file_without_lines_is_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "kernel-1.traceg"
    path.write_bytes(b"x" * 3_000_000)
    with pytest.raises(SassTraceError, match="is not of a trace"):
        read_recording(path).launches[0]


EDITS = st.tuples(
    st.integers(0, len(GOOD) - 1), st.integers(0, 4), st.sampled_from([*"0f9 R-x.,#\n", "", "ffffffffffffffff"])
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(EDITS, min_size=1, max_size=3))
def test_an_edited_trace_is_read_or_refused(tmp_path: Path, edits: list[tuple[int, int, str]]) -> None:
    text = GOOD
    for at, removed, put in edits:
        text = text[:at] + put + text[at + removed :]
    path = tmp_path / "kernel-1.traceg"
    path.write_text(text)
    refusal, launches = "", []
    try:
        launches = list(read_recording(path).launches)
    except SassTraceError as error:
        refusal = str(error)
    assert refusal.startswith(str(path)) == (not launches)
    for launch in launches:
        lengths = [len(block.instructions) for block in launch.kernel.blocks]
        assert launch.visits.astype(int) @ lengths == launch.warp_instructions
        assert program_table(launch.kernel).unit.size == sum(lengths)
