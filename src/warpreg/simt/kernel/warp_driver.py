"""Driver: executes thread blocks, warps and basic blocks; diverged warps reconverge at immediate post-dominators.

Results may depend on this order: thread blocks in linear order; inside a thread block, warps in order, each until a
barrier, its exit or the end of its time slice; at a divergent branch, the lanes that fall through first.  The driver is
the same for all kernels and is generated once.  It returns to Python for events (`Stop`) and continues where it
stopped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warpreg.simt.block.records import (
    BLOCK_BYTES,
    NO_BLOCK,
    STACK_ENTRY_BYTES,
    BlockField,
    BlockKind,
    Fault,
    Slot,
    Stop,
    Warp,
    set_slot,
    slot,
)
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I1, I32, I64, Code, Value, Variable
from warpreg.trace.path import PathWord

ALL = 0xFFFFFFFFFFFFFFFF


@dataclass(frozen=True)
class Driver:
    """Options of the driver.

    Record the path; check buffers of other streams that blocks fill; depth of a warp's reconvergence stack; store the
    count of warp-instructions where blocks can read it; end a turn if a block requests it; return to Python
    (`Stop.YIELDED`) after a round of the thread block's warps in which one yielded.
    """

    record_path: bool
    watch: tuple[tuple[Slot, Slot], ...]
    stack_entries: int
    keep_clock: bool
    yields: bool
    side_by_side: bool = False

    @property
    def records_widths(self) -> bool:
        """Whether the contents of registers are kept."""
        return any(field is Slot.WIDTHS for field, _ in self.watch)

    def module(self) -> str:
        """LLVM IR that defines ``run(launch record) -> Stop``."""
        module = ir.Module("driver")
        release = _release(module)
        warp = _run_warp(module, release, self)
        _run(module, warp, self)
        return str(module)


def _run(module: Any, run_warp: Any, options: Driver) -> None:
    code = Code(module, "run", I32, [I64])
    (launch,) = code.arguments
    with code.loop():
        with code.if_(slot(code, launch, Slot.BLOCK_LIVE) == 0):
            block = slot(code, launch, Slot.THREAD_BLOCK)
            with code.if_(block == slot(code, launch, Slot.THREAD_BLOCKS)):
                code.ret(code.const(I32, Stop.FINISHED))
            if options.record_path:
                with code.if_(slot(code, launch, Slot.PATH) > slot(code, launch, Slot.PATH_LIMIT)):
                    code.ret(code.const(I32, Stop.BUFFER_FULL))
            _begin_thread_block(code, launch, block, options)
        with code.loop():
            turn = slot(code, launch, Slot.READY) & (code.const(I64, ALL) << slot(code, launch, Slot.WARP))
            with code.if_(turn == 0):
                code.break_()
            warp = _lowest(code, turn)
            set_slot(launch, Slot.WARP, warp)
            with code.if_(slot(code, launch, Slot.TURN_END) == 0):
                set_slot(launch, Slot.TURN_END, slot(code, launch, Slot.EXECUTED) + slot(code, launch, Slot.SLICE))
            stop = code.call(run_warp, [launch, warp])
            with code.if_(stop != Stop.FINISHED):
                code.ret(stop)
            set_slot(launch, Slot.TURN_END, code.const(I64, 0))
            set_slot(launch, Slot.WARP, warp + 1)
        set_slot(launch, Slot.WARP, code.const(I64, 0))
        with code.if_else(slot(code, launch, Slot.ALIVE_WARPS) == 0) as (finished, going):
            with finished:
                set_slot(launch, Slot.BLOCK_LIVE, code.const(I64, 0))
                _next_thread_block(code, launch)
            with going:
                with code.if_(slot(code, launch, Slot.READY) == 0):
                    code.ret(code.const(I32, Stop.DEADLOCK))
                if options.side_by_side:
                    with code.if_(slot(code, launch, Slot.YIELDED) != 0):
                        set_slot(launch, Slot.YIELDED, code.const(I64, 0))
                        code.ret(code.const(I32, Stop.YIELDED))
    code.builder.unreachable()


def _lowest(code: Code, bits: Value) -> Value:
    """Index of the lowest set bit of a non-zero i64."""
    return code.intrinsic("llvm.cttz.i64", I64, [bits, code.const(I1, 1)])


def _next_thread_block(code: Code, launch: Value) -> None:
    """Increment the index of the thread block, x fastest; the first thread block is 0 in all dimensions."""
    set_slot(launch, Slot.THREAD_BLOCK, slot(code, launch, Slot.THREAD_BLOCK) + 1)
    x = slot(code, launch, Slot.CTAID_X) + 1
    with code.if_else(x == slot(code, launch, Slot.NCTAID_X)) as (row_done, row_goes_on):
        with row_done:
            set_slot(launch, Slot.CTAID_X, code.const(I64, 0))
            y = slot(code, launch, Slot.CTAID_Y) + 1
            done = (y == slot(code, launch, Slot.NCTAID_Y)).zext(I64)
            set_slot(launch, Slot.CTAID_Y, y * (code.const(I64, 1) - done))
            set_slot(launch, Slot.CTAID_Z, slot(code, launch, Slot.CTAID_Z) + done)
        with row_goes_on:
            set_slot(launch, Slot.CTAID_X, x)


def _begin_thread_block(code: Code, launch: Value, block: Value, options: Driver) -> None:
    set_slot(launch, Slot.BLOCK_LIVE, code.const(I64, 1))
    warps = slot(code, launch, Slot.WARP_COUNT)
    set_slot(launch, Slot.ALIVE_WARPS, warps)
    set_slot(launch, Slot.READY, code.const(I64, ALL) >> (code.const(I64, 64) - warps))
    set_slot(launch, Slot.PENDING, code.const(I64, 0))
    set_slot(launch, Slot.WARP, code.const(I64, 0))
    set_slot(launch, Slot.PATH_WARP, code.const(I64, NO_BLOCK))
    _clear(code, launch + Slot.ARRIVED * 8, code.const(I64, (Slot.TARGETS - Slot.ARRIVED) * 8))
    index = code.var(code.const(I64, 0))
    with code.loop():
        with code.if_(index.get() == warps):
            code.break_()
        record = _warp_record(code, launch, index.get())
        first = (record + Warp.FIRST_MASK).load(I32)
        for field in (Warp.BLOCK, Warp.DEPTH, Warp.LAST_MASK):
            (record + field).store(code.const(I32, 0))
        (record + Warp.RECONVERGENCE).store(code.const(I32, NO_BLOCK))
        (record + Warp.MASK).store(first)
        (record + Warp.ALIVE).store(first)
        if options.records_widths:
            registers = slot(code, launch, Slot.REGISTERS) + index.get() * slot(code, launch, Slot.REGISTER_BYTES)
            contents = registers + slot(code, launch, Slot.CONTENTS)
            _clear(code, contents, slot(code, launch, Slot.CONTENTS_BYTES))
        index.set(index.get() + 1)
    _clear(code, slot(code, launch, Slot.SHARED), slot(code, launch, Slot.SHARED_BYTES))
    if options.record_path:
        path = slot(code, launch, Slot.PATH)
        path.store(code.const(I32, PathWord.THREAD_BLOCK))
        (path + 4).store(block.trunc(I32))
        set_slot(launch, Slot.PATH, path + 8)


def _clear(code: Code, address: Value, size: Value) -> None:
    name, type_ = "llvm.memset.p0.i64", ir.VoidType()
    i8, i1 = ir.IntType(8), ir.IntType(1)
    signature = ir.FunctionType(type_, [i8.as_pointer(), i8, I64, i1])
    function = code.module.globals.get(name) or ir.Function(code.module, signature, name)
    code.builder.call(function, [code.pointer(address, i8), ir.Constant(i8, 0), size.llvm, ir.Constant(i1, 0)])


def _warp_record(code: Code, launch: Value, warp: Value) -> Value:
    return slot(code, launch, Slot.WARPS) + warp * slot(code, launch, Slot.WARP_BYTES)


def _release(module: Any) -> Any:
    """``release(launch, barrier)``: release every warp at a barrier whose count is complete."""
    code = Code(module, "release", ir.VoidType(), [I64, I64])
    launch, barrier = code.arguments
    code.function.linkage = "internal"
    arrived = launch + barrier * 8 + Slot.ARRIVED * 8
    with code.if_(arrived.load(I64) < _awaited(code, launch, barrier)):
        code.ret()
    arrived.store(code.const(I64, 0))
    pending = slot(code, launch, Slot.PENDING)
    set_slot(launch, Slot.PENDING, pending & ~(code.const(I64, 1) << barrier))
    waits = launch + barrier * 8 + Slot.WAITS * 8
    waiting = waits.load(I64)
    waits.store(code.const(I64, 0))
    set_slot(launch, Slot.READY, slot(code, launch, Slot.READY) | waiting)
    reduced = (launch + barrier * 8 + Slot.REDUCED_THREADS * 8).load(I64) != 0
    with code.if_(reduced, likely=False), code.each_set_bit(waiting.trunc(I32)) as warp:
        index = warp.zext(I64)
        _resume(code, launch, _warp_record(code, launch, index), index)
    for first in (Slot.REDUCED_COUNT, Slot.REDUCED_THREADS):
        (launch + barrier * 8 + first * 8).store(code.const(I64, 0))
    code.ret()
    return code.function


def _resume(code: Code, launch: Value, record: Value, warp: Value) -> None:
    """Store the result of ``bar.red`` in a released warp, through the function of the block at which it stopped."""
    function = (record + Warp.RESUME).load(I64)
    with code.if_(function != 0):
        registers = slot(code, launch, Slot.REGISTERS) + warp * slot(code, launch, Slot.REGISTER_BYTES)
        code.call_at(function, I32, [launch, registers, (record + Warp.BARRIER_MASK).load(I32)])


class _WarpState:
    """Control state of the running warp in local variables, and its stack in memory."""

    def __init__(self, code: Code, record: Value, launch: Value, stack_entries: int) -> None:
        self.code = code
        self.record = record
        self.launch = launch
        self.stack_entries = stack_entries
        self.block = self._variable(Warp.BLOCK)
        self.mask = self._variable(Warp.MASK)
        self.alive = self._variable(Warp.ALIVE)
        self.reconvergence = self._variable(Warp.RECONVERGENCE)
        self.depth = self._variable(Warp.DEPTH)

    def _variable(self, field: Warp) -> Variable:
        return self.code.var((self.record + field).load(I32))

    def save(self) -> None:
        """Write the variables back to the warp's record."""
        for field, variable in (
            (Warp.BLOCK, self.block),
            (Warp.MASK, self.mask),
            (Warp.ALIVE, self.alive),
            (Warp.RECONVERGENCE, self.reconvergence),
            (Warp.DEPTH, self.depth),
        ):
            (self.record + field).store(variable.get())

    def _top(self) -> Value:
        return self.record + Warp.STACK + self.depth.get().zext(I64) * STACK_ENTRY_BYTES

    def push(self, reconvergence: Value, block: Value, mask: Value) -> None:
        """Push lanes that run later; a stack overflow becomes a fault that the caller checks."""
        overflow = self.depth.get() >= self.stack_entries
        with self.code.if_else(overflow) as (full, room):
            with full:
                set_slot(self.launch, Slot.FAULT, self.code.const(I64, Fault.STACK_OVERFLOW))
            with room:
                top = self._top()
                top.store(reconvergence)
                (top + 4).store(block)
                (top + 8).store(mask)
                self.depth.set(self.depth.get() + 1)

    def pop(self) -> None:
        """Pop the lanes that were pushed last."""
        self.depth.set(self.depth.get() - 1)
        top = self._top()
        self.reconvergence.set(top.load(I32))
        self.block.set((top + 4).load(I32))
        self.mask.set((top + 8).load(I32) & self.alive.get())

    def reconverge(self) -> None:
        """Pop at the end of a region, then while all lanes of the current entry have exited."""
        block = self.block.get()
        with self.code.if_((block == self.reconvergence.get()) & (block != NO_BLOCK), likely=False):
            self.pop()
        self.skip_absent()

    def skip_absent(self) -> None:
        """Pop while all lanes of the current entry have exited."""
        with self.code.loop():
            with self.code.if_((self.mask.get() != 0) | (self.depth.get() == 0)):
                self.code.break_()
            self.pop()


def _run_warp(module: Any, release: Any, options: Driver) -> Any:
    code = Code(module, "run_warp", I32, [I64, I64])
    launch, warp = code.arguments
    code.function.linkage = "internal"
    record = _warp_record(code, launch, warp)
    state = _WarpState(code, record, launch, options.stack_entries)
    registers = slot(code, launch, Slot.REGISTERS) + warp * slot(code, launch, Slot.REGISTER_BYTES)
    blocks, visits = slot(code, launch, Slot.BLOCKS), slot(code, launch, Slot.VISITS)
    executed = code.var(slot(code, launch, Slot.EXECUTED))
    slice_end = slot(code, launch, Slot.TURN_END)
    pause_at = slot(code, launch, Slot.PAUSE_AT)
    look_at = (pause_at < slice_end).select(pause_at, slice_end)
    path = code.var(slot(code, launch, Slot.PATH))
    path_limit = slot(code, launch, Slot.PATH_LIMIT)
    last_mask = code.var((record + Warp.LAST_MASK).load(I32))
    if options.record_path:
        _name_warp(code, launch, warp, path)

    def leave(stop: Stop) -> None:
        state.save()
        set_slot(launch, Slot.EXECUTED, executed.get())
        set_slot(launch, Slot.PATH, path.get())
        (record + Warp.LAST_MASK).store(last_mask.get())
        code.ret(code.const(I32, stop))

    with code.loop():
        with code.if_(executed.get() >= look_at, likely=False):
            with code.if_(executed.get() >= pause_at):
                leave(Stop.PAUSED)
            leave(Stop.FINISHED)
            code.builder.position_at_end(code.builder.append_basic_block("left"))
            code.builder.unreachable()
        if options.record_path:
            with code.if_(path.get() > path_limit, likely=False):
                leave(Stop.BUFFER_FULL)
        for field, limit in options.watch:
            with code.if_(slot(code, launch, field) > slot(code, launch, limit), likely=False):
                leave(Stop.BUFFER_FULL)
        block = state.block.get()
        if options.record_path:
            _record_visit(code, block, state.mask.get(), path, last_mask)
        row = blocks + block.zext(I64) * BLOCK_BYTES
        if options.keep_clock:
            set_slot(launch, Slot.EXECUTED, executed.get())
        executed.set(executed.get() + (row + BlockField.INSTRUCTIONS).load(I32).zext(I64))
        visit = visits + block.zext(I64) * 8
        visit.store(visit.load(I64) + 1)
        lanes = code.call_at((row + BlockField.FUNCTION).load(I64), I32, [launch, registers, state.mask.get()])
        with code.if_(slot(code, launch, Slot.FAULT) != 0, likely=False):
            leave(Stop.FAULT)
        kind = (row + BlockField.KIND).load(I32)
        target, fall = (row + BlockField.TARGET).load(I32), (row + BlockField.FALL_THROUGH).load(I32)
        with code.if_else(kind <= BlockKind.BRANCH) as (usual, rare):
            with usual:
                taken = (kind == BlockKind.GOTO).select(state.mask.get(), lanes)
                _branch(code, state, target, fall, taken, (row + BlockField.RECONVERGENCE).load(I32))
                with code.if_(state.block.get() == state.reconvergence.get(), likely=False):
                    state.pop()
                    state.skip_absent()
            with rare, code.if_else(kind == BlockKind.BARRIER) as (barrier, other):
                with barrier:
                    state.block.set(fall)
                    with code.if_(lanes != 0, likely=True):
                        _arrive(code, launch, state, release, row)
                    state.reconverge()
                    alone = slot(code, launch, Slot.READY) == (code.const(I64, 1) << warp)
                    with code.if_((lanes != 0) & ~alone, likely=True):
                        leave(Stop.FINISHED)
                with other, code.if_else(kind <= BlockKind.GUARDED_EXIT) as (exits, stops):
                    with exits:
                        gone = (kind == BlockKind.EXIT).select(state.mask.get(), lanes)
                        state.alive.set(state.alive.get() & ~gone)
                        state.mask.set(state.mask.get() & ~gone)
                        with code.if_(kind == BlockKind.GUARDED_EXIT):
                            state.block.set(fall)
                        state.reconverge()
                    with stops:
                        _stop(code, launch, state, row, kind)
                        state.reconverge()
                        with code.if_((kind == BlockKind.SERVICE) & (lanes != 0)):
                            set_slot(launch, Slot.SERVICE_BLOCK, block.zext(I64))
                            set_slot(launch, Slot.SERVICE_LANES, lanes.zext(I64))
                            leave(Stop.SERVICE)
        if options.yields:
            yields = slot(code, launch, Slot.YIELD) != 0
            set_slot(launch, Slot.YIELD, code.const(I64, 0))
            with code.if_(yields & (state.mask.get() != 0), likely=False):
                set_slot(launch, Slot.YIELDED, code.const(I64, 1))
                leave(Stop.FINISHED)
        with code.if_(state.mask.get() == 0, likely=False):
            _end_warp(code, launch, warp, release)
            leave(Stop.FINISHED)
    code.builder.unreachable()
    return code.function


def _name_warp(code: Code, launch: Value, warp: Value, path: Variable) -> None:
    """Record the warp of the following visits in the path, unless it is the same."""
    with code.if_(slot(code, launch, Slot.PATH_WARP) != warp):
        path.get().store((warp.trunc(I32) << 2) | PathWord.WARP)
        path.set(path.get() + 4)
        set_slot(launch, Slot.PATH_WARP, warp)


def _record_visit(code: Code, block: Value, mask: Value, path: Variable, last_mask: Variable) -> None:
    changed = mask != last_mask.get()
    path.get().store((block << 2) | changed.zext(I32))
    path.set(path.get() + 4)
    with code.if_(changed, likely=False):
        path.get().store(mask)
        path.set(path.get() + 4)
        last_mask.set(mask)


def _branch(code: Code, state: _WarpState, target: Value, fall: Value, taken: Value, meet: Value) -> None:
    """Follow a branch taken by the lanes ``taken``; ``meet`` is the block's immediate post-dominator or NO_BLOCK."""
    mask = state.mask.get()
    stay = mask & ~taken
    with code.if_else(stay == 0) as (all_taken, some_stay):
        with all_taken:
            state.block.set(target)
        with some_stay, code.if_else(taken == 0) as (none_taken, diverged):
            with none_taken:
                state.block.set(fall)
            with diverged:
                _diverge(code, state, target, fall, taken, stay, meet)


def _diverge(code: Code, state: _WarpState, target: Value, fall: Value, taken: Value, stay: Value, meet: Value) -> None:
    meet = _meeting(code, state, meet)
    with code.if_else(fall == meet) as (fall_waits, fall_runs):
        with fall_waits:
            state.block.set(target)
            state.mask.set(taken)
        with fall_runs:
            with code.if_(target != meet):
                state.push(meet, target, taken)
            state.block.set(fall)
            state.mask.set(stay)


def _meeting(code: Code, state: _WarpState, meet: Value) -> Value:
    """Open a region that ends at ``meet``; returns the block at which the parts of the warp reconverge.

    No region is opened if the lanes do not reconverge before they exit, or if the enclosing region also ends there.
    """
    outer = state.reconvergence.get()
    with code.if_((meet != NO_BLOCK) & (meet != outer)):
        state.push(outer, meet, state.mask.get())
        state.reconvergence.set(meet)
    return state.reconvergence.get()


def _stop(code: Code, launch: Value, state: _WarpState, row: Value, kind: Value) -> None:
    """Leave a block that ends in a host service or an indirect branch."""
    with code.if_else(kind == BlockKind.SERVICE) as (service, indirect):
        with service:
            state.block.set((row + BlockField.FALL_THROUGH).load(I32))
        with indirect:
            _indirect(code, launch, state, (row + BlockField.RECONVERGENCE).load(I32))


def _arrive(code: Code, launch: Value, state: _WarpState, release: Any, row: Value) -> None:
    """Arrive at a barrier; bit 32 of the barrier's number states that the warp does not wait (``bar.arrive``)."""
    number = slot(code, launch, Slot.BARRIER)
    barrier = number & 15
    arrived = launch + barrier * 8 + Slot.ARRIVED * 8
    count = arrived.load(I64) + 1
    arrived.store(count)
    (launch + barrier * 8 + Slot.EXPECTED * 8).store(slot(code, launch, Slot.BARRIER_THREADS))
    bit = code.const(I64, 1)
    set_slot(launch, Slot.PENDING, slot(code, launch, Slot.PENDING) | (bit << barrier))
    with code.if_((number >> 32) == 0):
        warp = bit << slot(code, launch, Slot.WARP)
        set_slot(launch, Slot.READY, slot(code, launch, Slot.READY) & ~warp)
        waits = launch + barrier * 8 + Slot.WAITS * 8
        waits.store(waits.load(I64) | warp)
        (state.record + Warp.BARRIER_MASK).store(state.mask.get())
        (state.record + Warp.RESUME).store((row + BlockField.RESUME).load(I64))
        (state.record + Warp.BARRIER_BLOCK).store(row)
    with code.if_(count >= _awaited(code, launch, barrier)):
        code.call(release, [launch, barrier])


def _awaited(code: Code, launch: Value, barrier: Value) -> Value:
    """The number of warps for which a barrier waits."""
    threads = (launch + barrier * 8 + Slot.EXPECTED * 8).load(I64)
    return (threads == 0).select(slot(code, launch, Slot.ALIVE_WARPS), (threads + 31) // 32)


def _indirect(code: Code, launch: Value, state: _WarpState, meet: Value) -> None:
    """Branch to one block per lane: lanes with the same target are a group.  That whose highest lane is the lowest runs
    first, the others wait in this order; so the order of two groups does not depend on a third.
    """
    meet = _meeting(code, state, meet)
    targets = launch + Slot.TARGETS * 8
    rest = code.var(state.mask.get())
    first = code.var(code.const(I32, 1))
    state.mask.set(code.const(I32, 0))
    with code.loop():
        with code.if_(rest.get() == 0):
            code.break_()
        above = code.intrinsic("llvm.ctlz.i32", I32, [rest.get(), code.const(ir.IntType(1), 1)])
        lane = code.const(I32, 31) - above
        target = (targets + lane.zext(I64) * 4).load(I32)
        group = code.var(code.const(I32, 0))
        with code.each_set_bit(rest.get()) as other:
            same = (targets + other.zext(I64) * 4).load(I32) == target
            group.set(group.get() | (same.zext(I32) << other))
        rest.set(rest.get() & ~group.get())
        with code.if_(target != meet):
            with code.if_(first.get() == 0):
                state.push(meet, state.block.get(), state.mask.get())
            first.set(code.const(I32, 0))
            state.block.set(target)
            state.mask.set(group.get())


def _end_warp(code: Code, launch: Value, warp: Value, release: Any) -> None:
    """Remove a finished warp from barriers, and release those that waited only for it."""
    set_slot(launch, Slot.ALIVE_WARPS, slot(code, launch, Slot.ALIVE_WARPS) - 1)
    set_slot(launch, Slot.READY, slot(code, launch, Slot.READY) & ~(code.const(I64, 1) << warp))
    pending = slot(code, launch, Slot.PENDING)
    with code.if_(pending != 0, likely=False), code.each_set_bit(pending.trunc(I32)) as barrier:
        code.call(release, [launch, barrier.zext(I64)])
