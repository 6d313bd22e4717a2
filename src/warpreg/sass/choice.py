"""What is read of a trace, and what takes the place of its header: the options of the user."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from warpreg.sass.errors import SassTraceError
from warpreg.sass.isa.opcodes import UnknownOpcodes
from warpreg.sass.parse.header import NEWEST_BINARY, OLDEST_BINARY
from warpreg.sass.selection import Selection

FIRST_KERNEL, FIRST_BLOCK = 1, 0
ONLY_OF_TRACES = ("binary_version", "kernels", "blocks", "listing")
VERSION = re.compile(r"(?:sm_|compute_)?([0-9]{1,4})[af]?")

Selected = str | int | Iterable[int | str]
"""A selection as users write it: ``"3-5"``, ``7``, ``range(100)``."""


@dataclass(frozen=True, slots=True)
class TraceChoice:
    """Treatment of ``unknown_opcodes``; a ``binary_version`` in place of those of the headers; the launches
    (``kernels``) and thread ``blocks`` that are read, None for all; the ``listing`` (or cubin) of the same code, which
    has the control codes and reuse flags of its instructions.

    Launches are numbered from 1 in the order of their list, thread blocks from 0, x fastest.
    """

    unknown_opcodes: UnknownOpcodes = "error"
    binary_version: int | None = None
    kernels: Selection | None = None
    blocks: Selection | None = None
    listing: Path | None = None

    def as_dict(self) -> dict[str, Any]:
        """What is not the default, for JSON; equal choices have equal texts, except for listings, by name only."""
        given = {
            "unknown_opcodes": None if self.unknown_opcodes == "error" else self.unknown_opcodes,
            "binary_version": self.binary_version,
            "kernels": None if self.kernels is None else str(self.kernels),
            "blocks": None if self.blocks is None else str(self.blocks),
            "listing": None if self.listing is None else self.listing.name,
        }
        return {name: value for name, value in given.items() if value is not None}

    @property
    def needs_trace(self) -> tuple[str, ...]:
        """The options that are given and that only a trace has."""
        return tuple(name for name in ONLY_OF_TRACES if getattr(self, name) is not None)


AS_RECORDED = TraceChoice()
"""The whole trace, as it is."""


def trace_choice(
    unknown: UnknownOpcodes = "error",
    version: str | int | None = None,
    launches: Selected | None = None,
    thread_blocks: Selected | None = None,
    listing: str | Path | None = None,
) -> TraceChoice:
    """The choice of what users write, None for what is not given.  Raises SassTraceError."""
    if unknown not in get_args(UnknownOpcodes):
        raise SassTraceError(f"unknown opcodes: expected {' or '.join(get_args(UnknownOpcodes))}, found '{unknown}'")
    return TraceChoice(
        unknown,
        None if version is None else binary_version(version),
        None if launches is None else kernels(launches),
        None if thread_blocks is None else blocks(thread_blocks),
        None if listing is None else Path(listing),
    )


def binary_version(given: str | int) -> int:
    """The number of ``70``, ``sm_70`` or ``sm_90a``.  Raises SassTraceError."""
    found = VERSION.fullmatch(str(given).strip())
    number = int(found[1]) if found else -1
    if not OLDEST_BINARY <= number <= NEWEST_BINARY:
        raise SassTraceError(f"'{given}': expected a binary version from sm_{OLDEST_BINARY} on, such as 70 or sm_70")
    return number


def kernels(given: Selected) -> Selection:
    """A selection of launches.  Raises SassTraceError."""
    return Selection.parse(_text(given), FIRST_KERNEL, by_name=True)


def blocks(given: Selected) -> Selection:
    """A selection of thread blocks.  Raises SassTraceError."""
    return Selection.parse(_text(given), FIRST_BLOCK)


def _text(given: Selected) -> str:
    return str(given) if isinstance(given, str | int) else ",".join(map(str, given))
