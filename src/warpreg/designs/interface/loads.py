"""What hooks say and ask of memory accesses: loads that wait without memory, and addresses of lanes.

A load that needs data that are under way already (LARF, thesis of 2021, section 5.5.2) is held: ``load_lookup`` returns
HELD, and a later hook of the same SM completes it::

    if entry_is_under_way:
        remember(state, entry, this_load(plan))
        return HELD
    ...
    complete(plan, remembered, 1)  # where the data arrive
"""

from __future__ import annotations

from warpreg.designs.interface.plan import (
    COMPLETED,
    COMPLETED_CYCLES,
    COMPLETED_LOAD,
    IRREGULAR,
    LANE_MASK,
    LANES_AT,
    Plan,
)

HELD = -1
"""Return value of ``load_lookup``: the load waits without memory until a hook calls `complete`."""


def this_load(plan: Plan) -> int:
    """The number of the instruction that the hook is called for, in the order of issue of its SM.

    It names the instruction in all its hooks from ``plan_reads`` to ``written_back``; no other instruction of the SM
    ever has it.  -1 in other hooks and in a replay.
    """
    return plan.load


def complete(plan: Plan, load: int, cycles: int) -> None:
    """The results of a ``load`` that ``load_lookup`` holds follow in ``cycles`` cycles, 1 at least.

    ``load`` is what `this_load` has returned for it, in this SM; another number ends the run with an error.
    """
    if plan.detailed:
        if plan.queued[COMPLETED] < plan.completed.shape[0]:
            plan.completed[plan.queued[COMPLETED], COMPLETED_LOAD] = load
            plan.completed[plan.queued[COMPLETED], COMPLETED_CYCLES] = cycles
        plan.queued[COMPLETED] += 1


def lane_address(plan: Plan, lane: int) -> int:
    """The address of active lane ``lane`` in the access of the instruction that the hook is called for, in bytes.

    In a design that declares ``lanes=True``, in hooks that have the addresses of an access to global, local or texture
    memory; affine ones are computed.  In local memory, the offset in the memory of the lane.
    """
    if plan.stride != IRREGULAR:
        return plan.base + lane * plan.stride
    before = plan.lane_at[LANE_MASK] & ((1 << lane) - 1)
    place = plan.lane_at[LANES_AT]
    while before != 0:
        before &= before - 1
        place += 1
    return int(plan.lanes[place])
