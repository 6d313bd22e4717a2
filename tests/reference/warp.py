"""Instructions that the lanes of a warp execute together: ``shfl``, ``vote``, ``match``, ``redux``, ``elect``,
``activemask``; most wait for the lanes that their member mask names.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.reference import collective
from tests.reference.matrices import MATRIX
from tests.reference.memory import ReferenceFault
from tests.reference.thread import Thread

TOGETHER = ("shfl", "vote", "match", "redux", "elect", "activemask")
WARP_WIDE = (*TOGETHER, "bar.warp", *MATRIX)
"""What `Waiting.kind` says of the instructions of this module."""


def results_and_operands(opcode: str, modifiers: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The result's type and those of the operands before the member mask."""
    if opcode == "vote":
        return "b32" if "ballot" in modifiers else "pred", ("pred",)
    operands = {"shfl": ("b32", "u32", "u32"), "match": modifiers[-1:], "redux": modifiers[-1:]}
    return "b32", operands.get(opcode, ())


def resolve_warp(warp: list[Thread]) -> bool:
    """Let every complete group of waiting lanes go on; whether there was one."""
    waiting = [t for t in warp if t.waiting and t.waiting.kind in WARP_WIDE]
    progress = False
    for thread in waiting:
        if thread.waiting and thread.waiting.kind != "activemask":
            group = _group(thread, warp)
            if group:
                _execute(group)
                progress = True
    asking = [t for t in waiting if t.waiting and t.waiting.kind == "activemask"]
    if asking and not progress:
        _execute(_together(asking[0], asking))
        return True
    return progress


def _together(thread: Thread, lanes: list[Thread]) -> list[Thread]:
    """The lanes that wait at the same statement as ``thread``."""
    assert thread.waiting is not None
    statement = thread.waiting.statement
    return [t for t in lanes if t.waiting and t.waiting.statement is statement]


def _group(thread: Thread, warp: list[Thread]) -> list[Thread]:
    """The lanes that ``thread`` executes with, or none if one of them is not there yet."""
    assert thread.waiting is not None
    together = _together(thread, warp)
    members = [t for t in warp if thread.waiting.key[0] >> t.lane & 1 and not t.finished]
    if thread not in members:
        raise ReferenceFault(f"lane {thread.lane} is not in its own member mask at {thread.waiting.statement}")
    return members if all(t in together for t in members) else []


def _execute(group: list[Thread]) -> None:
    first = group[0].waiting
    assert first is not None
    statement = first.statement
    keys = {t.lane: t.waiting.key[1:] for t in group if t.waiting}
    if first.together:
        results: Mapping[int, tuple[int, ...]] = first.together(group, keys)
    elif statement.opcode == "shfl":
        mode = next(m for m in statement.modifiers if m in ("up", "down", "bfly", "idx"))
        results = {lane: _shuffle(mode, lane, keys) for lane in keys}
    elif first.kind == "bar.warp":
        results = dict.fromkeys(keys, (0, 0))
    else:
        values = {lane: key[0] if key else 0 for lane, key in keys.items()}
        results = collective.results(statement.opcode, statement.modifiers, values)
    for thread in group:
        stopped, thread.waiting = thread.waiting, None
        assert stopped is not None
        stopped.resume(thread, *results[thread.lane])


def _shuffle(mode: str, lane: int, keys: dict[int, tuple[int, ...]]) -> tuple[int, int]:
    """The value that ``lane`` receives and whether its source lies in the segment (PTX ISA, ``shfl.sync``); its own
    value from a lane that does not take part, which PTX leaves open.
    """
    value, b, c = keys[lane]
    b, clamp, segment = b & 31, c & 31, (c >> 8) & 31
    limit = (lane & segment) | (clamp & ~segment)
    if mode == "up":
        source = lane - b
        inside = source >= limit
    else:
        source = {"down": lane + b, "bfly": lane ^ b, "idx": (lane & segment) | (b & ~segment)}[mode]
        inside = source <= limit
    if not inside:
        return value, 0
    return keys.get(source, keys[lane])[0], 1
