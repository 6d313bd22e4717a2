"""What the lanes of a group compute together: votes, shuffles, matches, reductions, values for the whole warp."""

from __future__ import annotations

from collections.abc import Callable

from tests.machine_code.reference import reading
from tests.machine_code.reference.accesses import address
from tests.machine_code.reference.reading import M32, signed
from tests.machine_code.reference.state import Lane
from tests.machine_code.reference.text import Instruction

Joint = Callable[[list[Lane]], None]
Elementary = Callable[[str, list[int]], list[int]]
"""The patterns that a function of ``MUFU`` gives for patterns."""


def vote(i: Instruction) -> Joint:
    """``VOTE.ANY``, ``.ALL``, ``.EQ``: a predicate; before it, a word with a bit for each lane that votes for."""
    operands = list(i.operands)
    ballot = reading.set_word(operands.pop(0)) if operands[0].kind == "register" else None
    note, test = reading.set_predicate(operands[0]), reading.predicate(operands[1])

    def run(lanes: list[Lane]) -> None:
        votes = {lane: test(lane) for lane in lanes}
        all_, any_ = all(votes.values()), any(votes.values())
        found = any_ if i.has("ANY") else all_ if i.has("ALL") else all_ or not any_
        bits = sum(1 << lane.index for lane in lanes if votes[lane])
        for lane in lanes:
            if ballot:
                ballot(lane, bits)
            note(lane, found)

    return run


def shuffle(i: Instruction) -> Joint:
    """``SHFL``: the value of another lane, its own where that lies outside of the segment; as ``shfl`` of PTX."""
    note, write = reading.set_predicate(i.operands[0]), reading.set_word(i.operands[1])
    a, b, c = (reading.integer(one) for one in i.operands[2:5])

    def run(lanes: list[Lane]) -> None:
        values = {lane.index: a(lane) for lane in lanes}
        found = {}
        for lane in lanes:
            source, inside = _source(i, lane.index, b(lane), c(lane))
            value = values.get(source, values[lane.index]) if inside else values[lane.index]
            found[lane] = value, inside
        for lane, (value, inside) in found.items():
            write(lane, value)
            note(lane, inside)

    return run


def _source(i: Instruction, lane: int, b: int, c: int) -> tuple[int, bool]:
    clamp, segment, by = c & 31, c >> 8 & 31, b & 31
    last = lane & segment | clamp & ~segment
    if i.has("UP"):
        return lane - by, lane - by >= last
    if i.has("DOWN"):
        return lane + by, lane + by <= last
    source = lane ^ by if i.has("BFLY") else lane & segment | by & ~segment
    return source, source <= last


def match(i: Instruction) -> Joint:
    """``MATCH``: the lanes with an equal value; ``.ALL``: all if they are equal, and a predicate."""
    operands = list(i.operands)
    note = reading.set_predicate(operands.pop(0)) if operands[0].kind == "predicate" else None
    write, value = reading.set_word(operands[0]), reading.words(operands[1], 2 if i.has("U64") else 1)

    def run(lanes: list[Lane]) -> None:
        values = {lane: value(lane) for lane in lanes}
        equal = len(set(values.values())) == 1
        for lane in lanes:
            same = sum(1 << other.index for other in lanes if values[other] == values[lane])
            write(lane, same if i.has("ANY") or equal else 0)
            if note:
                note(lane, equal)

    return run


def elect(i: Instruction) -> Joint:
    """``ELECT``: the lowest lane for which the predicate holds, and whether a lane is that one."""
    note, write = reading.set_predicate(i.operands[0]), reading.set_word(i.operands[1])
    test = reading.predicate(i.operands[2])

    def run(lanes: list[Lane]) -> None:
        leader = min((lane.index for lane in lanes if test(lane)), default=-1)
        for lane in lanes:
            note(lane, lane.index == leader)
            write(lane, leader & M32)

    return run


def reduce(i: Instruction) -> Joint:
    """``REDUX``: without a name, ``and``."""
    write, value = reading.set_word(i.operands[0]), reading.integer(i.operands[1])
    key = signed if i.has("S32") else (lambda x: x)
    known: dict[str, Callable[[int, int], int]] = {
        "SUM": lambda a, b: a + b & M32, "MIN": lambda a, b: min(a, b, key=key), "OR": lambda a, b: a | b,
        "MAX": lambda a, b: max(a, b, key=key), "XOR": lambda a, b: a ^ b, "AND": lambda a, b: a & b,
    }  # fmt: skip
    combine = next((known[m] for m in i.modifiers if m in known), known["AND"])

    def run(lanes: list[Lane]) -> None:
        first, *rest = [value(lane) for lane in lanes]
        for other in rest:
            first = combine(first, other)
        for lane in lanes:
            write(lane, first)

    return run


def load_matrices(i: Instruction) -> Joint:
    """``LDSM``: matrices of 8 x 8 halves, whose rows lie where lanes 8 n to 8 n + 7 say; each lane gets two halves of
    row ``lane / 4``, of a column with ``MT88``.
    """
    count = int(i.modifiers[-1]) if i.modifiers[-1] in ("2", "4") else 1
    write, where, turned = reading.set_words(i.operands[0], count), address(i, i.operands[1]), i.has("MT88")

    def run(lanes: list[Lane]) -> None:
        rows = {lane.index: where(lane) for lane in lanes}
        shared = lanes[0].warp.block.shared

        def half(matrix: int, row: int, column: int) -> int:
            return shared.load(rows[8 * matrix + row] + 2 * column, 2)

        found = {}
        for lane in lanes:
            row, column = lane.index // 4, 2 * (lane.index % 4)
            places = [(column, row), (column + 1, row)] if turned else [(row, column), (row, column + 1)]
            words = [half(n, *places[0]) | half(n, *places[1]) << 16 for n in range(count)]
            found[lane] = sum(word << 32 * n for n, word in enumerate(words))
        for lane, value in found.items():
            write(lane, value)

    return run


def elementary(i: Instruction, function: Elementary) -> Joint:
    """``MUFU``: PTX leaves the last bits of these open, so that ``function`` gives them."""
    (name,) = i.modifiers
    write, value = reading.set_word(i.operands[0]), reading.single(i.operands[1])
    if name.endswith("64H") and i.operands[1].kind == "number":
        whole = reading.double(i.operands[1])
        value = lambda lane: whole(lane) >> 32  # noqa: E731

    def run(lanes: list[Lane]) -> None:
        for lane, found in zip(lanes, function(name, [value(lane) for lane in lanes]), strict=True):
            write(lane, found)

    return run


JOINT: dict[str, Callable[[Instruction], Joint]] = {
    "VOTE": vote, "VOTEU": vote, "SHFL": shuffle, "MATCH": match, "REDUX": reduce, "ELECT": elect,
    "LDSM": load_matrices,
}  # fmt: skip
