"""The running warp in a step of the driver: variables for its control state, and its stack in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from warpreg.simt.block import running
from warpreg.simt.block.native_records import (
    BLOCK_BYTES,
    NO_BLOCK,
    STACK_ENTRY_BYTES,
    WARP_BYTES,
    BlockField,
    Fault,
    Slot,
    Stop,
    Warp,
    record_of,
    set_slot,
    slot,
)
from warpreg.simt.block.running import RunningWarp
from warpreg.simt.llvm.emitter import I32, I64, Code, Value
from warpreg.trace.path import PathWord

ENTER = "enter"
"""The step that begins a turn, and enters a block after a check of all limits."""


@dataclass(frozen=True)
class Options:
    """Options of the driver.

    Record the path; check buffers of other streams that blocks fill; depth of a warp's reconvergence stack; store the
    count of warp-instructions where blocks can read it; end a turn if a block requests it; return to Python
    (`Stop.YIELDED`) after a round of the thread block's warps in which one yielded; the lanes of a warp form groups, as
    in machine code (`warp_groups`).
    """

    record_path: bool
    watch: tuple[tuple[Slot, Slot], ...]
    stack_entries: int
    keep_clock: bool
    yields: bool
    side_by_side: bool = False
    groups: bool = False


def define_leave(module: Any, stop: Stop, options: Options) -> None:
    """Define the step that writes the state to memory and returns from the driver."""
    code = running.function(module, _leave_name(stop))
    state = WarpState(code, options)
    state.mask.set(state.running.lanes)
    state.save()
    if options.record_path:
        set_slot(state.launch, Slot.PATH, state.running.path)
    set_slot(state.launch, Slot.EXECUTED, state.running.executed)
    set_slot(state.launch, Slot.READY, state.running.ready)
    code.ret(code.const(I32, stop))


def _leave_name(stop: Stop) -> str:
    return f"leave_{stop.name.lower()}"


def load(code: Code, launch: Value, warp: Value, ready: Value, path: Value, executed: Value) -> RunningWarp:
    """The state of the warp whose turn begins, before it enters a block; ``mask`` is that of its last visit."""
    record = warp_record(code, launch, warp)
    return RunningWarp(
        launch=launch,
        registers=record + WARP_BYTES,
        mask=(record + Warp.LAST_MASK).load(I32),
        path=path,
        executed=executed,
        lanes=(record + Warp.MASK).load(I32),
        block=(record + Warp.BLOCK).load(I32),
        warp=warp,
        ready=ready,
    )


def warp_record(code: Code, launch: Value, warp: Value) -> Value:
    """The address of a warp's record."""
    return record_of(slot(code, launch, Slot.REGISTERS) + warp * slot(code, launch, Slot.REGISTER_BYTES))


def named(launch: Value, warp: Value, path: Value) -> Value:
    """Record the warp of the following visits in the path; returns the next position."""
    path.store((warp.trunc(I32) << 2) | PathWord.WARP)
    set_slot(launch, Slot.PATH_WARP, warp)
    return path + 4


def begin_turn(launch: Value, warp: Value, executed: Value) -> None:
    """Make a warp the running one."""
    set_slot(launch, Slot.WARP, warp)
    set_slot(launch, Slot.TURN_END, executed + slot(warp.code, launch, Slot.SLICE))


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the running warp's record, used like a variable."""

    address: Value
    type: Any

    def get(self) -> Value:
        return self.address.load(self.type)

    def set(self, value: Value) -> None:
        self.address.store(value)


class WarpState:
    """Control state of the running warp in a step."""

    def __init__(self, code: Code, options: Options, given: RunningWarp | None = None) -> None:
        self.code, self.options = code, options
        self.running = given = given or RunningWarp.of(code)
        self.launch = given.launch
        self.record, self.warp = given.record, given.warp
        self.ready = code.var(given.ready)
        self.block, self.mask = code.var(given.block), code.var(given.mask)
        self.top = Field(self.record + Warp.TOP, I64)
        self.reconvergence, self.alive = (Field(self.record + at, I32) for at in (Warp.RECONVERGENCE, Warp.ALIVE))

    def row(self, block: Value) -> Value:
        """The address of a block's record."""
        return slot(self.code, self.launch, Slot.BLOCKS) + block.zext(I64) * BLOCK_BYTES

    @property
    def bit(self) -> Value:
        """The bit of the running warp."""
        return self.code.const(I64, 1) << self.warp

    def leave(self, stop: Stop) -> None:
        """Return from the driver (`define_leave`)."""
        self.code.jump(running.declared(self.code.module, _leave_name(stop)), self.handed_on().arguments)

    def handed_on(self) -> RunningWarp:
        """The state for a step that enters the block or leaves; ``mask`` is that of the last visit."""
        return replace(self.running, lanes=self.mask.get(), block=self.block.get(), ready=self.ready.get())

    def save(self) -> None:
        """Write what is in machine registers to the warp's record."""
        (self.record + Warp.BLOCK).store(self.block.get())
        (self.record + Warp.MASK).store(self.mask.get())
        if self.options.record_path:
            (self.record + Warp.LAST_MASK).store(self.running.mask)

    def push(self, reconvergence: Value, block: Value, mask: Value) -> None:
        """Push lanes that run later; a stack overflow becomes a fault that the caller checks."""
        top = self.top.get()
        overflow = top >= self.record + (Warp.STACK + self.options.stack_entries * STACK_ENTRY_BYTES)
        with self.code.if_else(overflow) as (full, room):
            with full:
                set_slot(self.launch, Slot.FAULT, self.code.const(I64, Fault.STACK_OVERFLOW))
            with room:
                top.store(reconvergence)
                (top + 4).store(block)
                (top + 8).store(mask)
                self.top.set(top + STACK_ENTRY_BYTES)

    def pop(self) -> None:
        """Pop the lanes that were pushed last."""
        top = self.top.get() - STACK_ENTRY_BYTES
        self.top.set(top)
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
            with self.code.if_(self.mask.get() != 0, likely=True):
                self.code.break_()
            with self.code.if_(self.top.get() == self.record + Warp.STACK):
                self.code.break_()
            self.pop()

    def visit(self) -> None:
        """Enter the block, if no limit can be reached, or else by the step ``enter``."""
        limit = slot(self.code, self.launch, Slot.LOOK_AT)
        with self.code.if_(self.running.executed >= limit, likely=False):
            self.code.jump(running.declared(self.code.module, ENTER), self.handed_on().arguments)
        for field, end in self.options.watch:
            full = slot(self.code, self.launch, field) > slot(self.code, self.launch, end)
            with self.code.if_(full, likely=False):
                self.leave(Stop.BUFFER_FULL)
        self._enter()

    def _enter(self) -> None:
        code, given, block = self.code, self.running, self.block.get()
        if self.options.keep_clock:
            set_slot(self.launch, Slot.EXECUTED, given.executed)
        row = self.row(block)
        instructions = (row + BlockField.INSTRUCTIONS).load(I32).zext(I64)
        after = replace(
            self.visited(block, self.mask.get(), instructions),
            lanes=code.undefined(I32),
            block=code.undefined(I32),
            ready=self.ready.get(),
        )
        code.jump_to((row + BlockField.FUNCTION).load(I64), after.arguments)

    def visited(self, block: Value, mask: Value, instructions: Value) -> RunningWarp:
        """Record and count a visit of a block with that many instructions (i64); returns the state after it."""
        path = self._recorded(block, mask) if self.options.record_path else self.running.path
        visit = slot(self.code, self.launch, Slot.VISITS) + block.zext(I64) * 8
        visit.store(visit.load(I64) + 1)
        return replace(self.running, mask=mask, path=path, executed=self.running.executed + instructions)

    def check_limits(self) -> None:
        """Return from the driver at a limit, or store when to look again.

        Each visit executes at least one instruction and adds at most 20 bytes to the path: thread block, warp, visit
        and mask.  A block without instructions resets the limit.
        """
        code, launch, executed = self.code, self.launch, self.running.executed
        pause, turn = slot(code, launch, Slot.PAUSE_AT), slot(code, launch, Slot.TURN_END)
        with code.if_(executed >= pause):
            self.leave(Stop.PAUSED)
        with code.if_(executed >= turn):
            self.before_end_of_turn()
            self.leave(Stop.FINISHED)
        look = (pause < turn).select(pause, turn)
        if self.options.record_path:
            path, limit = self.running.path, slot(code, launch, Slot.PATH_LIMIT)
            with code.if_(path > limit):
                self.leave(Stop.BUFFER_FULL)
            full = executed + ((limit - path) >> 5) + 1
            look = (full < look).select(full, look)
        set_slot(launch, Slot.LOOK_AT, look)

    def before_end_of_turn(self) -> None:
        """What a turn ends with at its limit."""

    def _recorded(self, block: Value, mask: Value) -> Value:
        """Record a visit; returns the next position."""
        path, changed = self.running.path, mask != self.running.mask
        path.store((block << 2) | changed.zext(I32))
        (path + 4).store(mask)
        return changed.select(path + 8, path + 4)
