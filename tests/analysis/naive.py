"""The obvious, slow versions of the analyses, straight from their definitions."""

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


def reads_reached(kernel: Kernel, point: Point | None, name: str) -> set[Point]:
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
        if instruction.guard or name not in {r.name for r in instruction.defined}:
            work += next_points(kernel, here)
    return found


def live_after(kernel: Kernel) -> dict[Point, set[str]]:
    """Names that some read may still want after each instruction, by repeating the equations until nothing changes."""
    points = [(b.index, i) for b in kernel.blocks for i in range(len(b.instructions))]
    after: dict[Point, set[str]] = {point: set() for point in points}
    before: dict[Point, set[str]] = {point: set() for point in points}
    changed = True
    while changed:
        changed = False
        for point in reversed(points):
            instruction = instruction_at(kernel, point)
            live = set().union(*(before[p] for p in next_points(kernel, point)))
            killed = set() if instruction.guard else {r.name for r in instruction.defined}
            wanted = (live - killed) | {r.name for r in instruction.used}
            changed |= live != after[point] or wanted != before[point]
            after[point], before[point] = live, wanted
    return after
