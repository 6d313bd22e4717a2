"""Parts of traces: selected launches of a list, selected thread blocks of a launch."""

import lzma
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import zstandard
from tests.sass.text import executions, header, line, write_trace

from warpreg.evaluation.runs.run import Run
from warpreg.evaluation.runs.traces import export_run, recorded_run
from warpreg.sass.choice import trace_choice
from warpreg.sass.errors import SassTraceError
from warpreg.sass.listing import Copy
from warpreg.sass.reader import RecordedLaunch, Recording, read_recording
from warpreg.timing.feed.feed import feed
from warpreg.timing.launch.sampling import Window

NAMES = ("_Z4gemmPf", "_Z4reluPf", "_Z4gemmPf", "_ZN2at3fooEPf")
"""Of launches 1 to 4, in files with the numbers 501 to 504."""


def warp(number: int) -> list[str]:
    """Loads from 128 bytes of its own: 0x1000 + 128 * number."""
    return [line(0, "R4 <- LDG.E R2", memory=f"4 1 {0x1000 + 128 * number:#x} 4"), line(0x10, "EXIT")]


def blocks_text(order: Sequence[tuple[int, int]], body: str | None = None) -> str:
    """Thread blocks of one warp in this order; ``body`` stands in all that have an odd x."""
    text = ""
    for x, y in order:
        lines = "".join(one + "\n" for one in warp(10 * y + x))
        content = body if body is not None and x % 2 else f"\nwarp = 0\ninsts = 2\n{lines}"
        text += f"\n#BEGIN_TB\n\nthread block = {x},{y},0\n{content}\n#END_TB\n"
    return text


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    """Four launches of 1 to 4 thread blocks; copies before the first, the third and after the last."""
    for place, name in enumerate(NAMES, 1):
        blocks = [[warp(number)] for number in range(place)]
        write_trace(tmp_path, blocks, f"kernel-{500 + place}.traceg", kernel_name=name, kernel_id=500 + place)
    path = tmp_path / "kernelslist.g"
    names = [f"kernel-{500 + place}.traceg\n" for place in range(1, 5)]
    copies = [f"MemcpyHtoD,{address},64\n" for address in ("0x100", "0x300", "0x500")]
    path.write_text("".join((copies[0], *names[:2], copies[1], *names[2:], copies[2])))
    return path


def ids(recording: Recording) -> list[int]:
    return [launch.header.kernel_id for launch in recording.launches]


def loads(launch: RecordedLaunch) -> dict[int, int]:
    """By thread block, the first address that its warp loads from."""
    return {block: steps[0].addresses[0] for (block, _), steps in executions(launch).items()}


@pytest.mark.parametrize(
    ("kernels", "found", "note"),
    [
        ("2", [502], "kernels 2 of 4"),
        ("2-3", [502, 503], "kernels 2-3 of 4"),
        ("1,3-", [501, 503, 504], "kernels 1,3-4 of 4"),
        ("4,1", [501, 504], "kernels 1,4 of 4"),
        ("gemm*", [501, 503], "kernels gemm* of 4 (1, 3)"),
        ("4,relu", [502, 504], "kernels 4,relu of 4 (2, 4)"),
        ("at::*", [504], "kernels at::* of 4 (4)"),
        ("kernel-503.*", [503], "kernels kernel-503.* of 4 (3)"),
    ],
)
def test_launches_by_place_in_the_list_and_by_name(listed: Path, kernels: str, found: list[int], note: str) -> None:
    recording = read_recording(listed, trace_choice(launches=kernels))
    assert ids(recording) == found
    assert recording.notes == (note,)


def test_launches_that_are_not_selected_are_not_opened(listed: Path) -> None:
    (listed.parent / "kernel-501.traceg").unlink()
    (listed.parent / "kernel-503.traceg").write_text("no trace")
    assert ids(read_recording(listed, trace_choice(launches="2,4"))) == [502, 504]
    with pytest.raises(SassTraceError, match=r"kernelslist\.g:2: the list names 'kernel-501\.traceg', which does not"):
        read_recording(listed, trace_choice(launches="1"))
    with pytest.raises(SassTraceError, match="kernel-501"):
        read_recording(listed, trace_choice(launches="relu"))  # the names are in the traces


@pytest.mark.parametrize(
    ("kernels", "copies"),
    [
        ("1-4", (Copy(0x100, 64, 0), Copy(0x300, 64, 2))),
        ("2", (Copy(0x100, 64, 0),)),
        ("3-4", (Copy(0x100, 64, 0), Copy(0x300, 64, 0))),
        ("2,4", (Copy(0x100, 64, 0), Copy(0x300, 64, 1))),
    ],
)
def test_copies_come_before_the_next_launch_that_is_selected(
    listed: Path, kernels: str, copies: tuple[Copy, ...]
) -> None:
    """The last copy has no launch behind it; without a selection it stays in the list of copies, as before."""
    assert read_recording(listed, trace_choice(launches=kernels)).copies == copies


@pytest.mark.parametrize(
    ("kernels", "message"),
    [
        ("3-6", ": no launches 5-6; numbers count in the order of the list: 1 to 4, kernel-501.traceg to kernel-504"),
        ("503", ": no launches 503; numbers count in the order of the list: 1 to 4"),
        ("5-", ": no launches 5-;"),
        ("conv*", ": no kernel matches 'conv*'; there are gemm, relu, foo"),
        ("1,conv*", ": no kernel matches 'conv*'"),
    ],
)
def test_a_launch_that_is_not_in_the_list_is_told(listed: Path, kernels: str, message: str) -> None:
    with pytest.raises(SassTraceError) as caught:
        read_recording(listed, trace_choice(launches=kernels))
    assert str(caught.value).startswith(f"{listed}{message}")


def test_a_single_trace_is_a_list_of_one(listed: Path) -> None:
    trace = listed.parent / "kernel-503.traceg"
    assert ids(read_recording(trace, trace_choice(launches="1"))) == [503]
    with pytest.raises(SassTraceError, match=r"no launches 503; .*: 1, kernel-503\.traceg$"):
        read_recording(trace, trace_choice(launches="503"))


def test_every_name_of_a_trace_in_a_list_counts(listed: Path) -> None:
    """Also of one that does not begin with "kernel", is in a folder, or follows a byte order mark."""
    (listed.parent / "more").mkdir()
    (listed.parent / "kernel-502.traceg").rename(listed.parent / "more" / "relu.traceg")
    listed.write_text("\ufeffkernel-501.traceg\r\nmore/relu.traceg\r\n", encoding="utf-8")
    assert ids(read_recording(listed)) == [501, 502]


@pytest.mark.parametrize("line", ["MemcpyHtoD,0x100,-1", "MemcpyHtoD,-0x100,1"])
def test_a_copy_of_less_than_nothing_is_refused(listed: Path, line: str) -> None:
    listed.write_text(line + "\nkernel-501.traceg\n")
    with pytest.raises(SassTraceError, match=r"kernelslist\.g:1: expected an address and bytes from 0 on"):
        read_recording(listed)


ORDER = ((2, 0), (0, 0), (3, 1), (1, 0), (0, 1), (3, 0), (1, 1), (2, 1))
"""The thread blocks of a grid of 4x2, not in their order."""


def of_grid(folder: Path, text: str, **entries: Any) -> Path:
    path = folder / "kernel-1.traceg"
    path.write_text(header(grid_dim="(4,2,1)", **entries) + text)
    return path


@pytest.mark.parametrize(
    ("blocks", "numbers"),
    [
        ("0-3", (2, 0, 1, 3)),
        ("4", (10,)),
        ("1,6-", (13, 1, 12)),
        ("2,2,2-2", (2,)),
        ("0-7", (2, 0, 13, 1, 10, 3, 11, 12)),
    ],
)
def test_thread_blocks_are_launched_in_the_order_of_the_file(
    tmp_path: Path, blocks: str, numbers: tuple[int, ...]
) -> None:
    """Thread block x,y of the grid has the number x + 4 * y, and its warp loads from its own address."""
    path = of_grid(tmp_path, blocks_text(ORDER))
    recording = read_recording(path, trace_choice(thread_blocks=blocks))
    (launch,) = recording.launches
    assert loads(launch) == {place: 0x1000 + 128 * number for place, number in enumerate(numbers)}
    assert launch.warp_instructions == 2 * len(numbers)
    assert launch.header.grid == ((4, 2, 1) if len(numbers) == 8 else (len(numbers), 1, 1))
    (note,) = recording.notes
    assert note.startswith("blocks ")
    assert note.endswith(" of 8")


def test_a_whole_trace_in_any_order_has_consecutive_thread_blocks(tmp_path: Path) -> None:
    (launch,) = read_recording(of_grid(tmp_path, blocks_text(ORDER))).launches
    assert list(loads(launch)) == list(range(8))


@pytest.mark.parametrize(("blocks", "first"), [(None, [2, 0, 13]), ("1-", [2, 13, 1])])
def test_a_sample_has_the_first_thread_blocks_of_the_file(tmp_path: Path, blocks: str | None, first: list[int]) -> None:
    """Three of them, in whatever order they are."""
    path = of_grid(tmp_path, blocks_text(ORDER))
    (launch,) = read_recording(path, trace_choice(thread_blocks=blocks)).launches
    batches = list(Window(3).of(feed(launch.trace, launch.kernel, end=3)))
    assert sum(batch.count for batch in batches) == 3
    assert list(loads(launch).values())[:3] == [0x1000 + 128 * number for number in first]


@pytest.mark.parametrize("version", [3, 4, 5, 6])
@pytest.mark.parametrize("suffix", ["", ".xz", ".zst"])
def test_parts_of_all_versions_and_compressions(tmp_path: Path, version: int, suffix: str) -> None:
    """Versions 3 and 4 here without immediates, version 6 with values of registers."""
    ending = {3: "", 4: "", 5: "0 ", 6: "0 0 Val 0x00000001 "}[version]
    text = (
        of_grid(tmp_path, blocks_text(ORDER), accelsim_tracer_version=version)
        .read_text()
        .replace(" 0 \n", " " + ending + "\n")
    )
    compressors: dict[str, Callable[[bytes], bytes]] = {
        "": bytes,
        ".xz": lzma.compress,
        ".zst": zstandard.ZstdCompressor().compress,
    }
    path = tmp_path / f"kernel-2.traceg{suffix}"
    path.write_bytes(compressors[suffix](text.replace("\n", "\r\n").encode()))
    (launch,) = read_recording(path, trace_choice(thread_blocks="0-1,7")).launches
    assert loads(launch) == {0: 0x1000, 1: 0x1000 + 128 * 13, 2: 0x1000 + 128}


def test_thread_blocks_that_are_not_selected_are_not_decoded(tmp_path: Path) -> None:
    """Nor is what follows the last one; lines still count."""
    text = blocks_text([(x, y) for y in range(2) for x in range(4)], "what is this\n#BEGIN\n")
    path = of_grid(tmp_path, text)
    (launch,) = read_recording(path, trace_choice(thread_blocks="0,2,4")).launches
    assert loads(launch) == {0: 0x1000, 1: 0x1000 + 128 * 2, 2: 0x1000 + 128 * 10}
    places = [number for number, one in enumerate(path.read_text().splitlines(), 1) if one == "what is this"]
    with pytest.raises(SassTraceError, match=rf"kernel-1\.traceg:{places[1]}: 'what is this' may not stand in a"):
        read_recording(path, trace_choice(thread_blocks="0,3"))


def test_long_traces_are_skipped_across_pieces(tmp_path: Path) -> None:
    """Three megabytes in one thread block, then a selected one."""
    filler = "\nwarp = 0\ninsts = 30000\n" + (warp(0)[0] + " " * 60 + "\n") * 30000
    text = blocks_text([(0, 0)]) + blocks_text([(1, 0)], filler) + blocks_text([(2, 0)])
    assert len(text) > 3 << 20
    path = of_grid(tmp_path, text)
    (launch,) = read_recording(path, trace_choice(thread_blocks="2")).launches
    assert loads(launch) == {0: 0x1000 + 128 * 2}


def test_equal_parts_have_equal_digests_and_others_do_not(tmp_path: Path) -> None:
    path = of_grid(tmp_path, blocks_text(ORDER))
    one, same, other = (
        read_recording(path, trace_choice(thread_blocks=blocks)).launches[0].digest for blocks in ("0", "0,0", "1")
    )
    path.write_text(path.read_text().replace("0x1080", "0x2080"))  # of thread block 1
    assert read_recording(path, trace_choice(thread_blocks="0")).launches[0].digest == one == same != other


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ("6-9", ":15: no thread blocks 8-9: the grid 4x2x1 has 0 to 7"),
        ("8-", ":15: no thread blocks 8-: the grid 4x2x1 has 0 to 7"),
        ("3-5", ": the trace has no thread blocks 3, 5; of 8 it has 0-2, 4"),
    ],
)
def test_a_thread_block_that_is_not_in_the_trace_is_told(tmp_path: Path, blocks: str, message: str) -> None:
    path = of_grid(tmp_path, blocks_text([(0, 0), (2, 0), (0, 1), (1, 0)]))
    with pytest.raises(SassTraceError) as caught:
        read_recording(path, trace_choice(thread_blocks=blocks))
    assert message in str(caught.value)


def test_of_a_trace_that_is_cut_off_the_thread_blocks_before_are_read(tmp_path: Path) -> None:
    text = blocks_text([(x, 0) for x in range(4)])
    path = of_grid(tmp_path, text[: text.rindex("0000 ffffffff")])
    with pytest.raises(SassTraceError, match="the trace stops in warp 0 of thread block 3,0,0"):
        read_recording(path)
    assert list(loads(read_recording(path, trace_choice(thread_blocks="0-2")).launches[0])) == [0, 1, 2]
    path.write_text(path.read_text()[: -len("\nwarp = 0\ninsts = 2\n")])
    with pytest.raises(SassTraceError, match=r"stops in thread block 3,0,0: expected '#END_TB'"):
        read_recording(path, trace_choice(thread_blocks="0,4"))
    path = of_grid(tmp_path, text)
    with pytest.raises(
        SassTraceError, match=r"stops after 4 of 8 thread blocks; --blocks selects of those that are.* 0-3"
    ):
        read_recording(path)


def test_a_thread_block_may_not_come_twice_selected_or_not(tmp_path: Path) -> None:
    path = of_grid(tmp_path, blocks_text([(0, 0), (1, 0), (1, 0), (2, 0)]))
    for blocks in ("1-2", "2"):
        with pytest.raises(SassTraceError, match="thread block 1,0,0 is in the trace twice"):
            read_recording(path, trace_choice(thread_blocks=blocks))


def test_launches_and_thread_blocks_are_selected_together(listed: Path) -> None:
    recording = read_recording(listed, trace_choice(launches="3-", thread_blocks="0,2"))
    assert [loads(launch) for launch in recording.launches] == [{0: 0x1000, 1: 0x1100}] * 2
    assert recording.notes == ("kernels 3-4 of 4", "blocks 0,2 of 3, 4")
    with pytest.raises(SassTraceError, match=r"kernel-502\.traceg:15: no thread blocks 2: the grid 2x1x1 has 0 to 1"):
        read_recording(listed, trace_choice(launches="2-", thread_blocks="2"))


def test_a_part_in_which_nothing_is_executed_is_refused(tmp_path: Path) -> None:
    """Thread blocks may be empty, but not all."""
    path = of_grid(tmp_path, blocks_text([(0, 0), (1, 0)], "\nwarp = 0\ninsts = 0\n"))
    assert loads(read_recording(path, trace_choice(thread_blocks="0-1")).launches[0]) == {0: 0x1000}
    with pytest.raises(SassTraceError, match="no warp executes an instruction"):
        read_recording(path, trace_choice(thread_blocks="1"))


def test_a_part_is_exported_as_a_trace_of_its_own(tmp_path: Path, listed: Path) -> None:
    run = recorded_run(str(listed), trace_choice(launches="3-", thread_blocks="1-2"))
    again = recorded_run(str(export_run(Run("part", run.launches), tmp_path / "part")))
    assert [launch.grid for launch in again.launches] == [(2, 1, 1)] * 2
    assert again.warp_instructions == run.warp_instructions == 8
