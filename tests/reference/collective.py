"""Group instructions of lanes: ``vote``, ``match``, ``redux``, ``elect``, ``activemask`` (PTX ISA, "Parallel
Synchronization and Communication Instructions").
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import and_, or_, xor

from tests.reference import floats
from tests.reference.integers import value
from tests.reference.number import F32, mask

Results = dict[int, tuple[int, int]]
"""By lane: the result, and the predicate beside it where there is one."""


def results(opcode: str, modifiers: tuple[str, ...], values: dict[int, int]) -> Results:
    """What each lane of the group receives; ``values`` is what each brings."""
    everyone = _lanes(values)
    if opcode == "match" and "any" in modifiers:
        return {lane: (_lanes(n for n, v in values.items() if v == own), 0) for lane, own in values.items()}
    if opcode == "match":
        same = len(set(values.values())) == 1
        return dict.fromkeys(values, (everyone if same else 0, int(same)))
    if opcode == "elect":
        leader = min(values)
        return {lane: (leader, int(lane == leader)) for lane in values}
    if opcode == "redux":
        return dict.fromkeys(values, (_reduced(modifiers, list(values.values())), 0))
    result = everyone if opcode == "activemask" else _vote(modifiers, values)
    return dict.fromkeys(values, (result, 0))


def _lanes(lanes: Iterable[int]) -> int:
    return sum(1 << lane for lane in lanes)


def _vote(modifiers: tuple[str, ...], flags: dict[int, int]) -> int:
    if "ballot" in modifiers:
        return _lanes(lane for lane, flag in flags.items() if flag)
    if "all" in modifiers:
        return int(all(flags.values()))
    if "any" in modifiers:
        return int(any(flags.values()))
    return int(len(set(flags.values())) == 1)


def _reduced(modifiers: tuple[str, ...], values: list[int]) -> int:
    """Numbers of f32 win over NaN unless ``.NaN`` is written; -0 is below +0."""
    name = modifiers[-1]
    if name == "f32":
        choose = floats.least if "min" in modifiers else floats.greatest
        sizes = [floats.absolute(F32, v) if "abs" in modifiers else v for v in values]
        out = reduce(lambda a, b: choose(F32, a, b, "NaN" in modifiers), sizes)
        return F32.nan if F32.is_nan(out) else out
    for operation, function in (("and", and_), ("or", or_), ("xor", xor)):
        if operation in modifiers:
            return reduce(function, values)
    numbers = [value(name[0], 32, v) for v in values]
    return (sum if "add" in modifiers else min if "min" in modifiers else max)(numbers) & mask(32)
