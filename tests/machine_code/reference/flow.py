"""Control flow: each function moves a group on, or splits it, and returns the groups that can go on.

``active`` are the lanes whose guard holds.  Lanes that wait stand in ``warp.meeting``, ``warp.gathering`` or at a
barrier of the block.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.machine_code.reference import reading
from tests.machine_code.reference.operands import Operand
from tests.machine_code.reference.state import Arrivals, Barrier, Group, Lane, Warp
from tests.machine_code.reference.text import BYTES, Function, Instruction

Flow = Callable[[Warp, Group, list[Lane]], list[Group]]


def others(group: Group, lanes: list[Lane]) -> list[Lane]:
    chosen = set(lanes)
    return [lane for lane in group.lanes if lane not in chosen]


def branched(group: Group, taken: list[Lane], target: int) -> list[Group]:
    return [*group.part(taken, target), *group.part(others(group, taken), group.pc + BYTES)]


def target_of(i: Instruction, function: Function) -> int:
    name = i.operands[-1]
    return name.number if name.kind == "integer" else function.labels[name.text]


def branch(i: Instruction, function: Function) -> Flow:
    """``BRA``: more predicates may stand before the target; ``.DIV`` and ``.CONV`` ask whether lanes are apart."""
    target = target_of(i, function)
    if i.has("DIV", "CONV"):
        mask = reading.integer(i.operands[0])

        def by_lanes(warp: Warp, group: Group, active: list[Lane]) -> list[Group]:
            wanted = [lane for lane in warp.lanes if mask(active[0]) >> lane.index & 1] if active else []
            together = set(wanted) <= set(active)
            return branched(group, active if together == i.has("CONV") else [], target)

        return by_lanes
    tests = [reading.predicate(one) for one in i.operands[:-1]]

    def run(warp: Warp, group: Group, active: list[Lane]) -> list[Group]:
        taken = [lane for lane in active if all(test(lane) for test in tests)]
        return branched(group, group.lanes if taken and i.has("ANY") else taken, target)

    return run


def jump_by_register(i: Instruction, function: Function) -> Flow:
    """``BRX``: to the address of the next instruction, a pair and an offset."""
    pair, offset = reading.bits64(i.operands[0]), i.operands[1].number

    def run(warp: Warp, group: Group, active: list[Lane]) -> list[Group]:
        return _by_target(
            group, active, {lane: i.address + BYTES + pair(lane) + offset & reading.M64 for lane in active}
        )

    return run


def _by_target(group: Group, active: list[Lane], targets: dict[Lane, int]) -> list[Group]:
    found = group.part(others(group, active), group.pc + BYTES)
    for target in sorted(set(targets.values())):
        found += group.part([lane for lane in active if targets[lane] == target], target)
    return found


def give_back(i: Instruction, function: Function) -> Flow:
    """``RET.REL``: to a pair beyond the start of a function."""
    pair, base = reading.bits64(i.operands[0]), function.labels[i.operands[1].text]

    def run(warp: Warp, group: Group, active: list[Lane]) -> list[Group]:
        return _by_target(group, active, {lane: pair(lane) + base for lane in active})

    return run


def leave(i: Instruction, function: Function) -> Flow:
    """``EXIT``."""
    tests = [reading.predicate(one) for one in i.operands]

    def run(warp: Warp, group: Group, active: list[Lane]) -> list[Group]:
        gone = {lane for lane in active if all(test(lane) for test in tests)}
        warp.lanes = [lane for lane in warp.lanes if lane not in gone]
        return group.part([lane for lane in group.lanes if lane not in gone], group.pc + BYTES)

    return run


def set_meeting(i: Instruction, function: Function) -> Flow:
    """``BSSY``: the active lanes will meet."""
    n = int(i.operands[0].text[1:])

    def run(warp: Warp, group: Group, active: list[Lane]) -> list[Group]:
        barrier = Barrier(set(active))
        for lane in active:
            lane.b[n] = barrier
        group.pc += BYTES
        return [group]

    return run


def meet(i: Instruction, function: Function) -> Flow:
    """``BSYNC``: wait for the lanes of the barrier."""
    n = int(i.operands[0].text[1:])

    def run(warp: Warp, group: Group, active: list[Lane]) -> list[Group]:
        for lane in active:
            warp.meeting[lane] = lane.b[n], group.pc + BYTES
        return group.part(others(group, active), group.pc + BYTES)

    return run


def leave_meeting(i: Instruction, function: Function) -> Flow:
    """``BREAK``: the others no longer wait for these lanes."""
    n = int(i.operands[-1].text[1:])
    tests = [reading.predicate(one) for one in i.operands[:-1]]

    def run(warp: Warp, group: Group, active: list[Lane]) -> list[Group]:
        for lane in active:
            if all(test(lane) for test in tests):
                lane.b[n].members.discard(lane)
        group.pc += BYTES
        return [group]

    return run


def gather(i: Instruction, function: Function) -> Flow:
    """``WARPSYNC``: wait for the lanes of a mask; after a ``.COLLECTIVE`` region, each goes to its label."""
    collective = i.has("COLLECTIVE")
    mask = reading.integer(i.operands[0]) if i.operands else lambda lane: reading.M32

    def run(warp: Warp, group: Group, active: list[Lane]) -> list[Group]:
        for lane in active:
            lane.landing = target_of(i, function) if collective else 0
            warp.gathering[lane] = mask(lane), group.pc + BYTES, collective
        return group.part(others(group, active), group.pc + BYTES)

    return run


def end_region(i: Instruction, function: Function) -> Flow:
    def run(warp: Warp, group: Group, active: list[Lane]) -> list[Group]:
        return _by_target(group, active, {lane: lane.landing for lane in active})

    return run


def released(warp: Warp) -> list[Group]:
    """Groups of lanes that waited for each other in the warp, and are complete."""
    found: list[Group] = []
    alive = set(warp.lanes)
    for barrier in {barrier for barrier, _ in warp.meeting.values()}:
        there = [lane for lane, (other, _) in warp.meeting.items() if other is barrier]
        if barrier.members & alive <= set(there):
            found += _gone_on(there, {lane: warp.meeting.pop(lane)[1] for lane in there})
    for mask in {mask for mask, _, _ in warp.gathering.values()}:
        there = [lane for lane, (other, _, _) in warp.gathering.items() if other == mask]
        if {lane for lane in alive if mask >> lane.index & 1} <= set(there):
            notes = {lane: warp.gathering.pop(lane) for lane in there}
            first = min(there, key=lambda lane: lane.index)
            joint = notes[first][2]
            found += _gone_on(there, {lane: notes[first if joint else lane][1] for lane in there})
    return found


def deserted(warp: Warp) -> list[Group]:
    """Groups of lanes at a ``BSYNC`` that wait only for lanes at a ``WARPSYNC``, for a warp that cannot go on.

    ``ptxas`` lets lanes leave a loop for a ``WARPSYNC`` without a ``BREAK``, so that they must not be waited for.
    """
    found: list[Group] = []
    alive, away = set(warp.lanes), set(warp.gathering)
    for barrier in {barrier for barrier, _ in warp.meeting.values()}:
        there = [lane for lane, (other, _) in warp.meeting.items() if other is barrier]
        if (barrier.members & alive) - set(there) <= away:
            barrier.members -= set(there)
            found += _gone_on(there, {lane: warp.meeting.pop(lane)[1] for lane in there})
    return found


def _gone_on(lanes: list[Lane], places: dict[Lane, int]) -> list[Group]:
    ordered = sorted(lanes, key=lambda lane: lane.index)
    return [Group([x for x in ordered if places[x] == at], at) for at in sorted(set(places.values()))]


def synchronize(i: Instruction, function: Function) -> Flow:
    """``BAR.SYNC``, ``.ARV`` and ``.RED``: a barrier of the block, for all threads or a number of them."""
    numbers = [one for one in i.operands if one.kind != "predicate"]
    tests = [reading.predicate(one) for one in i.operands if one.kind == "predicate"]
    name, count = _name_and_count(numbers)

    def run(warp: Warp, group: Group, active: list[Lane]) -> list[Group]:
        rest = group.part(others(group, active), group.pc + BYTES)
        if not active:
            return rest
        arrivals = warp.block.barriers.setdefault(name(active[0]), Arrivals())
        arrivals.lanes |= set(active)
        arrivals.count = count(active[0]) if count else arrivals.count
        if i.has("RED"):
            arrivals.votes += [tests[0](lane) for lane in active]
            arrivals.reduction = next(m for m in i.modifiers if m in ("POPC", "AND", "OR"))
        after = Group(active, group.pc + BYTES)
        if i.has("ARV"):
            return [*rest, after]
        arrivals.waiting.append((warp, after))
        return rest

    return run


def _name_and_count(numbers: list[Operand]) -> tuple[reading.Read, reading.Read | None]:
    """The barrier and the threads that it takes; if both are registers, each has both: 4 bits, and 12 from bit 16."""
    name, *rest = [reading.integer(one) for one in numbers]
    if not rest:
        return name, None
    (count,) = rest
    if all(one.kind == "register" for one in numbers):
        return (lambda lane: name(lane) & 15), (lambda lane: count(lane) >> 16 & 0xFFF)
    return name, count


def to_uniform(i: Instruction, function: Function) -> Flow:
    """``R2UR``: the word of the first active lane, for all; a predicate says whether a lane has another one, or has
    said so before (``.OR``)."""
    operands = list(i.operands)
    first = [operands.pop(0)] if operands[0].kind == "predicate" else []
    marks = [(reading.set_predicate(one), reading.predicate(one)) for one in first]
    write, value = reading.set_word(operands[0]), reading.integer(operands[1])

    def run(warp: Warp, group: Group, active: list[Lane]) -> list[Group]:
        found = value(active[0]) if active else 0
        for note, before in marks:
            for lane in active:
                note(lane, value(lane) != found or (i.has("OR") and before(lane)))
        for lane in group.lanes if active else ():
            write(lane, found)
        group.pc += BYTES
        return [group]

    return run


def stand_still(i: Instruction, function: Function) -> Flow:
    def run(warp: Warp, group: Group, active: list[Lane]) -> list[Group]:
        group.pc += BYTES
        return [group]

    return run


FLOWS: dict[str, Callable[[Instruction, Function], Flow]] = {
    "BRA": branch, "CALL": branch, "JMP": branch, "BRX": jump_by_register, "RET": give_back, "EXIT": leave,
    "BSSY": set_meeting, "BSYNC": meet, "BREAK": leave_meeting, "WARPSYNC": gather, "ENDCOLLECTIVE": end_region,
    "BAR": synchronize, "R2UR": to_uniform,
    **dict.fromkeys("NOP YIELD DEPBAR LDGDEPBAR MEMBAR CCTL ERRBAR CGAERRBAR NANOSLEEP".split(), stand_still),
    **dict.fromkeys("FENCE UTMACMDFLUSH UBLKPF ACQBULK PREEXIT".split(), stand_still),
}  # fmt: skip
