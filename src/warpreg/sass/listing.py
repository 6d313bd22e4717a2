"""``kernelslist.g``: the traces of a run in order, and host-to-device copies between them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from warpreg.ir.text_files import read_text
from warpreg.sass.errors import SassTraceError

LIST_SUFFIX = ".g"
TRACE_SUFFIXES = (".traceg", ".traceg.xz", ".traceg.zst")


@dataclass(frozen=True, slots=True)
class Copy:
    """``bytes`` copied from the host to device ``address``, before the launch numbered ``before``."""

    address: int
    bytes: int
    before: int


@dataclass(frozen=True, slots=True)
class KernelList:
    """Traces in order of launch, and copies in order."""

    traces: tuple[Path, ...]
    copies: tuple[Copy, ...] = ()


def is_trace(name: str) -> bool:
    """Whether a file name is that of a trace or of a list of traces."""
    return name.endswith((LIST_SUFFIX, *TRACE_SUFFIXES))


def recording_name(path: Path) -> str:
    """The name of the run that a file recorded: that of the folder of a list, of a single trace that of its file."""
    return path.name.partition(".traceg")[0] if path.name.endswith(TRACE_SUFFIXES) else path.absolute().parent.name


def read_list(path: Path) -> KernelList:
    """The list in a ``kernelslist.g``, or the one trace that the path names.

    Lines that are neither a trace nor a copy to the device are ignored, as by other readers.  Raises SassTraceError for
    a malformed copy, a missing trace and a list without a trace, and OSError.
    """
    if path.name.endswith(TRACE_SUFFIXES):
        return KernelList((path,))
    traces: list[Path] = []
    copies: list[Copy] = []
    for number, raw in enumerate(read_text(path, errors="replace").splitlines(), 1):
        line, place = raw.strip(), f"{path}:{number}"
        if line.startswith("MemcpyHtoD"):
            copies.append(_copy(line, place, len(traces)))
        elif line.startswith("kernel"):
            traces.append(_trace(path.parent, line, place))
    if not traces:
        raise SassTraceError(f"{path}: the list names no trace ('kernel-N.traceg', or with .xz or .zst)")
    return KernelList(tuple(traces), tuple(copies))


def _copy(line: str, place: str, before: int) -> Copy:
    try:
        _, address, size = line.split(",")
        return Copy(int(address, 16), int(size), before)
    except ValueError:
        raise SassTraceError(f"{place}: expected 'MemcpyHtoD,0xADDRESS,BYTES', found '{line}'") from None


def _trace(folder: Path, line: str, place: str) -> Path:
    trace = folder / line
    if not line.endswith(TRACE_SUFFIXES):
        raise SassTraceError(f"{place}: expected the name of a .traceg file (plain, .xz or .zst), found '{line}'")
    if not trace.is_file():
        raise SassTraceError(f"{place}: the list names '{line}', which does not exist")
    return trace
