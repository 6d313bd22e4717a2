"""The header of a trace: launch parameters and tracer version."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warpreg.sass.errors import SassTraceError

OLDEST_TRACER, NEWEST_TRACER = 3, 6
OLDEST_BINARY, NEWEST_BINARY = 50, 129
OLDEST_CODE = 10
"""sm_10: versions from here to `OLDEST_BINARY` are real, and their code is not supported."""
MAX_THREAD_BLOCKS = 2**31 - 1
MAX_THREADS = 1024
MAX_REGISTERS = 255

EXTENT = re.compile(r"\(\s*(\d{1,10})\s*,\s*(\d{1,10})\s*,\s*(\d{1,10})\s*\)")
TRACER, BINARY, REGISTERS = "accelsim tracer version", "binary version", "nregs"

Extent = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class HeaderOverride:
    """Numbers in place of those of the header, None for none.  ``registers`` is taken if that of the header cannot be
    right or is missing.
    """

    registers: int | None = None
    binary_version: int | None = None


AS_WRITTEN = HeaderOverride()


@dataclass(frozen=True, slots=True)
class Header:
    """One kernel launch."""

    kernel: str
    kernel_id: int
    grid: Extent
    block: Extent
    shared_bytes: int
    """Per thread block."""
    registers: int
    """Per thread."""
    binary_version: int
    """70 for sm_70."""
    tracer_version: int
    shared_base: int = 0
    """Generic address of the window of shared memory, 0 if not in the trace."""
    local_base: int = 0
    """Generic address of the window of local memory, 0 if not in the trace."""
    has_source_lines: bool = False
    stream: int = 0
    replaced: tuple[tuple[str, str], ...] = ()
    """Numbers that the user has given in place of others, by option, with the text of the header ("none" if it has
    none).
    """
    has_given_registers: bool = False
    """``registers`` is such a number."""

    @property
    def thread_blocks(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def warps(self) -> int:
        """Warps of a thread block."""
        return -(-self.threads // 32)

    @property
    def threads(self) -> int:
        """Threads of a thread block."""
        return self.block[0] * self.block[1] * self.block[2]


def entry(text: str) -> tuple[str, str] | None:
    """Key and value of a line ``-key = value``, None for another line."""
    key, sign, value = text.removeprefix("-").partition("=")
    return (key.strip(), value.strip()) if text.startswith("-") and sign and key.strip() else None


def parse_header(
    lines: Mapping[str, tuple[int, str]], name: str, end: int, given: HeaderOverride = AS_WRITTEN
) -> Header:
    """The header from its entries, by key: line and value; ``end`` is its last line.  Numbers that are ``given`` take
    the place of its own.

    Raises SassTraceError, with the file ``name`` and the line, for a missing or wrong entry or an unsupported version.
    """
    entries = _Entries(lines, name, end)
    tracer = entries.number(TRACER)
    if not OLDEST_TRACER <= tracer <= NEWEST_TRACER:
        what = f"traces of tracer versions {OLDEST_TRACER} to {NEWEST_TRACER} are read, this is version {tracer}"
        raise entries.wrong(TRACER, what)
    registers, binary = _registers(entries, given), _binary_version(entries, given)
    if isinstance(registers, _BadEntry) or isinstance(binary, _BadEntry):
        raise _explained(entries, [one for one in (registers, binary) if isinstance(one, _BadEntry)])
    own = {"registers": entries.own(REGISTERS), "binary version": entries.own(BINARY)}
    instead = {"registers": given.registers, "binary version": given.binary_version}
    return Header(
        kernel=entries.text("kernel name"),
        kernel_id=entries.number("kernel id", 0),
        grid=entries.extent("grid dim", MAX_THREAD_BLOCKS, "thread blocks"),
        block=entries.extent("block dim", MAX_THREADS, "threads in a block"),
        shared_bytes=entries.number("shmem", 0),
        registers=registers,
        binary_version=binary,
        tracer_version=tracer,
        shared_base=entries.number("shmem base_addr", 0),
        local_base=entries.number("local mem base_addr", 0),
        has_source_lines=bool(entries.number("enable lineinfo", 0)),
        stream=entries.number("cuda stream id", 0),
        replaced=tuple((what, own[what]) for what, one in instead.items() if one is not None and str(one) != own[what]),
        has_given_registers=given.registers is not None and not _is_demand(entries),
    )


@dataclass(frozen=True, slots=True)
class _BadEntry:
    """An entry with a number that cannot be right, what is wrong with it, and the option that replaces it."""

    key: str
    what: str
    option: str


def _is_demand(entries: _Entries) -> bool:
    """Whether the header has a register demand that can be right."""
    return 1 <= (entries.value(REGISTERS) or 0) <= MAX_REGISTERS


def _registers(entries: _Entries, given: HeaderOverride) -> int | _BadEntry:
    if given.registers is not None and not _is_demand(entries):
        return given.registers
    found = entries.value(REGISTERS) if REGISTERS in entries.lines else 0
    if found is not None and found <= MAX_REGISTERS:
        return found
    what = entries.no_number(REGISTERS) if found is None else f"a thread has at most 255 registers, found {found}"
    return _BadEntry(REGISTERS, what, "registers=N")


def _binary_version(entries: _Entries, given: HeaderOverride) -> int | _BadEntry:
    if given.binary_version is not None:
        return given.binary_version
    version = entries.value(BINARY)
    if version is None:
        return _BadEntry(BINARY, entries.no_number(BINARY), "binary_version=70")
    if OLDEST_BINARY <= version <= NEWEST_BINARY:
        return version
    what = f"expected machine code of sm_{OLDEST_BINARY} or later, found sm_{version}"
    if OLDEST_CODE <= version < OLDEST_BINARY:
        raise entries.wrong(BINARY, what)
    return _BadEntry(BINARY, what, "binary_version=70")


def _explained(entries: _Entries, broken: Sequence[_BadEntry]) -> SassTraceError:
    """The error for numbers that a broken tracer wrote, with the call that replaces them."""
    named = [f"--{one.option.replace('_', '-').replace('=', ' ')}" for one in broken]
    call = f"read_trace(..., {', '.join(one.option for one in broken)})"
    wrong = "; ".join(one.what for one in broken)
    return entries.wrong(
        broken[0].key,
        f"{wrong}; a tracer built for another NVBit writes such headers: give the right numbers with {' '.join(named)},"
        f" in Python {call}",
    )


@dataclass(frozen=True, slots=True)
class _Entries:
    lines: Mapping[str, tuple[int, str]]
    name: str
    end: int

    def wrong(self, key: str, what: str) -> SassTraceError:
        line = self.lines[key][0] if key in self.lines else self.end
        return SassTraceError(f"{self.name}:{line}: {what}")

    def own(self, key: str) -> str:
        """The text of an entry, "none" for one that is missing or empty."""
        return self.lines.get(key, (0, ""))[1] or "none"

    def no_number(self, key: str) -> str:
        """What is wrong with an entry that should be a number."""
        if key not in self.lines:
            return f"the header has no entry '-{key} = ...'"
        if not self.lines[key][1]:
            return f"the header has '-{key} =' without a value"
        return f"expected a number for '{key}', found '{self.lines[key][1]}'"

    def text(self, key: str) -> str:
        if not self.lines.get(key, (0, ""))[1]:
            raise self.wrong(key, self.no_number(key))
        return self.lines[key][1]

    def value(self, key: str) -> int | None:
        """The number of an entry; None if it has none, or none of 64 bits."""
        try:
            number = int(self.lines.get(key, (0, ""))[1].split()[0], 0)
        except (ValueError, IndexError):
            return None
        return number if 0 <= number < 1 << 64 else None

    def number(self, key: str, default: int | None = None) -> int:
        if key not in self.lines and default is not None:
            return default
        number = self.value(key)
        if number is None:
            raise self.wrong(key, self.no_number(key))
        return number

    def extent(self, key: str, most: int, what: str) -> Extent:
        found = EXTENT.match(self.text(key))
        x, y, z = (int(n) for n in found.groups()) if found else (0, 0, 0)
        if not 1 <= x * y * z <= most:
            raise self.wrong(key, f"expected '(x,y,z)' of 1 to {most} {what} for '{key}', found '{self.text(key)}'")
        return x, y, z
