"""Instruction caches: an L0 with a stream buffer for each scheduler, and an L1 of the SM.

Source: Huerta et al., "Dissecting and Modeling the Architecture of Modern GPU Cores" (MICRO 2025), section 5.2.
"""

from __future__ import annotations

from typing import Any

from piecewise_numba.noinline import noinline
from warpreg.gpu import pipes
from warpreg.timing.core import conditions as when
from warpreg.timing.core import ports
from warpreg.timing.core.columns import causes, code, code_lines, machine, schedulers, warps
from warpreg.timing.core.inflight import hold
from warpreg.timing.core.port import stands_for
from warpreg.timing.core.rows import slot_of
from warpreg.timing.core.state import Core
from warpreg.timing.core.typed import NONE, LineRow, Pc, SchedulerRow, SmRow, WarpRow
from warpreg.timing.sm.cached_lines import bring, is_cached, row_of, use


@stands_for(ports.fetch_next, when.INSTRUCTION_CACHES)
def fetch_next(c: Core, sm: SmRow, warp: WarpRow, pc: Pc, now: int) -> None:
    """The warp has issued an instruction; after one of pipe ``ctrl``, it is known late which one is next, and later
    still if it is another one than the next in the code."""
    at = now
    if c.code[pc, code.PIPE] == pipes.CTRL:
        at = now + c.machine[machine.CTRL_LATENCY] - 1
        head = c.rows[warp, warps.HEAD]
        if head != NONE and head != pc + 1:
            at = max(at, now + c.machine[machine.JUMP] - 1)
            hold(c, sm, warp, at + 1, ports.unfetched(c), now)
    _fetch(c, sm, warp, at, now)


@stands_for(ports.fetch_first, when.INSTRUCTION_CACHES)
def fetch_first(c: Core, sm: SmRow, warp: WarpRow, now: int) -> None:
    """The warp is placed."""
    c.rows[warp, warps.LINE] = NONE
    _fetch(c, sm, warp, now, now)


def _fetch(c: Core, sm: SmRow, warp: WarpRow, at: int, now: int) -> None:
    """Ask for the line of the head, if it is another one, and for that of the last instruction that the buffer of the
    warp has room for, if that is the first of its line.
    """
    head = c.rows[warp, warps.HEAD]
    if head == NONE:
        return
    shift = c.machine[machine.LINE_SHIFT]
    line = head >> shift
    if line != c.rows[warp, warps.LINE]:
        c.rows[warp, warps.LINE] = line
        hold(c, sm, warp, _there_from(c, sm, warp, line, at), causes.FETCH, now)
    last: Any = head + c.machine[machine.BUFFER] - 1
    if last & ((1 << shift) - 1) == 0 and last != head and last >> shift < c.machine[machine.CODE_LINES]:
        _there_from(c, sm, warp, last >> shift, at)


def _there_from(c: Core, sm: SmRow, warp: WarpRow, line: int, at: int) -> int:
    """The first cycle in which the L0 of a warp has a line, asked for in cycle ``at``."""
    first = _cache(c, sm, slot_of(c, sm, warp) % c.machine[machine.SCHEDULERS])
    row = row_of(first, line)
    if not is_cached(c, row):
        there = _miss(c, sm, c.rows[warp, warps.TURN_ROW], first, line, at)
        lines = c.machine[machine.CODE_LINES]
        bring(c, first, line, lines, c.machine[machine.L0_SETS], c.machine[machine.L0_WAYS], there)
    return use(c, sm, row)


@noinline
def _miss(c: Core, sm: SmRow, turn: SchedulerRow, first: LineRow, line: int, at: int) -> int:
    """When a line comes that the L0 lacks: from the stream buffer, or from the L1, where a new stream then begins."""
    end = c.rows[turn, schedulers.STREAM_END]
    if c.rows[turn, schedulers.STREAM_BEGIN] <= line < end:
        there = c.lines[row_of(first, line), code_lines.STREAMED]
    else:
        there = _from_l1(c, sm, line, at)
        end = line + 1
        at += 1
    until = min(line + 1 + c.machine[machine.STREAM_LINES], c.machine[machine.CODE_LINES])
    for other in range(end, until):
        c.lines[row_of(first, other), code_lines.STREAMED] = _from_l1(c, sm, other, at + other - end)
    c.rows[turn, schedulers.STREAM_BEGIN] = line + 1
    c.rows[turn, schedulers.STREAM_END] = until
    return there


def _from_l1(c: Core, sm: SmRow, line: int, at: int) -> int:
    """When a line comes from the L1, asked for in cycle ``at``."""
    first = _cache(c, sm, c.machine[machine.SCHEDULERS])
    row = row_of(first, line)
    if not is_cached(c, row):
        there = at + c.machine[machine.L2_CODE_LATENCY]
        lines = c.machine[machine.CODE_LINES]
        bring(c, first, line, lines, c.machine[machine.L1_SETS], c.machine[machine.L1_WAYS], there)
    return max(at, use(c, sm, row)) + c.machine[machine.L1_CODE_LATENCY]


def _cache(c: Core, sm: SmRow, number: int) -> LineRow:
    """The first row of the L0 of a scheduler, or of the L1, which follows them."""
    row: Any = (sm * (c.machine[machine.SCHEDULERS] + 1) + number) * c.machine[machine.CODE_LINES]
    return row
