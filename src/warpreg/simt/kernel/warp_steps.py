"""Steps of the driver, to which blocks jump: diverged warps reconverge at immediate post-dominators.

Each step determines the next block and its lanes, and jumps to it or returns from the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from warpreg.simt.block import running
from warpreg.simt.block.native_records import NO_BLOCK, BlockField, BlockKind, Slot, Step, Stop, set_slot, slot
from warpreg.simt.kernel.warp_barriers import arrive, define_release, release_all
from warpreg.simt.kernel.warp_state import ENTER, Options, WarpState, begin_turn, define_leave, load, named
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I32, I64, Code, Value

S = TypeVar("S", bound=WarpState)

ALL = 0xFFFFFFFFFFFFFFFF

COMPLETED, FREED = "completed", "freed"
"""Names of steps that only other steps use."""

ENDED = Step.ENDED.name.lower()


def define(module: Any, options: Options) -> None:
    """Define the steps, and those that only they use: some call functions, and only these need a stack frame."""
    for stop in (Stop.FINISHED, Stop.PAUSED, Stop.FAULT, Stop.BUFFER_FULL, Stop.SERVICE):
        define_leave(module, stop, options)
    release = define_release(module)
    bodies: dict[str, Callable[[WarpState], None]] = {
        ENTER: _enter,
        Step.ARRIVE.name.lower(): _arrive,
        Step.DIVERGE.name.lower(): _branch,
        Step.EXIT.name.lower(): _exit,
        Step.BARRIER.name.lower(): _barrier,
        Step.STOP.name.lower(): _stop,
        COMPLETED: lambda state: _completed(state, release),
        Step.NEXT.name.lower(): lambda state: end_turn(state, is_over=True),
        ENDED: ended,
        FREED: lambda state: freed(state, release),
    }
    define_all(module, bodies, lambda code: WarpState(code, options), _go_on)


def define_all(
    module: Any, bodies: Mapping[str, Callable[[S], None]], state_of: Callable[[Code], S], go_on: Callable[[S], None]
) -> None:
    """Define steps by name; one that does not leave goes on.  All but those that end a warp see faults first."""
    checked = {step.name.lower() for step in Step if step not in (Step.NEXT, Step.ENDED)}
    for name, body in bodies.items():
        state = state_of(running.function(module, name))
        if name in checked:
            with state.code.if_(slot(state.code, state.launch, Slot.FAULT) != 0, likely=False):
                state.leave(Stop.FAULT)
        body(state)
        if not state.code.builder.block.is_terminated:
            go_on(state)


def _go_on(state: WarpState) -> None:
    """End the turn if the block requests it, or the warp, or enter the next block."""
    code, launch = state.code, state.launch
    if state.options.yields:
        yields = slot(code, launch, Slot.YIELD) != 0
        set_slot(launch, Slot.YIELD, code.const(I64, 0))
        with code.if_(yields & (state.mask.get() != 0), likely=False):
            set_slot(launch, Slot.YIELDED, code.const(I64, 1))
            state.leave(Stop.FINISHED)
    with code.if_(state.mask.get() == 0, likely=False):
        _jump(state, ENDED)
    state.visit()


def _enter(state: WarpState) -> None:
    """Begin a turn, or enter a block at a limit."""
    state.mask.set(state.running.lanes)
    state.check_limits()
    state.visit()


def _jump(state: WarpState, name: str) -> None:
    """Go on with another step, which gets the same state."""
    given = replace(state.running, ready=state.ready.get())
    state.code.jump(running.declared(state.code.module, name), given.arguments)


def ended(state: WarpState) -> None:
    """All lanes have exited.  Where no barrier counts warps and none is ready, all that have not ended wait at the only
    barrier of the kernel, and go on."""
    code, launch = state.code, state.launch
    alive, ready = slot(code, launch, Slot.ALIVE) & ~state.bit, state.ready.get() & ~state.bit
    set_slot(launch, Slot.ALIVE, alive)
    with code.if_(slot(code, launch, Slot.PENDING) != 0, likely=False):
        state.ready.set(ready)
        _jump(state, FREED)
    state.ready.set((ready == 0).select(alive, ready))
    end_turn(state, is_over=True)


def freed(state: WarpState, release: Any) -> None:
    """Release the warps that waited only for one that has ended."""
    code, launch = state.code, state.launch
    set_slot(launch, Slot.READY, state.ready.get())
    with code.each_set_bit(slot(code, launch, Slot.PENDING).trunc(I32)) as barrier:
        code.call(release, [launch, barrier.zext(I64)])
    state.ready.set(slot(code, launch, Slot.READY))
    end_turn(state, is_over=True)


def end_turn(state: WarpState, is_over: bool = False) -> None:
    """Go on with the next warp that can run, or return from the driver if there is none; ``is_over``: this warp has
    ended, or its state is in its record.  The next one is another: a warp alone does not end its turn here."""
    code, launch, executed = state.code, state.launch, state.running.executed
    ready = state.ready.get()
    later = ready & (code.const(I64, ALL - 1) << state.warp)
    rest = later if state.options.side_by_side else (later == 0).select(ready, later)
    with code.if_(rest == 0, likely=False):
        state.leave(Stop.FINISHED)
    if not is_over:
        state.save()
    warp, path = code.lowest_bit(rest), state.running.path
    begin_turn(launch, warp, executed)
    if state.options.record_path:
        path = named(launch, warp, path)
    following = WarpState(code, state.options, load(code, launch, warp, ready, path, executed))
    following.mask.set(following.running.lanes)
    following.visit()


def _arrive(state: WarpState) -> None:
    """All lanes go to the same block."""
    with state.code.if_(state.block.get() == state.reconvergence.get()):
        state.pop()
        state.skip_absent()


def _branch(state: WarpState) -> None:
    """Some lanes take a branch, some do not."""
    code = state.code
    row, taken = state.row(state.running.block), state.running.lanes
    target, fall, meet = (
        (row + field).load(I32) for field in (BlockField.TARGET, BlockField.FALL_THROUGH, BlockField.RECONVERGENCE)
    )
    _diverge(code, state, target, fall, taken, state.mask.get() & ~taken, meet)
    with code.if_(slot(code, state.launch, Slot.FAULT) != 0, likely=False):
        state.leave(Stop.FAULT)
    _arrive(state)


def _exit(state: WarpState) -> None:
    code, given, mask = state.code, state.running, state.mask.get()
    state.alive.set(state.alive.get() & ~given.lanes)
    state.mask.set(mask & ~given.lanes)
    with code.if_(state.mask.get() != 0):
        state.block.set((state.row(given.block) + BlockField.FALL_THROUGH).load(I32))
    state.reconverge()


def _barrier(state: WarpState) -> None:
    with state.code.if_(state.running.lanes != 0, likely=True), state.code.if_(arrive(state), likely=False):
        _jump(state, COMPLETED)
    _wait(state)


def _completed(state: WarpState, release: Any) -> None:
    """The running warp is the last for which others wait at a barrier."""
    release_all(state, release)
    _wait(state)


def _wait(state: WarpState) -> None:
    """Let other warps run after a barrier, if there are any."""
    code, lanes = state.code, state.running.lanes
    state.block.set((state.row(state.running.block) + BlockField.FALL_THROUGH).load(I32))
    state.reconverge()
    with code.if_((lanes != 0) & (state.ready.get() != state.bit), likely=True):
        end_turn(state)


def _stop(state: WarpState) -> None:
    """Leave a block that ends in a host service or an indirect branch."""
    code, launch, given = state.code, state.launch, state.running
    row = state.row(given.block)
    service = (row + BlockField.KIND).load(I32) == BlockKind.SERVICE
    with code.if_else(service) as (serves, indirect):
        with serves:
            state.block.set((row + BlockField.FALL_THROUGH).load(I32))
        with indirect:
            _indirect(code, launch, state, (row + BlockField.RECONVERGENCE).load(I32))
    state.reconverge()
    with code.if_(service & (given.lanes != 0)):
        ask_host(state)


def ask_host(state: WarpState) -> None:
    """Leave native code for a host service at the end of a block."""
    given = state.running
    set_slot(state.launch, Slot.SERVICE_BLOCK, given.block.zext(I64))
    set_slot(state.launch, Slot.SERVICE_LANES, given.lanes.zext(I64))
    state.leave(Stop.SERVICE)


def _diverge(code: Code, state: WarpState, target: Value, fall: Value, taken: Value, stay: Value, meet: Value) -> None:
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


def _meeting(code: Code, state: WarpState, meet: Value) -> Value:
    """Open a region that ends at ``meet``; returns the block at which the parts of the warp reconverge.

    No region is opened if the lanes do not reconverge before they exit, or if the enclosing region also ends there.
    """
    outer = state.reconvergence.get()
    with code.if_((meet != NO_BLOCK) & (meet != outer)):
        state.push(outer, meet, state.mask.get())
        state.reconvergence.set(meet)
    return state.reconvergence.get()


def _indirect(code: Code, launch: Value, state: WarpState, meet: Value) -> None:
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
