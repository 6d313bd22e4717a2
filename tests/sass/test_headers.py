"""Headers of broken, older and edited tracers: what is replaced, tolerated and refused."""

from pathlib import Path
from typing import Any

import pytest
from tests.sass.text import body, header, line

from warpreg.sass.choice import trace_choice
from warpreg.sass.errors import SassTraceError
from warpreg.sass.reader import RecordedLaunch, Recording, read_recording

WARP = [
    line(0x00, "R1 <- MOV"),
    line(0x10, "R4 <- LDG.E.128 R2", memory="16 1 0x7f0000001000 16"),
    line(0x20, "R9 <- FADD R7 R255"),
    line(0x30, "EXIT"),
]
"""The registers R1 to R9, R2 and R3 as an address and R4 to R7 as one value."""


def read(
    folder: Path, text: str, version: str | int | None = None, registers: int | None = None, encoding: str = "utf-8"
) -> Recording:
    path = folder / "kernel-1.traceg"
    path.write_bytes(text.encode(encoding))
    return read_recording(path, trace_choice(version=version), registers)


def written(old: str = "", new: str = "", **entries: Any) -> str:
    """A trace with another header: ``old`` replaced by ``new``."""
    text = header(**entries)
    assert old in text
    return text.replace(old, new, 1) + body([[WARP]])


def code(launch: RecordedLaunch) -> list[str]:
    return [str(instruction) for instruction in launch.kernel.instructions()]


BROKEN: dict[str, Any] = {"nregs": 21955, "binary_version": 0}
"""As a tracer writes them that was built for another version of NVBit."""


def test_given_numbers_make_a_broken_header_a_good_one(tmp_path: Path) -> None:
    (good,) = read(tmp_path, written(nregs=12, binary_version=70)).launches
    found = read(tmp_path, written(**BROKEN), "sm_70", 12)
    (launch,) = found.launches
    assert code(launch) == code(good)
    assert (launch.kernel.register_demand, launch.header.binary_version) == (12, 70)
    assert found.notes == ("registers 12 (header: 21955)", "binary version 70 (header: 0)")


def test_a_broken_header_is_refused_with_the_options_that_help(tmp_path: Path) -> None:
    with pytest.raises(SassTraceError) as caught:
        read(tmp_path, written(**BROKEN))
    assert str(caught.value) == (
        f"{tmp_path}/kernel-1.traceg:6: a thread has at most 255 registers, found 21955; expected machine code of sm_50"
        " or later, found sm_0; a tracer built for another NVBit writes such headers: give the right numbers with"
        " --registers N --binary-version 70, in Python read_trace(..., registers=N, binary_version=70)"
    )


@pytest.mark.parametrize(
    ("entries", "version", "registers", "message"),
    [
        (BROKEN, None, 12, "7: expected machine code of sm_50 or later, found sm_0; .* with --binary-version 70, in"),
        (BROKEN, 70, None, "6: a thread has at most 255 registers, found 21955; .* with --registers N, in"),
        ({"nregs": -7}, None, None, "6: expected a number for 'nregs', found '-7'; .* with --registers N, in"),
        ({"nregs": ""}, None, None, "6: the header has '-nregs =' without a value; .* with --registers N, in"),
        ({"binary_version": None}, None, None, "14: the header has no entry '-binary version = ...'; .* 70, in Python"),
        (
            {"binary_version": 32764},
            None,
            None,
            "7: expected machine code of sm_50 .* sm_32764; .* --binary-version 70",
        ),
        ({"binary_version": 37}, None, None, "7: expected machine code of sm_50 or later, found sm_37$"),
    ],
)
def test_each_option_is_told_where_it_helps(
    tmp_path: Path, entries: dict[str, Any], version: int | None, registers: int | None, message: str
) -> None:
    with pytest.raises(SassTraceError, match=rf"kernel-1\.traceg:{message}"):
        read(tmp_path, written(**entries), version, registers)


@pytest.mark.parametrize(("nregs", "text"), [("many", "many"), (-7, "-7"), ("", "none"), (None, "none"), (0, "0")])
def test_registers_replace_whatever_is_no_demand(tmp_path: Path, nregs: object, text: str) -> None:
    found = read(tmp_path, written(nregs=nregs), registers=12)
    assert found.launches[0].kernel.register_demand == 12
    assert found.notes == (f"registers 12 (header: {text})",)


def test_registers_below_those_of_the_code_are_refused_in_place_of_a_broken_number(tmp_path: Path) -> None:
    with pytest.raises(
        SassTraceError, match=r"registers up to R9: expected --registers 10 or more in place of the .* 21955"
    ):
        read(tmp_path, written(nregs=21955), registers=9)
    assert read(tmp_path, written(nregs=21955), registers=10).launches[0].kernel.register_demand == 10


def test_a_good_demand_still_bounds_the_operands(tmp_path: Path) -> None:
    """The number of the user is for occupancy: R4 to R7 stay one value."""
    found = read(tmp_path, written(nregs=12), registers=6)
    assert code(found.launches[0]) == code(read(tmp_path, written(nregs=12)).launches[0])
    assert found.launches[0].kernel.register_demand == 12
    assert found.notes == ("registers 6 (header: 12)",)


def test_equal_numbers_are_no_replacement(tmp_path: Path) -> None:
    assert read(tmp_path, written(nregs=12, binary_version=70), 70, 12).notes == ()


def test_a_version_replaces_those_of_a_whole_list(tmp_path: Path) -> None:
    """Different ones may not mix, unless one replaces them all."""
    names = []
    for number, version in enumerate((0, 7, 80), 1):
        names.append(f"kernel-{number}.traceg\n")
        (tmp_path / names[-1].strip()).write_text(written(binary_version=version, kernel_name=f"k{number}"))
    (tmp_path / "kernelslist.g").write_text("".join(names))
    found = read_recording(tmp_path / "kernelslist.g", trace_choice(version=75))
    assert [launch.header.binary_version for launch in found.launches] == [75, 75, 75]
    assert found.notes == ("binary version 75 (header: 0, 7, 80)",)


GOOD = written()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(GOOD.replace("\n", "\r\n"), id="CRLF"),
        pytest.param("\ufeff" + GOOD, id="byte order mark"),
        pytest.param(written(nvbit_version=None), id="no NVBit version"),
        pytest.param(written(cuda_stream_id=None), id="no stream"),
        pytest.param(written(kernel_id=None), id="no number"),
        pytest.param(written(enable_lineinfo=None), id="no line information"),
        pytest.param(written(shmem_base_addr=None), id="no window of shared memory"),
        pytest.param(written(local_mem_base_addr=None), id="no window of local memory"),
        pytest.param(written("-nregs", "-cluster dim = (1,1,1)\n-Newer-Entry 2=x=y\n-nregs"), id="unknown entries"),
        pytest.param(written("-nregs = ", "-nregs\t=  "), id="other spaces"),
        pytest.param(written("(1,1,1)", "(1, 1, 1)"), id="spaces in a grid"),
        pytest.param(written("-nregs", "-nregs = 32\n-nregs"), id="an entry twice"),
        pytest.param(written("#traces format = as ever\n"), id="no line about the format"),
        pytest.param("# written by hand\n\n" + GOOD, id="a comment"),
    ],
)
def test_other_headers_of_the_same_launch(tmp_path: Path, text: str) -> None:
    """Kernel, path and addresses are the same; locations in the file are not compared."""
    (expected,), (found,) = read(tmp_path, GOOD).launches, read(tmp_path, text).launches
    assert code(found) == code(expected)
    assert found.kernel.register_demand == expected.kernel.register_demand == 32
    assert found.warp_instructions == 4
    for found_words, expected_words in zip(found.trace.address_chunks(), expected.trace.address_chunks(), strict=True):
        assert found_words.tolist() == expected_words.tolist()


def test_without_shared_memory_in_the_header_there_is_none(tmp_path: Path) -> None:
    assert read(tmp_path, written(shmem=None)).launches[0].kernel.shared_bytes == 0


def test_without_a_demand_it_is_that_of_the_instructions(tmp_path: Path) -> None:
    assert read(tmp_path, written(nregs=None)).launches[0].kernel.register_demand == 10


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (written(shmem=-1), "5: expected a number for 'shmem', found '-1'"),
        (written(shmem=""), "5: the header has '-shmem =' without a value"),
        (
            written(grid_dim="2,1,1"),
            r"3: expected '\(x,y,z\)' of 1 to 2147483647 thread blocks for 'grid dim', found '2",
        ),
        (written(grid_dim="(65535,65535,65535)"), "3: expected '.*' of 1 to 2147483647 thread blocks"),
        (written(block_dim=None), "14: the header has no entry '-block dim = ...'"),
        (written(block_dim="(33,1,1)"), "29: thread block 0,0,0 has 1 of its 2 warps"),
        (written(local_mem_base_addr="(nil)"), r"10: expected a number for 'local mem base_addr', found '\(nil\)'"),
        (written(accelsim_tracer_version=None), "14: the header has no entry '-accelsim tracer version = ...'"),
        (written(accelsim_tracer_version="5.1"), "12: expected a number for 'accelsim tracer version', found '5.1'"),
        (written(kernel_name=""), "1: the header has '-kernel name =' without a value"),
        (written("-nregs", "-nregs = 33\n-nregs"), "7: the header has '-nregs' twice, with '33' and '32'"),
        (written("-nregs", "-traced\n-nregs"), "6: expected '-key = value' or '#', found '-traced'"),
        (written("-nregs", "= 3\n-nregs"), "6: expected '-key = value' or '#', found '= 3'"),
        (written("-nregs", "- = 3\n-nregs"), "6: expected '-key = value' or '#', found '- = 3'"),
    ],
)
def test_a_header_that_cannot_be_right_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SassTraceError, match=rf"kernel-1\.traceg:{message}"):
        read(tmp_path, text)


def test_a_trace_in_another_encoding_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SassTraceError, match=r"kernel-1\.traceg:1: expected '-key = value' or '#', found"):
        read(tmp_path, GOOD, encoding="utf-16")
