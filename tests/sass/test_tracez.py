"""``.tracez``, the compressed traces of Accel-Sim 2.0, and what its text says more than that of older versions."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.sass.compressed import tracez
from tests.sass.text import body, executions, header, line, pcs
from tests.sass.vector_add import write_vector_add

from warpreg.sass.choice import trace_choice
from warpreg.sass.errors import SassTraceError
from warpreg.sass.listing import kernel_name, recording_name
from warpreg.sass.reader import RecordedLaunch, read_recording


def vector_add(folder: Path) -> str:
    """The text of a trace of two thread blocks of four warps."""
    listed = write_vector_add(folder, 200)
    return (listed.parent / "kernel-1.traceg").read_text()


def written(folder: Path, data: bytes) -> Path:
    path = folder / "kernel-1.tracez"
    path.write_bytes(data)
    return path


def read(path: Path) -> RecordedLaunch:
    (launch,) = read_recording(path).launches
    return launch


def trained(text: str) -> bytes:
    """A dictionary of lines, as Accel-Sim's processor of traces trains one."""
    lines: list[bytes | bytearray | memoryview] = [one.encode() for one in 8 * text.splitlines() if one]
    return zstandard.train_dictionary(1 << 12, lines).as_bytes()


@pytest.mark.parametrize("part", [1, 3, 2048])
@pytest.mark.parametrize("has_dictionary", [False, True])
def test_it_is_read_as_its_text(tmp_path: Path, part: int, has_dictionary: bool) -> None:
    text = vector_add(tmp_path)
    path = written(tmp_path, tracez(text, part, trained(text) if has_dictionary else b""))
    launch, plain = read(path), read(tmp_path / "kernel-1.traceg")
    assert launch.kernel.blocks == plain.kernel.blocks
    assert executions(launch) == executions(plain)
    assert (launch.warp_instructions, launch.header) == (plain.warp_instructions, plain.header)


def test_a_list_names_it_and_thread_blocks_are_selected(tmp_path: Path) -> None:
    path = written(tmp_path, tracez(vector_add(tmp_path)))
    (tmp_path / "kernelslist.g").write_text("kernel-1.tracez\n")
    (launch,) = read_recording(tmp_path / "kernelslist.g", trace_choice(launches="*add*", thread_blocks="1")).launches
    assert {block for block, _ in executions(launch)} == {0}
    assert (kernel_name(path), recording_name(path)) == ("_Z3addPKfS0_Pfi", "kernel-1")


def test_a_line_is_named_by_its_number_in_the_text(tmp_path: Path) -> None:
    text = vector_add(tmp_path).replace("LDG.E 1 R4", "LDG.E 1 R400")
    number = next(n for n, one in enumerate(text.splitlines(), 1) if "R400" in one)
    with pytest.raises(SassTraceError, match=rf"kernel-1\.tracez:{number}: expected a source register"):
        read(written(tmp_path, tracez(text)))


def test_a_warp_must_have_the_instructions_that_it_announces(tmp_path: Path) -> None:
    text = vector_add(tmp_path).replace("insts = 14", "insts = 15", 1)
    with pytest.raises(SassTraceError, match=r"kernel-1\.tracez:\d+: warp 0 of .* announces 15 instructions"):
        read(written(tmp_path, tracez(text)))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no null byte ends its header"),
        (b"-kernel name = foo\n", "no null byte ends its header"),
        (b"-kernel name = foo\n\0\1\0", "it ends within the sizes"),
        (b"-kernel name = foo\n\0" + struct.pack("<II", 9, 0), "it ends within the dictionary"),
        (b"-kernel name = foo\n\0" + struct.pack("<II", 9999, 0), "its dictionary should have 9999 bytes"),
        (tracez(header() + body([[[line(0, "EXIT")]]]))[:-1], "its last 8 bytes should be the place of its index"),
        (tracez(header() + body([[[line(0, "EXIT")]]]), end=b"abc"), "3 bytes are left behind its index"),
    ],
)
def test_a_damaged_file_is_told(tmp_path: Path, data: bytes, message: str) -> None:
    path = written(tmp_path, data)
    with pytest.raises(SassTraceError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: the compressed file is damaged: {message}")


GOOD = tracez(header(2) + body([[[line(0, "R1 <- MOV R2"), line(16, "EXIT")]]] * 2), part=1)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, len(GOOD)), st.binary(max_size=3), st.booleans())
def test_any_cut_or_changed_file_is_read_or_refused(tmp_path: Path, at: int, put: bytes, is_cut: bool) -> None:
    path = written(tmp_path, GOOD[:at] + put + (b"" if is_cut else GOOD[at + len(put) :]))
    refusal = ""
    try:
        read(path)
    except SassTraceError as error:
        refusal = str(error)
    assert not refusal or (refusal.startswith(str(path)) and "\n" not in refusal)


def test_clusters_of_thread_blocks_are_read_over(tmp_path: Path) -> None:
    place = "thread block = 0,0,0\n"
    cluster = "cluster id = 0,0,0\ncluster cta = 1,0,0\ncluster rank = 1\n"
    text = header() + body([[[line(0, "R1 <- MOV R2")]]])
    path = tmp_path / "kernel-1.traceg"
    path.write_text(text.replace(place, place + cluster))
    assert read(path).warp_instructions == 1
    path.write_text(text.replace("\n#BEGIN_TB", "\ncluster rank = 1\n\n#BEGIN_TB"))
    with pytest.raises(SassTraceError, match="'cluster rank = 1' may not stand between thread blocks"):
        read(path)


LINES_OF_2_0 = (
    "0000 ffffffff 1 R1 MOV 1 R2 0 0 0 NoVal",
    "0010 ffffffff 1 P0 ISETP.GE.AND 2 R2 UR4 0 0 0 Val 1 00000001 1 00000002 1 00000003",
    "0020 ffffffff 1 R24 HGMMA.64x16x16.F32 3 R24 UR4 R255 1 0 0 0 NoVal",
    "0030 ffffffff 0 UTMALDG.2D 2 UR8 UR6 16 10c00 0 4096 0 4 7f0000001000 2 64 0 0 NoVal",
    "0040 ffffffff 0 UBLKCP 2 UR8 UR6 0 10c00 1 3 4096 0 3 1 7f0000001000 0 0 NoVal",
    "0050 ffffffff 0 EXIT 0 0 0 0 NoVal",
)


def test_lines_of_version_2_0_are_read(tmp_path: Path) -> None:
    """Predicates and uniform registers, a second immediate, the flag of HGMMA, and bulk copies with addresses of their
    own."""
    path = tmp_path / "kernel-1.traceg"
    path.write_text(header(accelsim_tracer_version=6, binary_version=90) + body([[LINES_OF_2_0]]))
    launch = read(path)
    named = [(one.full_opcode, *(f"R{used.index}" for used in one.used)) for one in launch.kernel.instructions()]
    assert named[:2] == [("MOV", "R2"), ("ISETP.GE.AND", "R2")]
    assert named[2][:2] == ("HGMMA.64x16x16.F32", "R24")
    assert named[3:] == [("UTMALDG.2D",), ("UBLKCP",), ("EXIT",)]
    assert launch.warp_instructions == 6


def test_marks_of_replayed_regions_are_no_instructions(tmp_path: Path) -> None:
    lines = (
        line(0, "R1 <- MOV R2"),
        line(0x10, "REPLAY_START"),
        line(0x10, "R3 <- MOV R1"),
        line(0x20, "REPLAY_END"),
        line(0x20, "EXIT"),
    )
    path = tmp_path / "kernel-1.traceg"
    path.write_text(header() + body([[lines]]))
    launch = read(path)
    assert launch.warp_instructions == 3
    assert pcs(launch.kernel) == [0, 0x10, 0x20]
