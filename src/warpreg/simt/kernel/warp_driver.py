"""Driver: executes thread blocks and the turns of their warps.

Results may depend on this order: thread blocks in linear order; inside a thread block, warps in order, each until a
barrier, its exit or the end of its time slice; at a divergent branch, the lanes that fall through first (`warp_steps`).
The driver is the same for all kernels and is generated once.  It returns to Python for events (`Stop`) and continues
where it stopped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warpreg.simt.block import running
from warpreg.simt.block.native_records import NO_BLOCK, WARP_BYTES, Slot, Stop, Warp, set_slot, slot
from warpreg.simt.kernel import warp_groups, warp_steps
from warpreg.simt.kernel.warp_state import ENTER, Options, begin_turn, load, named, warp_record
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I32, I64, Code, Value
from warpreg.trace.path import NEXT, PathWord

ALL = 0xFFFFFFFFFFFFFFFF


@dataclass(frozen=True)
class Driver(Options):
    """The driver with some options."""

    @property
    def records_widths(self) -> bool:
        """Whether the contents of registers are kept."""
        return any(field is Slot.WIDTHS for field, _ in self.watch)

    def module(self) -> str:
        """LLVM IR that defines ``run(launch record) -> Stop`` and the steps to which blocks jump (`Step`)."""
        module = ir.Module("driver")
        (warp_groups if self.groups else warp_steps).define(module, self)
        _run(module, _run_warp(module, self), self)
        return str(module)


def _run(module: Any, run_warp: Any, options: Driver) -> None:
    code = Code(module, "run", I32, [I64])
    (launch,) = code.arguments
    set_slot(launch, Slot.LOOK_AT, code.const(I64, 0))
    with code.loop():
        with code.if_(slot(code, launch, Slot.BLOCK_LIVE) == 0):
            block = slot(code, launch, Slot.THREAD_BLOCK)
            with code.if_(block == slot(code, launch, Slot.THREAD_BLOCKS)):
                code.ret(code.const(I32, Stop.FINISHED))
            if options.record_path:
                with code.if_(slot(code, launch, Slot.PATH) > slot(code, launch, Slot.PATH_LIMIT)):
                    code.ret(code.const(I32, Stop.BUFFER_FULL))
            _begin_thread_block(code, launch, options)
        with code.loop():
            turn = slot(code, launch, Slot.READY) & (code.const(I64, ALL) << slot(code, launch, Slot.WARP))
            with code.if_(turn == 0):
                code.break_()
            warp = code.lowest_bit(turn)
            set_slot(launch, Slot.WARP, warp)
            with code.if_(slot(code, launch, Slot.TURN_END) == 0):
                begin_turn(launch, warp, slot(code, launch, Slot.EXECUTED))
            stop = code.call(run_warp, [launch, warp])
            with code.if_(stop != Stop.FINISHED):
                code.ret(stop)
            set_slot(launch, Slot.TURN_END, code.const(I64, 0))
            set_slot(launch, Slot.WARP, slot(code, launch, Slot.WARP) + 1)
        set_slot(launch, Slot.WARP, code.const(I64, 0))
        with code.if_else(slot(code, launch, Slot.ALIVE) == 0) as (finished, going):
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


def _begin_thread_block(code: Code, launch: Value, options: Driver) -> None:
    set_slot(launch, Slot.BLOCK_LIVE, code.const(I64, 1))
    warps = slot(code, launch, Slot.WARP_COUNT)
    for field in (Slot.ALIVE, Slot.READY):
        set_slot(launch, field, code.const(I64, ALL) >> (code.const(I64, 64) - warps))
    set_slot(launch, Slot.WARP, code.const(I64, 0))
    set_slot(launch, Slot.PATH_WARP, code.const(I64, NO_BLOCK))
    with code.if_(slot(code, launch, Slot.PENDING) != 0, likely=False):
        set_slot(launch, Slot.PENDING, code.const(I64, 0))
        _clear(code, launch + Slot.ARRIVED * 8, code.const(I64, (Slot.TARGETS - Slot.ARRIVED) * 8))
    index = code.var(code.const(I64, 0))
    with code.loop():
        with code.if_(index.get() == warps):
            code.break_()
        record = warp_record(code, launch, index.get())
        first = (record + Warp.FIRST_MASK).load(I32)
        none, nowhere = code.const(I32, 0), code.const(I32, NO_BLOCK)
        for at, word in (
            (Warp.BLOCK, none),
            (Warp.MASK, first),
            (Warp.RECONVERGENCE, nowhere),
            (Warp.ALIVE, first),
            (Warp.LAST_MASK, none),
        ):
            (record + at).store(word)
        (record + Warp.TOP).store(record + Warp.STACK)
        if options.groups:  # no lane of a warp that has ended waits, so only results may be left
            with code.if_((record + Warp.REDUCED).load(I32) != 0, likely=False):
                _clear(code, record + Warp.REDUCTION, code.const(I64, WARP_BYTES - Warp.REDUCTION))
        if options.records_widths:
            contents = record + WARP_BYTES + slot(code, launch, Slot.CONTENTS)
            _clear(code, contents, slot(code, launch, Slot.CONTENTS_BYTES))
        index.set(index.get() + 1)
    shared = slot(code, launch, Slot.SHARED_BYTES)
    with code.if_(shared != 0):
        _clear(code, slot(code, launch, Slot.SHARED), shared)
    if options.record_path:
        path = slot(code, launch, Slot.PATH)
        path.store(code.const(I32, PathWord.THREAD_BLOCK))
        (path + 4).store(code.const(I32, NEXT))
        set_slot(launch, Slot.PATH, path + 8)


def _clear(code: Code, address: Value, size: Value) -> None:
    name, type_ = "llvm.memset.p0.i64", ir.VoidType()
    i8, i1 = ir.IntType(8), ir.IntType(1)
    signature = ir.FunctionType(type_, [i8.as_pointer(), i8, I64, i1])
    function = code.module.globals.get(name) or ir.Function(code.module, signature, name)
    code.builder.call(function, [code.pointer(address, i8), ir.Constant(i8, 0), size.llvm, ir.Constant(i1, 0)])


def _run_warp(module: Any, options: Driver) -> Any:
    """``run_warp(launch, warp)``: the turns of warps, from where this one stopped."""
    code = Code(module, "run_warp", I32, [I64, I64])
    code.function.linkage = "internal"
    launch, warp = code.arguments
    path = slot(code, launch, Slot.PATH)
    if options.record_path:
        is_same = slot(code, launch, Slot.PATH_WARP) == warp
        path = is_same.select(path, named(launch, warp, path))
    given = load(code, launch, warp, slot(code, launch, Slot.READY), path, slot(code, launch, Slot.EXECUTED))
    code.ret(code.call(running.declared(module, ENTER), given.arguments))
    return code.function
