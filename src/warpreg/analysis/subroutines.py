"""Subroutines of machine code that give control back where they were called.

``ptxas`` calls its own subroutines, such as the slow paths of a division, with the return address in a register.  The
control-flow graph has an edge from each return to all places behind calls of the subroutine.  What a value passes
untouched on its way through the subroutine belongs to one call only; `analysis.values` uses this where it is asked to.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from warpreg.analysis.accesses import accesses, bit_set
from warpreg.analysis.cfg import control_flow
from warpreg.ir.instruction import Instruction, registers_of
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Immediate, Register


@dataclass(frozen=True, slots=True)
class Subroutine:
    """``entry`` block; the blocks that ``calls`` it, each followed by the block to which it returns; the blocks that
    end in its ``returns``; the cells that it ``accesses`` (a bit set), callees included."""

    entry: int
    calls: frozenset[int]
    returns: frozenset[int]
    accesses: int


def subroutines(kernel: Kernel) -> tuple[Subroutine, ...]:
    """Those of which the code shows that each call is returned to: nothing else enters them, every call sets the return
    address to that of the next block, and nothing in the subroutine writes it."""
    if not kernel.machine_code:
        return ()
    calls: dict[int, set[int]] = defaultdict(set)
    for block in kernel.blocks:
        if block.instructions and block.instructions[-1].traits.is_call and block.instructions[-1].guard is None:
            calls[block.successors[0]].add(block.index)
    found = (_subroutine(kernel, entry, frozenset(blocks)) for entry, blocks in calls.items())
    return tuple(one for one in found if one)


def _subroutine(kernel: Kernel, entry: int, calls: frozenset[int]) -> Subroutine | None:
    body, returns = _body(kernel, entry, into_callees=True), set[int]()
    for block in _body(kernel, entry, into_callees=False):
        if _opcode(kernel, block) == "RET":
            returns.add(block)
    flow, table = control_flow(kernel), accesses(kernel)
    entered = {(before, block) for block in body for before in flow.predecessors[block] if before not in body}
    if not returns or entered != {(call, entry) for call in calls}:
        return None
    pcs = [pc for block in body for pc in table.block_pcs(block)]
    written = {cell for pc in pcs for cell in table.written[pc]}
    for block in returns:
        cell = _return_address(kernel, block)
        if cell < 0 or cell in written or not all(_returns_behind(kernel, call, cell) for call in calls):
            return None
    cells = bit_set([*written, *(cell for pc in pcs for cell in table.read[pc])])
    return Subroutine(entry, calls, frozenset(returns), cells)


def _body(kernel: Kernel, entry: int, into_callees: bool) -> set[int]:
    """The blocks that the entry reaches without a return; a call also leads to the next block."""
    seen, pending = {entry}, [entry]
    while pending:
        block = pending.pop()
        following = kernel.blocks[block].successors
        if _opcode(kernel, block) == "RET":
            following = ()
        elif _opcode(kernel, block) == "CALL":
            following = (*(following if into_callees else ()), block + 1)
        for one in following:
            if one not in seen:
                seen.add(one)
                pending.append(one)
    return seen


def _opcode(kernel: Kernel, block: int) -> str:
    instructions = kernel.blocks[block].instructions
    return instructions[-1].opcode if instructions else ""


def _return_address(kernel: Kernel, block: int) -> int:
    """The cell that holds the lower word of a return address when the block begins; -1 if the code does not show it."""
    table, last = accesses(kernel), kernel.blocks[block].instructions[-1]
    target = next((register for operand in last.sources for register in registers_of(operand)), None)
    if target is None or last.guard is not None:
        return -1
    cell = table.cells.of(target)[0]
    for pc in reversed(table.block_pcs(block)):
        if cell in table.written[pc]:
            if not _is_move(kernel.blocks[block].instructions[pc - table.first_pcs[block]]) or len(table.read[pc]) != 1:
                return -1
            cell = table.read[pc][0]
    return cell


def _returns_behind(kernel: Kernel, call: int, cell: int) -> bool:
    """Whether the last write of a call's block to a cell is a move of the address of the next block."""
    table = accesses(kernel)
    for pc in reversed(table.block_pcs(call)):
        if cell in table.written[pc]:
            instruction = kernel.blocks[call].instructions[pc - table.first_pcs[call]]
            numbers = [o.value for o in instruction.sources if isinstance(o, Immediate) and o.value]
            return _is_move(instruction) and numbers == [kernel.block_addresses[call + 1]]
    return False


def _is_move(instruction: Instruction) -> bool:
    """Whether it moves a word to a register, in all lanes."""
    is_move = instruction.opcode == "MOV" or (instruction.opcode == "IMAD" and instruction.modifiers[:1] == ("MOV",))
    plain = all(isinstance(o, (Immediate, Register)) for o in instruction.sources)
    return is_move and plain and instruction.guard is None
