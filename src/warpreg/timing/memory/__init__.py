"""The memory system: three models behind the interface of docs/reference/timing.md.

`build` makes the arrays.  `functions` returns the functions of a model: plain Python in the numba subset, compiled into
the core or called directly.  docs/reference/memory.md specifies each model.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from piecewise_numba.natives import Function
from warpreg.timing.core import ports
from warpreg.timing.core.access_record import ATOMIC, LOAD, STORE
from warpreg.timing.core.access_record import ORDERED_LOAD as ORDERED
from warpreg.timing.core.access_record import READ_ONLY_LOAD as READ_ONLY
from warpreg.timing.core.access_record import TEXTURE_LOAD as TEXTURE
from warpreg.timing.core.columns.typed import NEVER, NONE
from warpreg.timing.memory import answers, cached, contention, first_level, fixed, heap
from warpreg.timing.memory.arrays import buffers, members
from warpreg.timing.memory.build import build, counters, for_machine
from warpreg.timing.memory.columns import parameters
from warpreg.timing.memory.layout import Memory


class Functions(NamedTuple):
    """Interface of a memory model to an SM; signatures as in docs/reference/timing.md."""

    accepts: Callable[..., Any]
    joins: Callable[..., Any]
    expect: Callable[..., Any]
    send: Callable[..., Any]
    advance: Callable[..., Any]
    next_event: Callable[..., Any]
    next_return: Callable[..., Any]
    returned: Callable[..., Any]
    retry: Callable[..., Any]
    look_ahead: Callable[..., Any]
    settle: Callable[..., Any]
    awaited: Callable[..., Any]
    room_for_sms: Callable[..., Any]


_FIXED = Functions(
    fixed.accepts,
    fixed.joins,
    fixed.expect,
    fixed.send,
    fixed.advance,
    fixed.next_event,
    heap.next_return,
    heap.returned,
    fixed.retry,
    fixed.look_ahead,
    fixed.settle,
    fixed.awaited,
    fixed.room_for_sms,
)
_CACHED = Functions(
    first_level.accepts,
    first_level.joins,
    first_level.expect,
    first_level.send,
    cached.advance,
    cached.next_event,
    answers.next_return,
    heap.returned,
    first_level.retry,
    cached.look_ahead,
    answers.settle,
    answers.awaited,
    heap.room_for_sms,
)
_CONTENTION = _CACHED._replace(
    advance=contention.advance,
    next_event=contention.next_event,
    next_return=contention.next_return,
    look_ahead=contention.look_ahead,
    settle=contention.settle,
)


BY_CYCLE = ("advance", "next_event")
"""Functions only for callers that advance cycles themselves; all others replace ports of the core."""


def functions(memory: Memory) -> Functions:
    """The functions of a memory system's model."""
    return (_FIXED, _CACHED, _CONTENTION)[memory.parameters[parameters.MODEL]]


def in_place_of_ports(memory: Memory) -> Mapping[Function, Function]:
    """By port of the core, its replacement."""
    return _in_place_of_ports(functions(memory))


@functools.cache
def _in_place_of_ports(given: Functions) -> Mapping[Function, Function]:
    return port_functions({name: function for name, function in given._asdict().items() if name not in BY_CYCLE})


def port_functions(given: Mapping[str, Function]) -> dict[Function, Function]:
    """By port of the core, the function of the same name.

    Raises TypeError for a name that is not a memory port, and for a port without a function.  Neither may fall back to
    the default of the port.
    """
    names = {port.__name__: port for port in ports.MEMORY}
    if names.keys() != given.keys():
        unknown, missing = sorted(given.keys() - names.keys()), sorted(names.keys() - given.keys())
        raise TypeError(f"memory functions: expected {', '.join(names)}; unknown: {unknown}, missing: {missing}")
    return {names[name]: function for name, function in given.items()}


__all__ = [
    "ATOMIC",
    "LOAD",
    "NEVER",
    "NONE",
    "ORDERED",
    "READ_ONLY",
    "STORE",
    "TEXTURE",
    "Functions",
    "Memory",
    "buffers",
    "build",
    "counters",
    "for_machine",
    "functions",
    "in_place_of_ports",
    "members",
    "port_functions",
]
