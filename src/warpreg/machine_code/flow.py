"""Basic blocks of a function: where they begin, and which follow which."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from warpreg.ir.opcodes import Flow, traits_of
from warpreg.machine_code.errors import MachineCodeError
from warpreg.machine_code.listing import INSTRUCTION_BYTES, ListedInstruction


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """The instructions from ``first`` up to ``last`` (positions, the latter excluded), and the positions at which the
    blocks that follow begin; the taken branch first."""

    first: int
    last: int
    successors: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Targets:
    """By position: the position that a branch or call names; those that a jump table names.  ``outside``: the positions
    of calls of functions that are not in the code; they return to the next instruction."""

    direct: Mapping[int, int]
    tables: Mapping[int, tuple[int, ...]]
    outside: frozenset[int] = frozenset()


def base(instruction: ListedInstruction) -> str:
    """The opcode without modifiers."""
    return instruction.opcode.partition(".")[0]


def flow_of(instruction: ListedInstruction) -> Flow:
    """Where the lanes of a warp go behind an instruction."""
    return traits_of(base(instruction)).flow


def blocks(code: list[ListedInstruction], targets: Targets, name: str) -> list[CodeBlock]:
    """The blocks that the entry reaches, in order of address.

    Raises MachineCodeError if code runs past the end, or a subroutine returns nowhere.
    """
    starts = {0, *targets.direct.values(), *(t for table in targets.tables.values() for t in table)}
    starts |= {at + 1 for at, one in enumerate(code[:-1]) if flow_of(one) is not Flow.NEXT}
    edges = sorted(starts)
    spans = dict(zip(edges, [*edges[1:], len(code)], strict=True))
    returns = _return_points(code, targets, spans, name)
    found = {}
    for first in _reached(0, code, targets, spans, returns, name):
        found[first] = CodeBlock(first, spans[first], _successors(spans[first] - 1, code, targets, returns, name))
    return [found[first] for first in sorted(found)]


def _successors(
    at: int, code: list[ListedInstruction], targets: Targets, returns: Mapping[int, tuple[int, ...]], name: str
) -> tuple[int, ...]:
    """Where control goes after the last instruction of a block."""
    one, flow = code[at], flow_of(code[at])
    conditional = bool(one.guard) or (base(one) == "BRA" and one.operands.count("`(") == 1 and "," in one.operands)
    taken: tuple[int, ...] = ()
    if at in targets.outside:
        flow = Flow.NEXT
    if flow is Flow.BRANCH:
        taken = (targets.direct[at],)
    elif flow is Flow.INDIRECT:
        taken = targets.tables[at] if at in targets.tables else returns.get(at, ())
    if flow in (Flow.BRANCH, Flow.INDIRECT, Flow.EXIT) and not conditional:
        return taken
    if at + 1 >= len(code):
        place = f"{name}: code runs past its end at {one.address:#x}"
        raise MachineCodeError(place)
    return (*taken, at + 1)


def _reached(
    entry: int,
    code: list[ListedInstruction],
    targets: Targets,
    spans: Mapping[int, int],
    returns: Mapping[int, tuple[int, ...]],
    name: str,
    over_calls: bool = False,
) -> set[int]:
    """Blocks reachable from one; ``over_calls``: a call leads to the instruction after it, and a return nowhere."""
    seen, pending = {entry}, [entry]
    while pending:
        last = spans[pending.pop()] - 1
        following = _successors(last, code, targets, returns, name)
        if over_calls and traits_of(base(code[last])).is_call:
            following = (last + 1,)
        for one in following:
            if one not in seen:
                seen.add(one)
                pending.append(one)
    return seen


def _return_points(
    code: list[ListedInstruction], targets: Targets, spans: Mapping[int, int], name: str
) -> dict[int, tuple[int, ...]]:
    """Position of each return to the positions after the calls of its subroutine."""
    calls: dict[int, list[int]] = defaultdict(list)
    for at, one in enumerate(code):
        if traits_of(base(one)).is_call and at in targets.direct:
            calls[targets.direct[at]].append(at + 1)
    returns: dict[int, set[int]] = defaultdict(set)
    for entry, points in calls.items():
        for first in _reached(entry, code, targets, spans, {}, name, over_calls=True):
            last = spans[first] - 1
            if base(code[last]) == "RET":
                returns[last].update(points)
    return {at: tuple(sorted(points)) for at, points in returns.items()}


def position(address: int, code: list[ListedInstruction], place: str) -> int:
    """The position of an address.  Raises MachineCodeError if it is out of range."""
    if address % INSTRUCTION_BYTES or not 0 <= address < INSTRUCTION_BYTES * len(code):
        raise MachineCodeError(f"{place}: branch to {address:#x}, outside of the function")
    return address // INSTRUCTION_BYTES
