"""Splits linear code into basic blocks and simplifies the control flow.

Simplification: branches to blocks that only branch are retargeted, ``@p bra A; bra B; A:`` becomes ``@!p bra B``,
branches to the next block and unreachable blocks are removed.  Only if-conversion and
unrolling change blocks after this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from warpreg.ir.errors import UnsupportedError
from warpreg.ir.instruction import Guard, Instruction
from warpreg.ir.kernel import Block
from warpreg.ir.module import LabelStatement
from warpreg.ir.operands import Label, Operand, Symbol

Item = Instruction | LabelStatement


@dataclass
class Node:
    """A block under construction; ``taken`` are explicit targets, ``next`` the fall-through."""

    label: str
    instructions: list[Instruction] = field(default_factory=list)
    taken: tuple[int, ...] = ()
    next: int | None = None

    @property
    def successors(self) -> tuple[int, ...]:
        return self.taken if self.next is None else (*self.taken, self.next)

    @property
    def branch(self) -> Instruction | None:
        last = self.instructions[-1] if self.instructions else None
        return last if last and last.traits.is_branch else None

    @property
    def only_jumps(self) -> bool:
        return len(self.instructions) == 1 and self.branch is not None and self.next is None and len(self.taken) == 1


def split(items: Iterable[Item], tables: Mapping[str, tuple[str, ...]]) -> tuple[Block, ...]:
    """The blocks of a linear list, the entry first.  Raises UnsupportedError for a branch to an unknown label."""
    return tidied(_split(_unguard_tables(items), tables))


def tidied(nodes: list[Node]) -> tuple[Block, ...]:
    """The blocks of a list in which each fall-through follows its block, with simplified control flow."""
    _tidy(nodes)
    return _number(nodes)


def _unguard_tables(items: Iterable[Item]) -> Iterable[Item]:
    """A guarded ``brx.idx`` becomes a branch around an unguarded one."""
    for i, item in enumerate(items):
        if isinstance(item, Instruction) and item.traits.is_indirect and item.guard:
            skip = f"$skip{i}"
            opposite = Guard(item.guard.register, not item.guard.negated)
            yield replace(item, opcode="bra", modifiers=(), operands=(Label(skip),), guard=opposite)
            yield replace(item, guard=None)
            yield LabelStatement(skip)
        else:
            yield item


def _split(items: Iterable[Item], tables: Mapping[str, tuple[str, ...]]) -> list[Node]:
    items = list(items)
    targets = _targets(items, tables)
    nodes = [Node("")]
    places: dict[str, int] = {}
    for item in items:
        if isinstance(item, LabelStatement):
            if item.name in targets and nodes[-1].instructions:
                nodes.append(Node(""))
            places[item.name] = len(nodes) - 1
            nodes[-1].label = nodes[-1].label or item.name
        else:
            nodes[-1].instructions.append(item)
            if item.traits.ends_block:
                nodes.append(Node(""))
    nodes[-1].instructions.append(Instruction("ret", (), ()))
    for i, node in enumerate(nodes):
        _connect(node, i, places, tables)
    return nodes


def _targets(items: Iterable[Item], tables: Mapping[str, tuple[str, ...]]) -> set[str]:
    branches = (i for i in items if isinstance(i, Instruction) and i.traits.is_branch)
    names = {_name(operand) for branch in branches for operand in branch.operands}
    return names | {target for name in names for target in tables.get(name, ())}


def _name(operand: Operand) -> str:
    return operand.name if isinstance(operand, (Label, Symbol)) else ""


def _connect(node: Node, index: int, places: Mapping[str, int], tables: Mapping[str, tuple[str, ...]]) -> None:
    last = node.instructions[-1]
    if last.traits.is_branch:
        name = next(filter(None, map(_name, last.operands)), "")
        names = tables.get(name, (name,)) if last.traits.is_indirect else (name,)
        unknown = [n for n in names if n not in places]
        if unknown:
            raise UnsupportedError(f"'{last}'", last.location, f"goes to '{unknown[0]}', which is no label here")
        node.taken = tuple(places[n] for n in names)
    ends = (last.traits.is_branch or last.traits.is_exit) and last.guard is None
    node.next = None if ends else index + 1


def _tidy(nodes: list[Node]) -> None:
    for node in nodes:
        node.taken = tuple(_final_target(nodes, t) for t in node.taken)
    for i, node in enumerate(nodes):
        _invert_around_jump(nodes, node, i)
        _absorb_jump(nodes, node)
    _empty_unreachable(nodes)
    _drop_needless_branches(nodes)
    _merge_chains(nodes)


def _final_target(nodes: list[Node], target: int) -> int:
    """The final target of a branch to ``target`` through blocks that only branch; cycles of those are kept."""
    seen = {target}
    while nodes[target].only_jumps and nodes[target].taken[0] not in seen:
        target = nodes[target].taken[0]
        seen.add(target)
    return target


def _invert_around_jump(nodes: list[Node], node: Node, index: int) -> None:
    branch = node.branch
    if branch is None or not branch.traits.is_direct or node.next is None or branch.guard is None:
        return
    jump = nodes[node.next]
    if jump.only_jumps and node.taken == (index + 2,):
        node.instructions[-1] = replace(branch, guard=Guard(branch.guard.register, not branch.guard.negated))
        node.taken, node.next = jump.taken, index + 2


def _absorb_jump(nodes: list[Node], node: Node) -> None:
    """Copy the branch of a block that only branches into the block that falls through to it."""
    if node.next is not None and not node.instructions[-1].traits.ends_block and nodes[node.next].only_jumps:
        node.instructions.append(nodes[node.next].instructions[0])
        node.taken, node.next = nodes[node.next].taken, None


def _empty_unreachable(nodes: list[Node]) -> None:
    reached, work = {0}, [0]
    while work:
        for successor in nodes[work.pop()].successors:
            if successor not in reached:
                reached.add(successor)
                work.append(successor)
    for i, node in enumerate(nodes):
        if i not in reached:
            node.instructions, node.taken, node.next = [], (), None


def _drop_needless_branches(nodes: list[Node]) -> None:
    following: int | None = None
    for i in reversed(range(len(nodes))):
        node = nodes[i]
        branch = node.branch
        if branch and branch.traits.is_direct and len(node.instructions) > 1 and set(node.successors) == {following}:
            node.instructions.pop()
            node.taken, node.next = (), following
        following = i if node.instructions else following


def _merge_chains(nodes: list[Node]) -> None:
    """Merge a block with its only predecessor if that falls through to it."""
    predecessors = Counter(s for node in nodes for s in set(node.successors))
    for node in nodes:
        while node.instructions and not node.instructions[-1].traits.ends_block and node.next is not None:
            follower = nodes[node.next]
            if predecessors[node.next] != 1 or follower is nodes[0]:
                break
            node.instructions += follower.instructions
            node.taken, node.next = follower.taken, follower.next
            follower.instructions, follower.taken, follower.next = [], (), None


def _number(nodes: list[Node]) -> tuple[Block, ...]:
    index = {i: n for n, i in enumerate(i for i, node in enumerate(nodes) if node.instructions)}
    labels = {i: nodes[i].label or f"$B{n}" for i, n in index.items()}
    blocks = []
    for i, n in index.items():
        node = nodes[i]
        instructions = tuple(node.instructions)
        if node.branch and node.branch.traits.is_direct:
            instructions = (*instructions[:-1], _retarget(node.branch, labels[node.taken[0]]))
        blocks.append(Block(n, labels[i], instructions, tuple(index[s] for s in node.successors)))
    return tuple(blocks)


def _retarget(branch: Instruction, label: str) -> Instruction:
    return branch if branch.operands == (Label(label),) else replace(branch, operands=(Label(label),))
