"""Put what records around functions of the core."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from typing import Any

from piecewise_numba.natives import Function
from piecewise_numba.twin import twin
from warpreg.timing.core import ports
from warpreg.timing.hooks import adapters
from warpreg.timing.sm import (
    issue,
    load_store_unit,
    operand_collector,
    owned_collectors,
    stall_account,
    wakeup,
    writeback,
)
from warpreg.timing.tracing import recording

POINTS: tuple[tuple[Function, Function, Function], ...] = (
    (issue.issue_head, recording.issue_head, recording.core_issue_head),
    (operand_collector.take_collector, recording.take_collector, recording.core_take_collector),
    (operand_collector.is_there, recording.is_there, recording.core_is_there),
    (load_store_unit.begin, recording.begin, recording.core_begin),
    (writeback.process_results, recording.process_results, recording.core_process_results),
    (writeback.serve_write, recording.serve_write, recording.core_serve_write),
    (writeback.finish, recording.finish, recording.core_finish),
    (wakeup.set_cause, recording.set_cause, recording.core_set_cause),
    (stall_account.blocked_warps, recording.blocked_warps, recording.core_blocked_warps),
    (issue.take_turn, recording.take_turn, recording.core_take_turn),
    (adapters.settle, recording.settle, recording.core_settle),
)
"""A function of the core, what takes its place, and what that calls in its place."""


ALL = tuple(function for function, _, _ in POINTS)


def recording_core(
    replaced: Mapping[Function, Function], points: Collection[Function] = ALL
) -> dict[Function, Function]:
    """What to replace in a core that records around these functions, besides what is ``replaced`` already."""
    found: dict[Any, Any] = {}
    for function, records, original in POINTS:
        if function not in points:
            continue
        found[function] = records
        found[original] = _original(_effective(function, replaced))
    if ports.source_word in replaced:
        found[recording.served] = recording.served_as_planned
    if _effective(stall_account.blocked_warps, replaced) is owned_collectors.blocked_warps:
        found[recording.blocking_cause] = recording.owned_blocking_cause
    return found


_original = functools.cache(twin)
"""One twin of each function, since compiled code is found by its functions."""


def _effective(function: Any, replaced: Mapping[Function, Function]) -> Any:
    while function in replaced:
        function = replaced[function]
    return function
