"""Kernels that note when they ran: a prologue and an epilogue in PTX, before the assembler.

The first thread of a thread block reads the clock of its SM and the timer of the GPU when it begins.  Each warp reads
them where threads of it end, in one lane.  A word for each SM and reading holds the extreme of all thread blocks of the
SM: readings are combined by atomic maxima, those of beginnings as complements, so that a buffer of zeros is empty.

The clocks of two SMs need not be equal, so cycles are those of one SM, and a launch takes as long as its longest SM.
The timer is that of the whole GPU, but advances in steps of up to a microsecond.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from warpreg.ptx.diagnostics import Reporter
from warpreg.ptx.tokens import blank_comments

SYMBOL = "warpreg_clocks"
SMS = 1024
"""SMs that the buffer has room for."""
WORDS = 4
"""Words of 64 bits of an SM: complement of the first clock, last clock, the same of the timer."""
BYTES = 8 * WORDS * SMS

_ENTRY = re.compile(r"\.entry\b")
_HEADER_END = re.compile(r"\.address_size\s+64\b")
_EXIT = re.compile(r"(?<=[;{}:\n])(?P<blank>\s*)(?:@(?P<not>!?)\s*(?P<guard>[%\w$]+)\s+)?(?:ret|exit)(?:\.uni)?\s*;")
_DECLARED = ".reg .pred %wc_p; .reg .b32 %wc_a, %wc_b; .reg .b64 %wc_to, %wc_c, %wc_t;"
_PLACE = f"mov.u32 %wc_a, %smid; mul.wide.u32 %wc_to, %wc_a, {8 * WORDS}; mov.u64 %wc_t, {SYMBOL}; " + (
    "add.u64 %wc_to, %wc_to, %wc_t;"
)
_BEGIN = f"""
{{ {_DECLARED}
  mov.u64 %wc_c, %clock64; not.b64 %wc_c, %wc_c;
  mov.u32 %wc_a, %tid.x; mov.u32 %wc_b, %tid.y; or.b32 %wc_a, %wc_a, %wc_b;
  mov.u32 %wc_b, %tid.z; or.b32 %wc_a, %wc_a, %wc_b; setp.eq.u32 %wc_p, %wc_a, 0;
  {_PLACE}
  @%wc_p red.global.max.u64 [%wc_to], %wc_c;
  mov.u64 %wc_t, %globaltimer; not.b64 %wc_t, %wc_t; @%wc_p red.global.max.u64 [%wc_to+16], %wc_t; }}"""
_END = f"""{{ {_DECLARED}
  mov.u64 %wc_c, %clock64;
  activemask.b32 %wc_a; mov.u32 %wc_b, %lanemask_lt; and.b32 %wc_a, %wc_a, %wc_b; setp.eq.u32 %wc_p, %wc_a, 0;
  {_PLACE}
  @%wc_p red.global.max.u64 [%wc_to+8], %wc_c;
  mov.u64 %wc_t, %globaltimer; @%wc_p red.global.max.u64 [%wc_to+24], %wc_t; }} ret;"""


@dataclass(frozen=True, slots=True)
class Clocks:
    """How long a launch took: ``cycles`` of its longest SM, ``nanoseconds`` of the GPU's timer from the first beginning
    to the last end; on how many ``sms`` it ran."""

    cycles: int
    nanoseconds: int
    sms: int


def clocks_of(content: bytes) -> Clocks:
    """What a launch left in the buffer.  Raises ValueError for an empty one: no thread block has ended."""
    words = np.frombuffer(content, np.uint64).reshape(-1, WORDS)
    used = words[(words[:, 0] != 0) & (words[:, 1] != 0)]
    if not len(used):
        raise ValueError("no thread block has written its clock")
    cycles = used[:, 1] - ~used[:, 0]
    return Clocks(int(cycles.max()), int(used[:, 3].max() - (~used[:, 2]).min()), len(used))


def with_clocks(ptx: str) -> str:
    """The text with clocks in all kernels.  Raises ValueError for text without 64-bit addresses."""
    bare = blank_comments(ptx, Reporter(ptx, ""))
    header = _HEADER_END.search(bare)
    if header is None:
        raise ValueError(".address_size 64 is missing")
    inserted = [(header.end(), header.end(), f"\n.visible .global .align 8 .b64 {SYMBOL}[{WORDS * SMS}];")]
    for entry in _ENTRY.finditer(bare):
        begin = bare.index("{", entry.end())
        end = _closing(bare, begin)
        inserted.append((begin + 1, begin + 1, _BEGIN))
        inserted += [
            (found.end("blank"), found.end(), _ending(found, f"$wc_{found.start()}"))
            for found in _EXIT.finditer(bare, begin + 1, end)
        ]
    for start, stop, text in sorted(inserted, reverse=True):
        ptx = ptx[:start] + text + ptx[stop:]
    return ptx


def _ending(match: re.Match[str], label: str) -> str:
    """The end of a thread, of some threads under a guard."""
    if match["guard"] is None:
        return _END
    other = "" if match["not"] else "!"
    return f"@{other}{match['guard']} bra {label}; {_END} {label}:"


def _closing(text: str, opening: int) -> int:
    """The place of the brace that closes the one at ``opening``."""
    depth = 0
    for mark in re.finditer(r"[{}]", text[opening:]):
        depth += 1 if mark[0] == "{" else -1
        if depth == 0:
            return opening + mark.start()
    raise ValueError("a brace is not closed")
