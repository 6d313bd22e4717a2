"""``kernelslist.g``: the traces of a run in order, and host-to-device copies between them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from warpreg.ir.text_files import read_text
from warpreg.sass.errors import SassTraceError
from warpreg.sass.parse.header import entry
from warpreg.sass.selection import Selection, listed, plain_names, spans

LIST_SUFFIX = ".g"
TRACE_SUFFIXES = (".traceg", ".traceg.xz", ".traceg.zst", ".tracez")
NAMES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Copy:
    """``bytes`` copied from the host to device ``address``, before the launch numbered ``before``."""

    address: int
    bytes: int
    before: int


@dataclass(frozen=True, slots=True)
class KernelList:
    """Traces in order of launch, and copies in order.  ``note`` says which launches of how many they are, empty for
    all; ``opened`` are the files that had to be there to find that out."""

    traces: tuple[Path, ...]
    copies: tuple[Copy, ...] = ()
    note: str = ""
    opened: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class _Entry:
    """A trace in a list, and its place: file and line."""

    trace: Path
    place: str


def is_trace(name: str) -> bool:
    """Whether a file name is that of a trace or of a list of traces."""
    return name.endswith((LIST_SUFFIX, *TRACE_SUFFIXES))


def recording_name(path: Path) -> str:
    """The name of the run that a file recorded: that of the folder of a list, of a single trace that of its file."""
    return path.name.partition(".trace")[0] if path.name.endswith(TRACE_SUFFIXES) else path.absolute().parent.name


def read_list(path: Path, kernels: Selection | None = None) -> KernelList:
    """The list in a ``kernelslist.g``, or the one trace that the path names; of ``kernels``, the launches numbered from
    1 in the order of the list, and those with a matching name of the kernel or of the file.

    A copy before a launch that is not selected comes before the next one that is.  Lines that are neither a trace nor a
    copy to the device are ignored, as by other readers.  Raises SassTraceError for a malformed copy, a missing trace
    that is selected, a list without a trace and a selection of what is not there; OSError.
    """
    entries, copies = ([_Entry(path, "")], []) if path.name.endswith(TRACE_SUFFIXES) else _read(path)
    if kernels is None:
        traces = _existing(entries)
        return KernelList(traces, tuple(copies), opened=traces)
    named = _existing(entries) if kernels.patterns else ()
    names = [(trace.name, *plain_names(kernel_name(trace))) for trace in named]
    _check(path, kernels, entries, names)
    numbers = [n for n in range(1, len(entries) + 1) if n in kernels or (names and kernels.matches(*names[n - 1]))]
    traces = _existing([entries[number - 1] for number in numbers])
    places = [sum(number <= copy.before for number in numbers) for copy in copies]
    kept = [Copy(copy.address, copy.bytes, at) for copy, at in zip(copies, places, strict=True) if at < len(numbers)]
    found = f" ({listed(spans(numbers))})" if names else ""
    note = f"kernels {kernels.below(len(entries) + 1)} of {len(entries)}{found}"
    return KernelList(traces, tuple(kept), note, named or traces)


def kernel_name(trace: Path) -> str:
    """The name of the kernel in the header of a trace, empty if there is none.  Raises SassTraceError, OSError."""
    from warpreg.sass.parse.source import Source  # imported only here: takes ten milliseconds

    for line in next(Source(trace).pieces(), b"").decode("utf-8", "replace").splitlines():
        found = entry(line.strip())
        if found is not None and found[0] == "kernel name":
            return found[1]
        if line.startswith("#BEGIN_TB"):
            break
    return ""


def _read(path: Path) -> tuple[list[_Entry], list[Copy]]:
    entries: list[_Entry] = []
    copies: list[Copy] = []
    for number, raw in enumerate(read_text(path, errors="replace").removeprefix("\ufeff").splitlines(), 1):
        line, place = raw.strip(), f"{path}:{number}"
        if line.startswith("MemcpyHtoD"):
            copies.append(_copy(line, place, len(entries)))
        elif line.startswith("kernel") or line.endswith(TRACE_SUFFIXES):
            entries.append(_trace(path.parent, line, place))
    if not entries:
        raise SassTraceError(f"{path}: the list names no trace ('kernel-N.traceg', also with .xz or .zst, or .tracez)")
    return entries, copies


def _check(path: Path, kernels: Selection, entries: list[_Entry], names: list[tuple[str, ...]]) -> None:
    """Raise SassTraceError for numbers beyond the list, and for a pattern that none of its names matches."""
    first, last, count = entries[0].trace.name, entries[-1].trace.name, len(entries)
    if beyond := kernels.beyond(count + 1):
        there = f"1 to {count}, {first} to {last}" if count > 1 else f"1, {first}"
        raise SassTraceError(f"{path}: no launches {beyond}; numbers count in the order of the list: {there}")
    for pattern in kernels.patterns:
        if not any(Selection((), (pattern,)).matches(*one) for one in names):
            known = list(dict.fromkeys(plain[-1] for plain in names))
            more = f" and {len(known) - NAMES_SHOWN} more" if len(known) > NAMES_SHOWN else ""
            raise SassTraceError(
                f"{path}: no kernel matches '{pattern}'; there are {', '.join(known[:NAMES_SHOWN])}{more}"
            )


def _existing(entries: list[_Entry]) -> tuple[Path, ...]:
    """The traces.  Raises SassTraceError for one that a list names and that is not there."""
    for one in entries:
        if one.place and not one.trace.is_file():
            raise SassTraceError(f"{one.place}: the list names '{one.trace.name}', which does not exist")
    return tuple(one.trace for one in entries)


def _copy(line: str, place: str, before: int) -> Copy:
    try:
        _, address, size = line.split(",")
        copy = Copy(int(address, 16), int(size), before)
    except ValueError:
        raise SassTraceError(f"{place}: expected 'MemcpyHtoD,0xADDRESS,BYTES', found '{line}'") from None
    if min(copy.address, copy.bytes) < 0:
        raise SassTraceError(f"{place}: expected an address and bytes from 0 on, found '{line}'")
    return copy


def _trace(folder: Path, line: str, place: str) -> _Entry:
    if not line.endswith(TRACE_SUFFIXES):
        raise SassTraceError(
            f"{place}: expected the name of a .traceg (plain, .xz, .zst) or .tracez file, found '{line}'"
        )
    return _Entry(folder / line, place)
