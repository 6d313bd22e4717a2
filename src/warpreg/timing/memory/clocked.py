"""Processor cycles that the memory model takes in a run: its functions with a clock around them.

Without this, the functions of the model are inlined into the core, and no profile can tell them apart.  Functions that
only read a few words (`accepts`, `next_return` and the like) count for the SM.
"""

from __future__ import annotations

from typing import Any

from warpreg.timing.core import conditions as when
from warpreg.timing.core import ports
from warpreg.timing.core.port import wraps
from warpreg.timing.core.team_words import processor_cycles
from warpreg.timing.memory.layout import Memory
from warpreg.timing.memory.memory_columns import scalars


def _send(memory: Any, sm: int, kind: int, line: int, sectors: int, ticket: int, now: int) -> None:
    """What stands for the model's own function, as do those below."""


def _look_ahead(memory: Any, soonest: int, until: int) -> int:
    return until


def _work_ahead(memory: Any) -> None:
    pass


def _settle(memory: Any, sm: int, now: int) -> None:
    pass


def _returned(memory: Any, sm: int, now: int) -> int:
    return now


def _spent(memory: Memory, begin: int) -> None:
    memory.scalars[scalars.SPENT] += processor_cycles() - begin
    memory.scalars[scalars.CALLS] += 1


@wraps(ports.send, _send, when.CLOCKED)
def send(memory: Memory, sm: int, kind: int, line: int, sectors: int, ticket: int, now: int) -> None:
    begin = processor_cycles()
    _send(memory, sm, kind, line, sectors, ticket, now)
    _spent(memory, begin)


@wraps(ports.look_ahead, _look_ahead, when.CLOCKED)
def look_ahead(memory: Memory, soonest: int, until: int) -> int:
    begin = processor_cycles()
    found = _look_ahead(memory, soonest, until)
    _spent(memory, begin)
    return found


@wraps(ports.work_ahead, _work_ahead, when.CLOCKED)
def work_ahead(memory: Memory) -> None:
    begin = processor_cycles()
    _work_ahead(memory)
    _spent(memory, begin)


@wraps(ports.settle, _settle, when.CLOCKED)
def settle(memory: Memory, sm: int, now: int) -> None:
    begin = processor_cycles()
    _settle(memory, sm, now)
    _spent(memory, begin)


@wraps(ports.returned, _returned, when.CLOCKED)
def returned(memory: Memory, sm: int, now: int) -> int:
    begin = processor_cycles()
    found = _returned(memory, sm, now)
    _spent(memory, begin)
    return found


def cycles_of_no_calls(memory: Memory, calls: int) -> int:
    """What the clock itself takes: that number of calls of a function that does nothing; in the numba subset."""
    before = memory.scalars[scalars.SPENT]
    for _ in range(calls):
        _spent(memory, processor_cycles())
    return memory.scalars[scalars.SPENT] - before
