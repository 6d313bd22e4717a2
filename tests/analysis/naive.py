"""Naive versions of the analyses, directly from their definitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel

Point = tuple[int, int]
"""A block and a position in it."""


def reachable(successors: Sequence[Sequence[int]], start: int, without: int | None = None) -> set[int]:
    """What ``start`` reaches by paths that avoid ``without``."""
    if start == without:
        return set()
    seen, work = {start}, [start]
    while work:
        for target in successors[work.pop()]:
            if target not in seen and target != without:
                seen.add(target)
                work.append(target)
    return seen


def dominates(successors: Sequence[Sequence[int]], above: int, below: int) -> bool:
    """No path from block 0 to ``below`` avoids ``above``."""
    return below not in reachable(successors, 0, without=above)


def instruction_at(kernel: Kernel, point: Point) -> Instruction:
    return kernel.blocks[point[0]].instructions[point[1]]


def next_points(kernel: Kernel, point: Point) -> Iterator[Point]:
    """Where a thread may go after the instruction at ``point``; a block may be empty."""
    block, position = point
    if position + 1 < len(kernel.blocks[block].instructions):
        yield block, position + 1
        return
    reached = list(kernel.blocks[block].successors)
    for successor in reached:
        if kernel.blocks[successor].instructions:
            yield successor, 0
        else:
            reached += [s for s in kernel.blocks[successor].successors if s not in reached]


def reads_reached(kernel: Kernel, point: Point | None, name: str, asked: frozenset[Point] = frozenset()) -> set[Point]:
    """Reads of ``name`` that a value standing in it just after ``point`` (None: at the entry) may reach."""
    found: set[Point] = set()
    seen: set[Point] = set()
    work = list(next_points(kernel, point)) if point else [(0, 0)]
    while work:
        here = work.pop()
        if here in seen:
            continue
        seen.add(here)
        instruction = instruction_at(kernel, here)
        if name in {r.name for r in instruction.used}:
            found.add(here)
        if not _ends_value(kernel, here, name, asked):
            work += next_points(kernel, here)
    return found


def _ends_value(kernel: Kernel, point: Point, name: str, asked: frozenset[Point]) -> bool:
    """Whether no thread needs what ``name`` held once the instruction at ``point`` has written it.

    A guarded write ends it if all that reads the new value stands behind it in the block, under the same guard.
    """
    instruction = instruction_at(kernel, point)
    if name not in {r.name for r in instruction.defined}:
        return False
    if instruction.guard is None or point in asked:
        return True
    reads = reads_reached(kernel, point, name, asked | {point})
    return all(_is_under_the_same_guard(kernel, point, read) for read in reads)


def _is_under_the_same_guard(kernel: Kernel, write: Point, read: Point) -> bool:
    guard = instruction_at(kernel, write).guard
    between = kernel.blocks[write[0]].instructions[write[1] : read[1]]
    behind = write[0] == read[0] and write[1] < read[1]
    return (
        behind
        and instruction_at(kernel, read).guard == guard
        and guard is not None
        and all(guard.register not in i.defined for i in between)
    )


def live_after(kernel: Kernel) -> dict[Point, set[str]]:
    """Names that some read may still want after each instruction: a walk against control flow from each read."""
    points = [(b.index, i) for b in kernel.blocks for i in range(len(b.instructions))]
    before: dict[Point, list[Point]] = {point: [] for point in points}
    reads: dict[str, list[Point]] = {}
    ends: dict[str, set[Point]] = {}
    for point in points:
        for following in next_points(kernel, point):
            before[following].append(point)
        for register in instruction_at(kernel, point).used:
            reads.setdefault(register.name, []).append(point)
        for register in instruction_at(kernel, point).defined:
            if _ends_value(kernel, point, register.name, frozenset()):
                ends.setdefault(register.name, set()).add(point)
    live: dict[Point, set[str]] = {point: set() for point in points}
    for name, places in reads.items():
        work = [point for place in places for point in before[place]]
        while work:
            here = work.pop()
            if name not in live[here]:
                live[here].add(name)
                work += before[here] if here not in ends.get(name, ()) else []
    return live
