"""Steps of the driver for machine code: the lanes of a warp go where the code says, not to post-dominators.

The lanes of a warp form *groups*: lanes that go on together from the same block.  One group runs.  Others can run, and
are on the warp's stack; or they wait:

- ``BSSY B0`` notes the running lanes as those that take part together in barrier B0; each lane has its own note, so
  that groups which run the same code apart do not disturb each other.  At ``BSYNC B0``, a group waits until all of its
  lanes that have not exited, or left by ``BREAK B0``, have come.  They go on as one group.
- At ``WARPSYNC mask``, a group waits for the lanes of the mask that have not exited.  Lanes leave loops for it without
  a ``BREAK``: where no group can run, those at a ``BSYNC`` no longer wait for lanes at a ``WARPSYNC``.
- At a barrier of the thread block, a group waits until no other group of its warp can run.  Then the warp arrives.

Where a group parts at a branch, the lanes that fall through go on, and the others are put on the stack; at a branch
through a register, the group whose highest lane is the lowest goes on, and the others follow in this order.  When a
group waits or ends, the last one put on the stack goes on.  The turn of a warp whose lanes have parted ends after
`GROUP_TURN` warp-instructions, and at ``YIELD``; its group then goes below the others, so that one that spins cannot
keep a lock from its holder.  Lanes that wait for lanes which never come are an error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from warpreg.simt.block import running
from warpreg.simt.block.native_records import (
    NO_BLOCK,
    STACK_ENTRY_BYTES,
    WARP_SYNC,
    BlockField,
    BlockKind,
    Fault,
    Slot,
    Step,
    Stop,
    Warp,
    set_slot,
    slot,
)
from warpreg.simt.kernel import warp_steps
from warpreg.simt.kernel.group_ends import ALONE
from warpreg.simt.kernel.warp_barriers import arrive, define_release, release_all
from warpreg.simt.kernel.warp_state import ENTER, Options, WarpState, define_leave
from warpreg.simt.llvm.emitter import I1, I32, I64, Value, apart, lanes_of

GROUP_TURN = 1000
"""Warp-instructions of a turn in which the lanes of the warp have parted."""

SELECT = "select"
"""The step that finds a group which can go on."""

WORDS = lanes_of(I32)


def define(module: Any, options: Options) -> None:
    """Define the steps, and those that only they use."""
    for stop in (Stop.FINISHED, Stop.PAUSED, Stop.FAULT, Stop.BUFFER_FULL, Stop.SERVICE):
        define_leave(module, stop, options)
    release = define_release(module, notes=True)
    bodies: dict[str, Callable[[Groups], None]] = {
        ENTER: _enter,
        Step.ARRIVE.name.lower(): lambda state: None,
        Step.DIVERGE.name.lower(): _branch,
        Step.EXIT.name.lower(): _exit,
        Step.BARRIER.name.lower(): _barrier,
        Step.STOP.name.lower(): _stop,
        Step.CONVERGE.name.lower(): _converge,
        Step.CHANGED.name.lower(): _changed,
        Step.SYNC.name.lower(): _sync,
        Step.REST.name.lower(): _rest,
        SELECT: lambda state: _select(state, release),
        Step.NEXT.name.lower(): lambda state: warp_steps.end_turn(state, is_over=True),
        warp_steps.ENDED: warp_steps.ended,
        warp_steps.FREED: lambda state: warp_steps.freed(state, release),
    }
    warp_steps.define_all(module, bodies, lambda code: Groups(code, options), Groups.go_on)


class Groups(WarpState):
    """The running warp as groups of lanes."""

    def members(self, barrier: Value) -> Value:
        """By lane, the lanes with which it takes part in a convergence barrier."""
        return (self.record + Warp.MASKS + barrier.zext(I64) * 128).load(WORDS, align=4)

    def waiting(self, barrier: Value) -> Value:
        """The address of the lanes that wait at a convergence barrier."""
        return self.record + Warp.WAITING + barrier.zext(I64) * 4

    def place(self, barrier: Value) -> Value:
        """The address of the block at whose end lanes wait at a convergence barrier."""
        return self.record + Warp.PLACE + barrier.zext(I64) * 4

    def words(self, field: Warp) -> Value:
        """A field of one word for each lane."""
        return (self.record + field).load(WORDS, align=4)

    def keep(self, field: Warp, lanes: Value, words: Value) -> None:
        """Replace the words of some lanes."""
        kept = lanes.bitcast(lanes_of(I1)).select(words, apart(self.words(field)))
        (self.record + field).store(kept, align=4)

    def fall(self, block: Value) -> Value:
        """The block after one that has ended."""
        return (self.row(block) + BlockField.FALL_THROUGH).load(I32)

    def put(self, block: Value, lanes: Value) -> None:
        """Put a group on the stack."""
        self.push(self.code.const(I32, NO_BLOCK), block, lanes)

    @property
    def is_alone(self) -> Value:
        """Whether no other group can run."""
        return self.top.get() == self.record + Warp.STACK

    def put_groups(self, lanes: Value, blocks: Value, after: bool) -> None:
        """Put lanes on the stack by their blocks, or with ``after`` by the blocks that follow them; the group whose
        highest lane is the lowest is on top."""
        code, rest = self.code, self.code.var(lanes)
        with code.loop():
            with code.if_(rest.get() == 0):
                code.break_()
            above = code.intrinsic("llvm.ctlz.i32", I32, [rest.get(), code.const(I1, 1)])
            block = blocks.lane(code.const(I32, 31) - above)
            group = (blocks == block.splat()).bitcast(I32) & rest.get()
            rest.set(rest.get() & ~group)
            self.put(self.fall(block) if after else block, group)

    def wait(self, barrier: Value, lanes: Value) -> None:
        """Let lanes wait at a convergence barrier, or in WARPSYNC; the others go on behind the block."""
        block = self.running.block
        address, place = self.waiting(barrier), self.place(barrier)
        waiting, common = address.load(I32), place.load(I32)
        place.store(((waiting == 0) | (common == block)).select(block, self.code.const(I32, NO_BLOCK)))
        address.store(waiting | lanes)
        self.keep(Warp.PLACES, lanes, block.splat())
        blocked = self.record + Warp.BLOCKED
        blocked.store(blocked.load(I32) | (self.code.const(I32, 1) << barrier))
        self.mask.set(self.mask.get() & ~lanes)
        self.block.set(self.fall(block))

    def free(self, barrier: Value, lanes: Value) -> None:
        """Let waiting lanes go on."""
        self.leave_waiting(barrier, self.waiting(barrier).load(I32) & ~lanes)
        self.put_groups(lanes, self.words(Warp.PLACES), after=True)

    def leave_waiting(self, barrier: Value, lanes: Value) -> None:
        """Let only these lanes wait at a convergence barrier."""
        self.waiting(barrier).store(lanes)
        blocked, bit = self.record + Warp.BLOCKED, (lanes == 0).zext(I32) << barrier
        blocked.store(blocked.load(I32) & ~bit)

    def free_complete(self) -> None:
        """Let those go on that wait for no lane any more."""
        code = self.code
        blocked = (self.record + Warp.BLOCKED).load(I32)
        with code.if_(blocked != 0, likely=False):
            with code.each_set_bit(blocked & (1 << WARP_SYNC) - 1) as barrier:
                self.free_wanted(barrier, self.members(barrier))
            with code.if_((blocked >> WARP_SYNC) != 0):
                self.free_synchronized()

    def free_synchronized(self) -> None:
        """Let the lanes in WARPSYNC go on for which all lanes that they want have come."""
        self.free_wanted(self.code.const(I32, WARP_SYNC), self.words(Warp.WANTED))

    def free_deserted(self) -> None:
        """Let those lanes at convergence barriers go on that wait only for lanes in WARPSYNC, which do not come."""
        code = self.code
        blocked = (self.record + Warp.BLOCKED).load(I32)
        with code.if_((blocked >> WARP_SYNC) != 0, likely=False):
            away = self.waiting(code.const(I32, WARP_SYNC)).load(I32)
            with code.each_set_bit(blocked & (1 << WARP_SYNC) - 1) as barrier:
                self.free_wanted(barrier, self.members(barrier), away)

    def forget(self, barrier: Value, lanes: Value, gone: Value) -> None:
        """Let some lanes no longer take part in a convergence barrier with lanes that have gone on."""
        place, members = self.record + Warp.MASKS + barrier.zext(I64) * 128, self.members(barrier)
        place.store(lanes.bitcast(lanes_of(I1)).select(members & ~gone.splat(), members), align=4)

    def free_wanted(self, barrier: Value, wanted: Value, away: Value | None = None) -> None:
        """Let the waiting lanes go on that want the same lanes, if all of these have come or are ``away``."""
        code, rest = self.code, self.code.var(self.waiting(barrier).load(I32))
        with code.loop():
            with code.if_(rest.get() == 0):
                code.break_()
            first = code.intrinsic("llvm.cttz.i32", I32, [rest.get(), code.const(I1, 1)])
            mask = wanted.lane(first)
            group = (wanted == mask.splat()).bitcast(I32) & rest.get()
            rest.set(rest.get() & ~group)
            missing = mask & self.alive.get() & ~group
            with code.if_((missing if away is None else missing & ~away) == 0):
                if away is not None:
                    self.forget(barrier, missing, group)
                self.free(barrier, group)

    def turn_over(self) -> None:
        """Put the running group below all others, and take the topmost."""
        code, bottom = self.code, self.record + Warp.STACK
        with code.if_(~self.is_alone & (self.mask.get() != 0)):
            at = code.var(self.top.get())
            with code.loop():
                with code.if_(at.get() == bottom):
                    code.break_()
                entry = at.get() - STACK_ENTRY_BYTES
                for field in (0, 8):
                    (at.get() + field).store((entry + field).load(I64))
                at.set(entry)
            self.top.set(self.top.get() + STACK_ENTRY_BYTES)
            (bottom + 4).store(self.block.get())
            (bottom + 8).store(self.mask.get())
            self.pop()

    def shorten_turn(self) -> None:
        """End the turn soon, now that another group can run."""
        code, launch = self.code, self.launch
        end = self.running.executed + GROUP_TURN
        for field in (Slot.TURN_END, Slot.LOOK_AT):
            now = slot(code, launch, field)
            set_slot(launch, field, (end < now).select(end, now))

    def go_on(self) -> None:
        """End the turn if the block requests it, or enter the next block with the running group, or another one."""
        code, launch = self.code, self.launch
        if self.options.yields:
            yields = slot(code, launch, Slot.YIELD) != 0
            set_slot(launch, Slot.YIELD, code.const(I64, 0))
            with code.if_(yields & (self.mask.get() != 0), likely=False):
                set_slot(launch, Slot.YIELDED, code.const(I64, 1))
                self.turn_over()
                self.leave(Stop.FINISHED)
        with code.if_(self.mask.get() == 0, likely=False):
            self.jump(SELECT)
        self.visit()

    def jump(self, name: str) -> None:
        """Go on with another step."""
        self.code.jump(running.declared(self.code.module, name), self.handed_on().arguments)

    def before_end_of_turn(self) -> None:
        self.turn_over()


def _enter(state: Groups) -> None:
    """Begin a turn, or enter a block at a limit."""
    state.mask.set(state.running.lanes)
    state.check_limits()
    state.visit()


def _branch(state: Groups) -> None:
    """Some lanes take a branch, some do not."""
    row, taken = state.row(state.running.block), state.running.lanes
    state.put((row + BlockField.TARGET).load(I32), taken)
    state.block.set((row + BlockField.FALL_THROUGH).load(I32))
    state.mask.set(state.mask.get() & ~taken)
    state.shorten_turn()


def _stop(state: Groups) -> None:
    """Leave a block that ends in a host service or an indirect branch."""
    code, given = state.code, state.running
    service = (state.row(given.block) + BlockField.KIND).load(I32) == BlockKind.SERVICE
    with code.if_else(service) as (serves, indirect):
        with serves:
            state.block.set(state.fall(given.block))
        with indirect:
            _indirect(state)
    with code.if_(service & (given.lanes != 0)):
        warp_steps.ask_host(state)


def _indirect(state: Groups) -> None:
    """Each lane goes to its own block."""
    lanes = state.running.lanes
    state.mask.set(state.mask.get() & ~lanes)
    state.block.set(state.fall(state.running.block))
    with state.code.if_(state.mask.get() != 0):
        state.put(state.block.get(), state.mask.get())
    targets = (state.launch + Slot.TARGETS * 8).load(WORDS, align=4)
    state.put_groups(lanes, targets, after=False)
    state.pop()
    with state.code.if_(~state.is_alone):
        state.shorten_turn()


def _exit(state: Groups) -> None:
    lanes = state.running.lanes
    state.alive.set(state.alive.get() & ~lanes)
    state.mask.set(state.mask.get() & ~lanes)
    state.block.set(state.fall(state.running.block))
    state.free_complete()


def _changed(state: Groups) -> None:
    """Lanes have left a convergence barrier."""
    state.block.set(state.fall(state.running.block))
    state.free_complete()


def _converge(state: Groups) -> None:
    """Wait at a convergence barrier."""
    named, lanes = (state.row(state.running.block) + BlockField.RECONVERGENCE).load(I32), state.running.lanes
    barrier = named & ~ALONE
    _meet(state, barrier, lanes, (named & ALONE) != 0)
    state.wait(barrier, lanes)
    _after_wait(state, lambda: state.free_wanted(barrier, state.members(barrier)))


def _meet(state: Groups, barrier: Value, lanes: Value, is_alone: Value) -> None:
    """The usual cases of a convergence barrier, in which the whole group waits and takes part with the same lanes: not
    all of these have come, or all have, and they wait at the end of the same block."""
    code, block, members = state.code, state.running.block, state.members(barrier)
    first = code.intrinsic("llvm.cttz.i32", I32, [lanes, code.const(I1, 1)]).zext(I64)
    wanted = (state.record + Warp.MASKS + barrier.zext(I64) * 128 + first * 4).load(I32)
    alike = (members == wanted.splat()).bitcast(I32)
    with code.if_((lanes == state.mask.get()) & ((lanes & ~alike) == 0) & (lanes != 0), likely=True):
        waiting = state.waiting(barrier).load(I32)
        group = alike & (waiting | lanes)
        missing = wanted & state.alive.get() & ~group
        with code.if_(missing != 0):
            with code.if_(is_alone & ((group & ~lanes) == 0) & ~state.is_alone, likely=True):
                _follow(state, group, missing, alike)
            state.wait(barrier, lanes)
            state.go_on()
        with code.if_(((group & ~lanes) == 0) | (state.place(barrier).load(I32) == block), likely=True):
            state.leave_waiting(barrier, waiting & ~group)
            state.mask.set(group)
            state.block.set(state.fall(block))
            state.go_on()


def _follow(state: Groups, group: Value, missing: Value, alike: Value) -> None:
    """If the next group is all lanes that are missing, and comes to the same block, which is nothing but the BSYNC:
    visit the block with it, and go on with all, as they would after the group has waited."""
    code, given, block = state.code, state.running, state.running.block
    top = state.top.get() - STACK_ENTRY_BYTES
    following = (top + 8).load(I32) & state.alive.get()
    comes = ((top + 4).load(I32) == block) & (following == missing) & ((following & ~alike) == 0)
    with code.if_(comes & (given.executed < slot(code, state.launch, Slot.LOOK_AT)), likely=True):
        state.top.set(top)
        state.running = state.visited(block, following, code.const(I64, 1))
        state.mask.set(group | following)
        state.block.set(state.fall(block))
        state.go_on()
    state.running = given


def _sync(state: Groups) -> None:
    """Wait in WARPSYNC."""
    lanes = state.running.lanes
    state.keep(Warp.WANTED, lanes, (state.launch + Slot.TARGETS * 8).load(WORDS, align=4))
    state.wait(state.code.const(I32, WARP_SYNC), lanes)
    _after_wait(state, state.free_synchronized)


def _after_wait(state: Groups, free: Callable[[], None]) -> None:
    """Put lanes that do not wait on the stack, then those that need not wait any more, and take the topmost."""
    code = state.code
    with code.if_(state.mask.get() != 0, likely=False):
        state.put(state.block.get(), state.mask.get())
        state.mask.set(code.const(I32, 0))
    free()


def _rest(state: Groups) -> None:
    """Let other groups run."""
    state.block.set(state.fall(state.running.block))
    state.turn_over()
    state.shorten_turn()


def _barrier(state: Groups) -> None:
    """Wait at a barrier of the thread block, or only arrive there."""
    code, launch, lanes = state.code, state.launch, state.running.lanes
    block = state.running.block
    number = slot(code, launch, Slot.BARRIER)
    state.block.set(state.fall(block))
    state.keep(Warp.PLACES, lanes, block.splat())
    gathered = state.record + Warp.GATHERED
    gathered.store(gathered.load(I32) | lanes)
    (state.record + Warp.NUMBER).store(number)
    (state.record + Warp.THREADS).store(slot(code, launch, Slot.BARRIER_THREADS))
    state.mask.set(state.mask.get() & ~lanes)


def _select(state: Groups, release: Any) -> None:
    """Find a group that can go on; without one, the warp arrives at a barrier, has ended, or cannot go on."""
    code, launch = state.code, state.launch
    state.mask.set(code.const(I32, 0))
    with code.if_(state.is_alone):
        state.free_deserted()
    with code.if_(~state.is_alone, likely=True):
        state.pop()
        state.visit()
    gathered = (state.record + Warp.GATHERED).load(I32)
    with code.if_(gathered != 0, likely=True):
        _arrive(state, gathered, release)
    with code.if_(state.alive.get() == 0, likely=True):
        state.jump(warp_steps.ENDED)
    set_slot(launch, Slot.FAULT, code.const(I64, Fault.STRANDED))
    state.leave(Stop.FAULT)


def _arrive(state: Groups, gathered: Value, release: Any) -> None:
    """The warp arrives at the barrier at which its lanes have gathered."""
    code, launch = state.code, state.launch
    (state.record + Warp.GATHERED).store(code.const(I32, 0))
    places = state.words(Warp.PLACES)
    last = places.lane(code.intrinsic("llvm.cttz.i32", I32, [gathered, code.const(I1, 1)]))
    for field, kept in ((Slot.BARRIER, Warp.NUMBER), (Slot.BARRIER_THREADS, Warp.THREADS)):
        set_slot(launch, field, (state.record + kept).load(I64))
    state.put_groups(gathered, places, after=True)
    state.pop()
    with code.if_(arrive(state, last), likely=False):
        release_all(state, release)
    waits = (slot(code, launch, Slot.BARRIER) >> 32 & 1) == 0
    with code.if_(waits & (state.ready.get() != state.bit), likely=True):
        warp_steps.end_turn(state)
    state.visit()
