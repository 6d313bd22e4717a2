"""Where a launch's recording goes: fixed buffers that native code fills, written to a trace file whenever one is full."""

from __future__ import annotations

import tempfile
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from warpreg.simt.native_kernel import NativeKernel, Record
from warpreg.simt.state import Slot
from warpreg.trace import Stream, Trace, TraceWriter

BUFFER_BYTES = 1 << 18
IN_MEMORY_BYTES = 1 << 18
"""A recording of at most this size never sees the disk."""

LONGEST_VISIT_WORDS = 8
"""Room for the words that begin a thread block, name a warp and record one visit."""

WORDS_PER_ACCESS = 68
"""Most words that one memory instruction appends to the recorded addresses."""

WIDTHS_PER_INSTRUCTION = 8
"""Most warp-registers that one instruction writes (a vector of four 64-bit values)."""

_FIELDS = {
    Stream.PATH: (Slot.PATH, Slot.PATH_LIMIT),
    Stream.ADDRESSES: (Slot.ADDRESSES, Slot.ADDRESSES_LIMIT),
    Stream.WIDTHS: (Slot.WIDTHS, Slot.WIDTHS_LIMIT),
}


class Recorder:
    """The recording of one launch."""

    def __init__(self, native: NativeKernel, record: Record, header: dict[str, Any], launch: NDArray[np.uint64]) -> None:
        self._launch = launch
        self._margins = {
            Stream.PATH: 4 * LONGEST_VISIT_WORDS,
            Stream.ADDRESSES: 4 * WORDS_PER_ACCESS * native.longest_block,
            Stream.WIDTHS: WIDTHS_PER_INSTRUCTION * native.longest_block,
        }
        wanted = {Stream.PATH: record.path, Stream.ADDRESSES: record.addresses, Stream.WIDTHS: record.widths}
        self._buffers = {
            stream: np.empty(BUFFER_BYTES + margin if wanted[stream] else 0, np.uint8)
            for stream, margin in self._margins.items()
        }
        self._file = cast(BinaryIO, tempfile.SpooledTemporaryFile(IN_MEMORY_BYTES))
        self._writer = TraceWriter(self._file, header) if record.any else None
        for stream in Stream:
            self._rewind(stream)

    def _rewind(self, stream: Stream) -> None:
        field, limit = _FIELDS[stream]
        buffer = self._buffers[stream]
        self._launch[field] = buffer.ctypes.data
        self._launch[limit] = buffer.ctypes.data + buffer.size - self._margins[stream] if buffer.size else 2**64 - 1

    def flush(self) -> None:
        """Write out what the buffers hold and empty them."""
        if self._writer is None:
            return
        for stream, buffer in self._buffers.items():
            used = int(self._launch[_FIELDS[stream][0]]) - buffer.ctypes.data if buffer.size else 0
            if used:
                self._writer.append(stream, buffer[:used])
            self._rewind(stream)

    def finish(self, totals: dict[str, Any]) -> Trace | None:
        """The finished trace, kept in a file without a name that goes with it."""
        self.flush()
        if self._writer is None:
            return None
        self._writer.finish({**totals, "stored_bytes": {s.name.lower(): n for s, n in self._writer.stored_bytes.items()}})
        return Trace(self._file)

    def abandon(self) -> None:
        """Delete what was written of a launch that did not finish."""
        self._file.close()
