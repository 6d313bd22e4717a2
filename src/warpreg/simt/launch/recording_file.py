"""The file of one recording: in memory while it is small, then unnamed on disk and deleted with its trace."""

from __future__ import annotations

import contextlib
import io
import tempfile
import weakref
from typing import Any, BinaryIO, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from warpreg.simt.launch.faults import ExecutionError
from warpreg.trace import Stream, Trace, TraceWriter

IN_MEMORY_BYTES = 1 << 18
"""A recording of at most this size remains in memory."""

_NAMES = {stream: stream.name.lower() for stream in Stream}


class RecordingFile:
    """Used by one thread at a time.  After an error it takes nothing more."""

    def __init__(self, header: dict[str, Any]) -> None:
        self._file: BinaryIO = io.BytesIO()
        self._writer = TraceWriter(self._file, header)
        self._error: Exception | None = None

    def check(self) -> None:
        """Raise the error of an earlier call."""
        if self._error is not None:
            raise self._error

    def append(self, stream: Stream, content: NDArray[np.uint8]) -> None:
        """Write a piece of a stream.  Raises ExecutionError if the disk does not accept it, or one before."""
        self.check()
        try:
            self._writer.append(stream, content)
            if isinstance(self._file, io.BytesIO) and self._file.tell() > IN_MEMORY_BYTES:
                file = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115 - the trace closes it
                file.write(self._file.getbuffer())
                self._file = file
                self._writer.move_to(file)
        except Exception as error:
            self._fail(error)

    def finish(self, totals: dict[str, Any]) -> Trace:
        """The trace.  Raises as `append`."""
        self.check()
        stored = {_NAMES[stream]: size for stream, size in self._writer.stored_bytes.items()}
        try:
            self._writer.finish({**totals, "stored_bytes": stored})
        except Exception as error:
            self._fail(error)
        trace = Trace(self._file, written=self._writer)
        if not isinstance(self._file, io.BytesIO):
            weakref.finalize(trace, self._file.close)
        return trace

    def close(self) -> None:
        """Delete the recording."""
        with contextlib.suppress(OSError):  # a full disk refuses what has not been written yet once more
            self._file.close()

    def _fail(self, error: Exception) -> NoReturn:
        """Raise this error, now and later: a recording without one of its pieces would pass for a whole one."""
        self._error = error
        if isinstance(error, OSError):
            where = f" to {tempfile.tempdir}" if tempfile.tempdir else ""
            self._error = ExecutionError(f"the recording cannot be written{where}: {error.strerror or error}")
        self.close()
        raise self._error
