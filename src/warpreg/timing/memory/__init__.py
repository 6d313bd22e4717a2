"""The memory system: three models behind the interface of docs/reference/timing.md.

`build` makes the arrays.  `functions` returns the functions of a model: plain Python in the numba subset, compiled into
the core or called directly.  docs/reference/memory.md specifies each model.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from warpreg.gpu.memory import MODELS
from warpreg.timing.core import ports
from warpreg.timing.core.access_record import ATOMIC, LOAD, SPILL, STORE
from warpreg.timing.core.access_record import ORDERED_LOAD as ORDERED
from warpreg.timing.core.access_record import READ_ONLY_LOAD as READ_ONLY
from warpreg.timing.core.access_record import TEXTURE_LOAD as TEXTURE
from warpreg.timing.core.conditions import CoreConfig
from warpreg.timing.core.port import replacements
from warpreg.timing.core.typed import NEVER, NONE
from warpreg.timing.memory import cached, contention, fixed
from warpreg.timing.memory.arrays import members
from warpreg.timing.memory.build import build, counters, for_machine
from warpreg.timing.memory.layout import Memory
from warpreg.timing.memory.memory_columns import parameters


class Functions(NamedTuple):
    """Interface of a memory model to an SM; signatures as in docs/reference/timing.md.  What each does stands at the
    port of its name (`warpreg.timing.core.ports`).
    """

    accepts: Callable[..., Any]
    joins: Callable[..., Any]
    expect: Callable[..., Any]
    send: Callable[..., Any]
    advance: Callable[..., Any]
    """Advance all by a cycle, for callers that step memory themselves."""
    next_event: Callable[..., Any]
    """The earliest cycle in which `advance` is due."""
    next_return: Callable[..., Any]
    returned: Callable[..., Any]
    retry: Callable[..., Any]
    look_ahead: Callable[..., Any]
    settle: Callable[..., Any]
    awaited: Callable[..., Any]
    room_for_sms: Callable[..., Any]


BY_CYCLE: Mapping[str, Mapping[str, Callable[..., Any]]] = {
    "fixed": {"advance": fixed.advance, "next_event": fixed.next_event},
    "cached": {"advance": cached.advance, "next_event": cached.next_event},
    "contention": {"advance": contention.advance, "next_event": contention.next_event},
}
"""By model, the functions for callers that advance cycles themselves; all others stand for ports of the core."""


def functions(memory: Memory) -> Functions:
    """The functions of a memory system's model."""
    return _functions(MODELS[memory.parameters[parameters.MODEL]])


@functools.cache
def _functions(model: str) -> Functions:
    found = replacements(CoreConfig("banks", model))
    return Functions(**{port.__name__: found[port] for port in ports.MEMORY}, **BY_CYCLE[model])


__all__ = [
    "ATOMIC",
    "LOAD",
    "NEVER",
    "NONE",
    "ORDERED",
    "READ_ONLY",
    "SPILL",
    "STORE",
    "TEXTURE",
    "Functions",
    "Memory",
    "build",
    "counters",
    "for_machine",
    "functions",
    "members",
]
