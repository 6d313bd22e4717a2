"""Accesses that are carried out one lane after the other: local memory, and atomics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from warpreg.simt.llvm.emitter import FULL, I1, I32, I64, LANES, Code, Value, lanes_of
from warpreg.simt.llvm.spilling import spilled
from warpreg.simt.memory import atomics


def lane_by_lane(
    code: Code,
    action: str,
    space: str,
    element: Any,
    mask: Value,
    address_of: Callable[[Value], Value],
    values: list[Value],
    returns: bool,
) -> Value | None:
    """Carry out the ``action`` of an `Operation` for the lanes of ``mask`` (i32); returns what they load, if they do.

    ``address_of`` gives the host address (i64) of a lane by its index (i64).  Operands of an atomic that are equal in
    all lanes, such as the 1 of a counter, are not read lane by lane.
    """
    size, vector = element.width // 8, lanes_of(element)
    old = spilled(code, code.const(vector, 0)) if returns else None
    used = values if action.startswith(("cas.", "mbarrier.")) else values[:1]

    def at(operands: list[Value]) -> Callable[[Value], list[Value]]:
        return lambda index: [(operand + index * size).load(element) for operand in operands]

    def act(index: Value, operands_of: Callable[[Value], list[Value]]) -> None:
        address, given = address_of(index), operands_of(index)
        if action == "store":
            address.store(given[0], align=1)
            return
        before = address.load(element, align=1)
        if old is not None:
            (old + index * size).store(before)
        if action != "load":
            address.store(atomics.combine(code, action, before, given[0], given[-1], space))

    def all_lanes(operands_of: Callable[[Value], list[Value]]) -> None:
        for number in range(LANES):
            act(code.const(I64, number), operands_of)

    with code.if_else(mask == FULL) as (all_active, some_active):
        with all_active:
            if action in ("load", "store"):
                all_lanes(at([spilled(code, value) for value in used]))
            else:
                first = [value.lane(0) for value in used]
                with code.if_else(_are_equal(code, used, first)) as (equal, different):
                    with equal:
                        all_lanes(lambda index: first)
                    with different:
                        all_lanes(at([spilled(code, value) for value in used]))
        with some_active:
            operands_of = at([spilled(code, value) for value in used])
            with code.each_set_bit(mask) as lane:
                act(lane.zext(I64), operands_of)
    return old.load(vector, align=64) if old is not None else None


def _are_equal(code: Code, values: list[Value], first: list[Value]) -> Value:
    """Whether each vector has its first element in all lanes."""
    found = code.const(I1, 1)
    for value, scalar in zip(values, first, strict=True):
        found = found & ((value == scalar.splat()).bitcast(I32) == FULL)
    return found
