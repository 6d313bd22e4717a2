"""Special registers."""

from __future__ import annotations

from collections.abc import Callable

from tests.machine_code.reference import reading
from tests.machine_code.reference.integers import Step
from tests.machine_code.reference.state import LOCAL_WINDOW, SHARED_WINDOW, Lane
from tests.machine_code.reference.text import Instruction

ALL = (1 << 32) - 1


def _axis(tuple_of: Callable[[Lane], tuple[int, int, int]], axis: int) -> Callable[[Lane], int]:
    return lambda lane: tuple_of(lane)[axis]


VALUES: dict[str, Callable[[Lane], int]] = {
    "SRZ": lambda lane: 0,
    "SR_LANEID": lambda lane: lane.index,
    "SR_EQMASK": lambda lane: 1 << lane.index,
    "SR_LTMASK": lambda lane: (1 << lane.index) - 1,
    "SR_LEMASK": lambda lane: (2 << lane.index) - 1,
    "SR_GTMASK": lambda lane: ALL & -(2 << lane.index),
    "SR_GEMASK": lambda lane: ALL & -(1 << lane.index),
    "SR_CgaCtaId": lambda lane: 0,
    "SR_SWINHI": lambda lane: SHARED_WINDOW >> 32,
    "SR_LWINHI": lambda lane: LOCAL_WINDOW >> 32,
    **{f"SR_TID.{a}": _axis(lambda lane: lane.thread, n) for n, a in enumerate("XYZ")},
    **{f"SR_CTAID.{a}": _axis(lambda lane: lane.warp.block.index, n) for n, a in enumerate("XYZ")},
    **{f"SR_NTID.{a}": _axis(lambda lane: lane.warp.block.launch.block, n) for n, a in enumerate("XYZ")},
    **{f"SR_NCTAID.{a}": _axis(lambda lane: lane.warp.block.launch.grid, n) for n, a in enumerate("XYZ")},
}


def read(i: Instruction) -> Step:
    """``S2R``, ``S2UR``; ``CS2R`` writes a pair, or a word with ``.32``."""
    to, source = i.operands
    if source.text not in VALUES:
        raise i.unknown()
    value = VALUES[source.text]
    write = reading.set_words(to, 1 if i.opcode != "CS2R" or i.has("32") else 2)
    return lambda lane: write(lane, value(lane))


def barrier_result(i: Instruction) -> Step:
    """``B2R.RESULT``: what the oldest reduction at a barrier gave that was not fetched yet, as a word or a predicate:
    a second ``BAR.RED`` may stand before the ``B2R`` of the first.
    """
    write = reading.set_word(i.operands[0])
    notes = [reading.set_predicate(one) for one in i.operands[1:]]

    def step(lane: Lane) -> None:
        result = lane.results.pop(0)
        write(lane, result)
        for note in notes:
            note(lane, result != 0)

    return step


STEPS: dict[str, Callable[[Instruction], Step]] = {
    "S2R": read, "S2UR": read, "CS2R": read, "B2R": barrier_result,
}  # fmt: skip
