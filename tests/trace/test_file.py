"""The trace file: round trip, and rejection of truncated and damaged files."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from warpreg.ir.errors import WarpregError
from warpreg.trace import Stream, Trace, TraceError, TraceWriter
from warpreg.trace.path import NEXT, PathWord

PATH = [np.arange(50, dtype=np.uint32), np.array([3, 7], np.uint32)]
ADDRESSES = np.arange(9, dtype=np.uint32) * 1000
WIDTHS = np.array([1, 2, 3, 4, 4], np.uint8)


def written() -> bytes:
    """A small trace with chunks of all streams, mixed."""
    file = io.BytesIO()
    writer = TraceWriter(file, {"kernel": "k", "grid": [2, 1, 1]})
    writer.append(Stream.PATH, PATH[0])
    writer.append(Stream.WIDTHS, WIDTHS)
    writer.append(Stream.ADDRESSES, ADDRESSES)
    writer.append(Stream.PATH, PATH[1])
    writer.finish({"warp_instructions": 1234})
    return file.getvalue()


def read_all(trace: Trace) -> list[list[int]]:
    """Every chunk of every stream."""
    return [
        chunk.tolist()
        for chunks in (trace.path_chunks(), trace.address_chunks(), trace.width_chunks())
        for chunk in chunks
    ]


EXPECTED = [PATH[0].tolist(), PATH[1].tolist(), ADDRESSES.tolist(), WIDTHS.tolist()]


def test_what_is_written_comes_back() -> None:
    trace = Trace(io.BytesIO(written()))
    assert trace.header == {"kernel": "k", "grid": [2, 1, 1]}
    assert trace.totals == {"warp_instructions": 1234}
    assert read_all(trace) == EXPECTED
    assert read_all(trace) == EXPECTED


def test_the_layout_of_the_file() -> None:
    data = written()
    assert data[:8] == b"WARPREG5"
    header = b'{"grid": [2, 1, 1], "kernel": "k"}'
    assert data[8:12] == len(header).to_bytes(4, "little")
    assert data[12:].startswith(header + b"\x00" + (200).to_bytes(4, "little"))
    assert data.endswith(b"WARPREGE")


def test_streams_may_be_read_side_by_side() -> None:
    trace = Trace(io.BytesIO(written()))
    path, widths = trace.path_chunks(), trace.width_chunks()
    assert next(path).tolist() == EXPECTED[0]
    assert next(widths).tolist() == EXPECTED[3]
    assert next(path).tolist() == EXPECTED[1]
    assert next(widths, None) is None


def test_thread_blocks_that_are_numbered_by_their_order() -> None:
    begin, mask, index = PathWord.THREAD_BLOCK, PathWord.VISIT_MASK, PathWord.WARP
    file = io.BytesIO()
    writer = TraceWriter(file, {})
    writer.append(Stream.PATH, np.array([begin, NEXT, index, mask, 3, 0, begin, NEXT, mask, NEXT], np.uint32))
    writer.append(Stream.PATH, np.array([begin, 9, begin, NEXT, mask, 3], np.uint32))
    writer.finish({})
    found = [chunk.tolist() for chunk in Trace(file).path_chunks()]
    assert found == [[begin, 0, index, mask, 3, 0, begin, 1, mask, NEXT], [begin, 9, begin, 2, mask, 3]]


def test_saved_and_opened(tmp_path: Path) -> None:
    path = tmp_path / "run.trace"
    Trace(io.BytesIO(written())).save(path)
    assert path.read_bytes() == written()
    trace = Trace.open(path)
    assert read_all(trace) == EXPECTED
    trace.save(path)
    trace.close()
    assert [p.name for p in tmp_path.iterdir()] == ["run.trace"]
    assert path.read_bytes() == written()


def test_a_save_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = Trace(io.BytesIO(written()))
    path = tmp_path / "run.trace"
    path.write_bytes(b"what was there before")

    def full(source: object, target: io.BufferedWriter) -> None:
        target.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Trace, "copy_to", full)
    with pytest.raises(OSError, match="No space left"):
        trace.save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["run.trace"]
    assert path.read_bytes() == b"what was there before"


@pytest.mark.parametrize(
    "content",
    [b"", b"WARP", b"WARPREG5", b"WARPREG3" + bytes(90), b"WARPREG4" + bytes(90), b"\x7fELF" + bytes(99), b"{}\n" * 50],
)
def test_a_foreign_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(TraceError, match=f"{path}: not a Warpreg trace"):
        Trace.open(path)


def test_cut_off_at_every_byte() -> None:
    data = written()
    for length in range(len(data)):
        with pytest.raises(TraceError, match=r"^short: "):
            Trace(io.BytesIO(data[:length]), "short")


def test_something_behind_the_end() -> None:
    with pytest.raises(TraceError, match="cut off or damaged"):
        Trace(io.BytesIO(written() + b"\0"))


def test_every_flipped_bit_is_noticed_or_changes_nothing() -> None:
    data = written()
    harmless = 0
    for position in range(len(data)):
        for bit in range(8):
            damaged = bytearray(data)
            damaged[position] ^= 1 << bit
            try:
                trace = Trace(io.BytesIO(bytes(damaged)))
                found = read_all(trace)
            except TraceError:
                continue
            assert (trace.header["kernel"], trace.totals, found) == ("k", {"warp_instructions": 1234}, EXPECTED)
            harmless += 1
    assert harmless < 40  # bits of the compression format that say nothing about the content


def test_a_chunk_that_is_missing_or_in_another_place_is_noticed() -> None:
    data = written()
    first = data.index(b'"k"}') + 4
    size = 13 + int.from_bytes(data[first + 5 : first + 9], "little")
    for damaged in (data[:first] + data[first + size :], data[: first + size] + data[first:]):
        with pytest.raises(TraceError):
            Trace(io.BytesIO(damaged))


def test_damage_names_the_chunk() -> None:
    data = bytearray(written())
    first = data.index(b'"k"}') + 4
    data[first + 13 + 20] ^= 0xFF
    trace = Trace(io.BytesIO(bytes(data)), "run.trace")
    with pytest.raises(TraceError, match=rf"run.trace: the trace is damaged in the chunk at byte {first}"):
        next(trace.path_chunks())
    assert next(trace.width_chunks()).tolist() == WIDTHS.tolist()


def test_an_unfinished_trace_is_refused() -> None:
    file = io.BytesIO()
    TraceWriter(file, {}).append(Stream.PATH, PATH[0])
    with pytest.raises(TraceError, match="it has no footer"):
        Trace(io.BytesIO(file.getvalue()))


def test_the_error_is_of_the_family() -> None:
    assert issubclass(TraceError, WarpregError)
