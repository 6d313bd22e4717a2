"""How the blocks of machine code end (`warp_groups` describes the rules for lanes that part, wait and meet)."""

from __future__ import annotations

from dataclasses import dataclass

from warpreg.ir.instruction import Instruction, registers_of
from warpreg.ir.kernel import Block, Kernel
from warpreg.ir.opcodes import Flow
from warpreg.ir.operands import Immediate, Label, Sink
from warpreg.simt.block.native_records import NO_BLOCK, BlockKind, Step, Warp
from warpreg.simt.block.running import RunningWarp
from warpreg.simt.kernel.block_ends import End, Ends
from warpreg.simt.llvm.emitter import I1, I32, I64, Code, Value

KINDS = {
    Flow.BRANCH: BlockKind.BRANCH,
    Flow.INDIRECT: BlockKind.INDIRECT,
    Flow.EXIT: BlockKind.EXIT,
    Flow.CONVERGE: BlockKind.CONVERGE,
    Flow.BREAK: BlockKind.BREAK,
    Flow.SYNC: BlockKind.SYNC,
    Flow.YIELD: BlockKind.YIELD,
    Flow.BARRIER: BlockKind.BARRIER,
}
"""How a block ends by where its last instruction leads; a block with another one goes on with the next block."""


ALONE = 1 << 8
"""Flag beside the number of a convergence barrier: the block is nothing but a BSYNC for all lanes."""


def machine_ends(kernel: Kernel) -> tuple[End, ...]:
    """How each block ends; ``meeting`` is the convergence barrier that it names, and perhaps `ALONE`."""
    numbers = {block.label: block.index for block in kernel.blocks}
    return tuple(_end(block, numbers) for block in kernel.blocks)


def _end(block: Block, numbers: dict[str, int]) -> End:
    last = block.instructions[-1] if block.instructions else None
    kind = KINDS.get(last.traits.flow, BlockKind.GOTO) if last else BlockKind.GOTO
    if last and last.traits.is_service:
        kind = BlockKind.SERVICE
    after = block.successors[-1] if block.successors else NO_BLOCK
    target, fall, number = after, after, NO_BLOCK
    if last and kind is BlockKind.BRANCH:
        target = numbers[next(o.name for o in last.operands if isinstance(o, Label))]
        fall = block.index + 1
        kind = BlockKind.BRANCH if is_conditional(last) else BlockKind.GOTO
    elif last and kind is BlockKind.INDIRECT:
        fall = block.index + 1 if last.guard else NO_BLOCK
    elif last and kind is BlockKind.EXIT:
        kind = BlockKind.GUARDED_EXIT if is_conditional(last) else BlockKind.EXIT
    elif last and kind in (BlockKind.CONVERGE, BlockKind.BREAK):
        number = convergence_barrier(last)
        is_alone = kind is BlockKind.CONVERGE and len(block.instructions) == 1 and not is_conditional(last)
        number |= ALONE if is_alone else 0
    barrier = _barrier(last) if last and kind is BlockKind.BARRIER else -1
    resumes = kind is BlockKind.SERVICE and last is not None and last.has_result
    return End(int(kind), target, fall, number, len(block.instructions), resumes, barrier)


def is_conditional(instruction: Instruction) -> bool:
    """Whether some lanes may not take a branch or exit: it has a guard, a predicate, or asks how lanes run."""
    asks = "DIV" in instruction.modifiers or "CONV" in instruction.modifiers
    named = any(r.is_predicate for o in instruction.sources for r in registers_of(o))
    return instruction.guard is not None or asks or named


def convergence_barrier(instruction: Instruction) -> int:
    """The number of the convergence barrier that an instruction names."""
    return next(r.index for o in instruction.operands for r in registers_of(o) if r.is_convergence_barrier)


def _barrier(last: Instruction) -> int:
    """The number of the barrier at which the whole thread block waits, where it is known; else -1."""
    given = [o for o in last.sources if not isinstance(o, Sink)]
    plain = last.guard is None and "SYNC" in last.modifiers and all(o == Immediate(0) for o in given[1:])
    number = given[0] if plain and given else None
    return number.value if isinstance(number, Immediate) and 0 <= number.value < 16 else -1


@dataclass(frozen=True)
class GroupEnds(Ends):
    """The ends of the blocks of machine code."""

    @property
    def meetings(self) -> frozenset[int]:
        """Lanes meet where the code says, not at blocks."""
        return frozenset()

    def go_on(
        self, code: Code, state: RunningWarp, block: int, taken: Value, faults: bool = False, waits: bool = False
    ) -> None:
        """End the function of a block; ``taken``: the lanes for which the guard of its terminator holds, or those that
        have to wait in WARPSYNC."""
        end = self.ends[block]
        barrier = end.meeting & ~ALONE
        if end.kind == BlockKind.CONVERGE:
            first = code.intrinsic("llvm.cttz.i32", I32, [state.mask, code.const(I1, 1)]).zext(I64)
            members = (state.record + (Warp.MASKS + 128 * barrier) + first * 4).load(I32)
            with code.if_(((members & state.alive) == state.mask) & (taken == state.mask), likely=True):
                self._enter(code, state, end.fall, waits)
            self._step(code, state, Step.CONVERGE, block, taken)
        elif end.kind == BlockKind.BREAK:
            waiting = (state.record + (Warp.WAITING + 4 * barrier)).load(I32)
            with code.if_(waiting == 0, likely=True):
                self._enter(code, state, end.fall, waits)
            self._step(code, state, Step.CHANGED, block, taken)
        elif end.kind == BlockKind.YIELD:
            with code.if_((state.record + Warp.TOP).load(I64) == state.record + Warp.STACK, likely=True):
                self._enter(code, state, end.fall, waits)
            self._step(code, state, Step.REST, block, taken)
        elif end.kind in (BlockKind.GUARDED_EXIT, BlockKind.SYNC):
            with code.if_(taken == 0, likely=True):
                self._enter(code, state, end.fall, waits)
            self._step(code, state, Step.SYNC if end.kind == BlockKind.SYNC else Step.EXIT, block, taken)
        else:
            super().go_on(code, state, block, taken, faults, waits)

    def cannot_wait(self, state: RunningWarp, fall: int) -> list[Value]:
        """The lanes of the warp have to gather."""
        return [state.alive != state.mask]
