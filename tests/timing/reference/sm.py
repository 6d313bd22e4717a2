"""One streaming multiprocessor: the phases of docs/reference/timing.md, one method each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tests.timing.reference.collection import OperandPath
from tests.timing.reference.fetch import ConstantCaches, InstructionCaches
from tests.timing.reference.hooks import Hooks, Shared, Transfer
from tests.timing.reference.instruction import Instruction, Result, Source, Step, UnderWay
from tests.timing.reference.load_store import LoadStore, Traffic
from tests.timing.reference.log import Issue, Log
from tests.timing.reference.machine import Sm
from tests.timing.reference.memory import Memory
from tests.timing.reference.owned import OwnedPath
from tests.timing.reference.schedulers import Scheduler, TwoLevelScheduler
from tests.timing.reference.stalls import Stalls
from tests.timing.reference.transfers import Transfers
from tests.timing.reference.units import Units
from tests.timing.reference.warp import ThreadBlock, Warp
from tests.timing.reference.window import WindowPath

from warpreg.designs.interface.loads import HELD
from warpreg.designs.interface.plan import AFTER, STAY
from warpreg.timing.errors import TimingError
from warpreg.timing.launch.deadlock import WaitingWarp
from warpreg.timing.launch.unfinished_loads import HeldLoad

Event = Callable[[int], None]
WAITING = ("memory", "barrier", "fence", "token")
NO_TOKEN = -1


class StreamingMultiprocessor:
    """``slots[s]`` is the warp in slot ``s`` or None; ``due[c]`` is what happens in phase 1 of ``c``."""

    def __init__(self, sm: Sm, index: int, memory: Memory, shared: Shared) -> None:
        self.sm, self.index, self.log = sm, index, Log()
        self.slots: list[Warp | None] = [None] * sm.slots
        self.blocks: list[ThreadBlock] = []
        self.due: dict[int, list[tuple[int, Event]]] = {}
        self.held: dict[int, UnderWay] = {}
        self._fixed_writes: set[int] = set()
        self.transfers = Transfers(sm, self._at)
        self.load_store = LoadStore(sm, index, memory)
        self.hooks = Hooks(
            shared, sm, index, self._wake, self._complete_load, self._transfer, self._send_register, self.slots
        )
        self.units = Units(sm)
        path = (self.hooks.access, self.log, self._collected, self._at)
        own = self.hooks.own_collectors
        kind: Callable[..., OperandPath] = OperandPath if own is None else partial(OwnedPath, own)
        if sm.window is not None:
            kind = partial(WindowPath, sm.window, self._has_allocated)
        self.path = kind(sm, sm.banks, *path) if sm.banks else None
        self._order, self._accepts_from = 0, 0
        self.stalls = Stalls(self.units, self.load_store, self.path, sm.tracks_sources)
        self.schedulers = [self._scheduler(number) for number in range(sm.schedulers)]
        self._issued = 0
        self._warps_placed = 0
        self._barrier_free = 0
        self._constants = ConstantCaches(sm.constants, sm.schedulers) if sm.constants else None
        instructions = len(shared.program.source_start) - 1
        self._caches = InstructionCaches(sm.fetch, sm.schedulers, instructions) if sm.fetch else None

    def _scheduler(self, number: int) -> Scheduler:
        if self.sm.two_level is None:
            return Scheduler(self.sm, number)
        return TwoLevelScheduler(self.sm, number, self.sm.two_level, self.log, self.hooks)

    def complete(self, now: int) -> set[int]:
        """Phase 1.  Returns the banks that were written."""
        back = self.load_store.returned(now)
        for one in back:
            if isinstance(one, Traffic):
                self._register_is_back(one, now)
                continue
            if one.instruction.kind != "store":
                self.log.load_cycles.append(now - one.entered)
            self.hooks.memory_returned(one, now)
        for one in back:
            if isinstance(one, UnderWay):
                self._results_are_there(one, now)
        for _, event in sorted(self.due.pop(now, []), key=lambda pair: pair[0]):
            event(now)
        served = self.path.serve_writes(now, self._written_in_bank, self._fixed_writes) if self.path else set()
        self._fixed_writes.clear()
        self._queue_extras()
        return served

    def _register_is_back(self, one: Traffic, now: int) -> None:
        """What the design has sent to memory is acknowledged, or what it has fetched is there."""
        if not one.is_awaited:
            return
        if one.is_fetch:
            self.log.fetches.append(now - one.asked)
            self.hooks.register_is_back(one, now)
        else:
            self.log.spills += 1
        warp = self.slots[one.slot]
        if warp is not None:
            warp.away -= 1

    def _send_register(self, one: Traffic) -> None:
        """A hook sends a register to memory or fetches it."""
        warp = self.slots[one.slot]
        one.is_awaited = warp is not None and not warp.has_ended
        if one.is_awaited and warp is not None:
            warp.away += 1
        self.load_store.traffic.append(one)

    def collect(self, now: int, written_banks: set[int]) -> None:
        """Phase 2."""
        self.load_store.send(now, self._set_due, self._completed)
        if self.path:
            self.path.collect(now, written_banks, self._dispatch)
        self._queue_extras()

    def issue(self, now: int) -> None:
        """Phase 3."""
        for scheduler in self.schedulers:
            for warp in [warp for slot in scheduler.slots if (warp := self.slots[slot]) is not None]:
                scheduler.suspend(warp, now)
                self._tell_whether_it_waits(warp, scheduler, now)
        self.hooks.turns("turns_start", self.slots, now)
        for scheduler in self.schedulers:
            self._turn(scheduler, now)
        for block in self.blocks:
            block.release(self.sm.barrier.latency)
        for scheduler in self.schedulers:
            scheduler.fill(self.slots, now)
        self.hooks.turns("turns_end", self.slots, now)
        self._queue_extras()

    def _tell_whether_it_waits(self, warp: Warp, scheduler: Scheduler, now: int) -> None:
        cause = self.stalls.cause(warp, scheduler, now)
        waits = cause in WAITING and not (cause == "token" and warp.is_refused)
        if waits != warp.waits:
            warp.waits = waits
            self.hooks.head("stalled" if waits else "resumed", warp, now)

    def leave(self, now: int) -> None:
        """Phase 4, first half: thread blocks that have ended make room."""
        for warp in self.slots:
            if warp is not None and warp.has_ended and not warp.end_was_told:
                warp.end_was_told = True
                self.hooks.of_warp("warp_end", warp, now)
        ended = [block for block in self.blocks if block.has_ended]
        for block in sorted(ended, key=lambda block: block.warps[0].slot):
            self.hooks.of_block("block_end", now)
            self.blocks.remove(block)
            self.log.left.append((now, block.index))
            for warp in block.warps:
                self.hooks.leaves(warp)
                self.schedulers[warp.slot % self.sm.schedulers].left(warp)
                self.slots[warp.slot] = None
        self._queue_extras()

    def has_room_for(self, warps: int) -> bool:
        return self.slots.count(None) >= warps

    def place(self, index: int, paths: list[tuple[Step, ...]], now: int) -> None:
        """Phase 4, second half: a thread block comes, one path for each of its warps."""
        block = ThreadBlock(index)
        self.blocks.append(block)
        self.log.placed.append((now, index))
        free = [slot for slot, warp in enumerate(self.slots) if warp is None]
        self.hooks.takes(free[: len(paths)], index)
        self.hooks.of_block("block_start", now)
        for number, steps in enumerate(paths):
            slot = self.slots.index(None)
            warp = Warp(slot, self._warps_placed, number, steps, now + 1, block)
            warp.waits_for_all = self.sm.waits_for_all
            self._warps_placed += 1
            self._fetch(warp, now)
            self.slots[slot] = warp
            block.warps.append(warp)
            self.hooks.warp_start(warp, now)
            self.hooks.see_next(warp, now)
            self.schedulers[slot % self.sm.schedulers].placed(warp, now)
        self._queue_extras()

    def tokens_waited_for(self) -> list[WaitingWarp] | None:
        """What warps wait for where tokens, and loads that hooks complete, are all that could let any go on, None where
        something else may happen.
        """
        warps = [warp for warp in self.slots if warp is not None]
        if (
            self.due
            or self.transfers.under_way
            or self.load_store.traffic
            or self.load_store.away
            or any(self._is_under_way(warp) or not self._is_stuck(warp) for warp in warps)
        ):
            return None
        return [self._waiting(warp, warp.token) for warp in warps if warp.token is not None]

    def held_loads(self) -> list[HeldLoad]:
        """The loads that hooks would have to complete."""
        return [
            HeldLoad(
                self.index * self.sm.slots + one.warp.slot,
                one.warp.block.index,
                one.warp.index,
                one.instruction.pc,
                one.sequence,
            )
            for _, one in sorted(self.held.items())
        ]

    def _is_under_way(self, warp: Warp) -> bool:
        return any(issued.sequence not in self.held for issued in warp.under_way)

    def _is_stuck(self, warp: Warp) -> bool:
        if warp.token is not None or warp.at_barrier or warp.is_fenced or warp.head is None:
            return True
        return bool(warp.awaited())

    def _waiting(self, warp: Warp, token: int) -> WaitingWarp:
        assert warp.head is not None
        owner = self.hooks.owner(warp, token)
        number = self.index * self.sm.slots + warp.slot
        return WaitingWarp(number, warp.block.index, warp.index, warp.head.instruction.pc, token, owner)

    def _turn(self, scheduler: Scheduler, now: int) -> None:
        causes = {slot: self.stalls.cause(self.slots[slot], scheduler, now) for slot in scheduler.slots}
        ready = [warp for warp in scheduler.order(self.slots) if causes[warp.slot] is None]
        priorities = {warp.slot: self.hooks.priority(warp) for warp in ready}
        while ready:
            highest = max(priorities[warp.slot] for warp in ready)
            best = [warp for warp in ready if priorities[warp.slot] == highest]
            warp = self.hooks.choose(scheduler.index, self.slots, best, now)
            if warp is None:
                break
            ready.remove(warp)
            if self._lacks_constant(warp, scheduler, now):
                causes[warp.slot] = "operands"
                break
            if self._is_admitted(warp, now):
                causes[warp.slot] = "issued"
                self._issue_of(warp, scheduler, now)
                scheduler.issued(warp)
                break
            causes[warp.slot] = "token"
        self.log.stalls.update(cause or "not selected" for cause in causes.values())

    def _lacks_constant(self, warp: Warp, scheduler: Scheduler, now: int) -> bool:
        """Whether the head of a selected warp must wait for a constant, and for a while its scheduler with it."""
        assert warp.head is not None
        line = warp.head.instruction.constant
        if self._constants is None or line is None or self.units.is_queued(warp.head.instruction.pipe):
            return False
        if warp.asked == warp.position:
            return False
        there = self._constants.ask("fixed", scheduler.index, line, now)
        if there <= now:
            return False
        warp.asked = warp.position
        warp.hold(there, "operands")
        assert isinstance(self.path, WindowPath)
        assert self.sm.constants is not None
        self.path.issues_from[scheduler.index] = min(there, now + self.sm.constants.patience)
        return True

    def _constant_cycles(self, issued: UnderWay, now: int) -> int:
        """Cycles until the constant of a dispatched instruction of variable latency is there."""
        line = issued.instruction.constant
        if self._constants is None or line is None:
            return 0
        there = self._constants.ask("variable", issued.warp.slot % self.sm.schedulers, line, now)
        return max(0, there - now)

    def _issue_of(self, warp: Warp, scheduler: Scheduler, now: int) -> None:
        """Issue the head, and what may follow it in the same cycle."""
        pipes = [self._issue_head(warp, now)]
        while len(pipes) < self.sm.issue_width and "ctrl" not in pipes and warp.head is not None:
            if warp.head.instruction.pipe in pipes or self.stalls.of_head(warp, scheduler, now, fetched=now):
                break
            if not self._is_admitted(warp, now):
                break
            pipes.append(self._issue_head(warp, now))

    def _is_admitted(self, warp: Warp, now: int) -> bool:
        answer = self.hooks.admit(warp, now)
        warp.stays = answer is not None and answer <= STAY
        warp.is_refused = answer is not None and STAY < answer < 0
        if answer is not None and answer <= STAY:
            warp.token = STAY - answer
        elif answer is not None and answer < 0:
            self._refuse(warp, AFTER - answer, now)
        else:
            warp.token = answer
        return answer is None

    def _refuse(self, warp: Warp, cycles: int, now: int) -> None:
        """A token of its own, which wakes in the cycle before the warp asks again."""
        warp.token = NO_TOKEN
        if cycles > 1:
            self._at(now + cycles - 1, partial(self._go_on, warp))
        else:
            self._go_on(warp, now)

    def _go_on(self, warp: Warp, now: int) -> None:
        warp.token, warp.asks_from = None, now + 1

    def _transfer(self, one: Transfer, now: int) -> None:
        self.transfers.begin(self.hooks, one, now)

    def _wake(self, token: int, now: int) -> None:
        for warp in self.slots:
            if warp is not None and warp.token == token:
                self._go_on(warp, now)

    def _queue_extras(self) -> None:
        """The end of a phase."""
        for extra in self.hooks.extras:
            if self.path:
                bank = self.hooks.bank_of(extra.register, extra.slot) if extra.bank is None else extra.bank
                self.path.queue_write(None, extra.register, bank, extra.then)
        self.hooks.extras.clear()

    def _issue_head(self, warp: Warp, now: int) -> str:
        step = warp.head
        assert step is not None
        instruction = step.instruction
        issued = UnderWay(step, warp, self._issued, issued_at=now)
        self._issued += 1
        self.log.issues.append(
            Issue(
                now, self.index, issued.sequence, warp.slot, warp.block.index, warp.index, warp.position, instruction.pc
            )
        )
        warp.position += 1
        warp.last_issue = now
        warp.at_barrier, warp.at_fence = instruction.barrier and warp.head is not None, instruction.fence
        warp.copy(instruction)
        if instruction.barrier or instruction.gathers:
            self._barrier_free = max(self._barrier_free, now) + self.sm.barrier.interval
            warp.block.arrived_by = self._barrier_free
        if instruction.gathers:
            warp.block.gather(*instruction.gathers)
            warp.gathers_at = instruction.gathers[0] if warp.at_barrier else None
        if instruction.pipe != "ctrl":
            warp.under_way.append(issued)
        self.hooks.plan(issued, now)
        self.hooks.issued(issued, now)
        if instruction.pipe == "ctrl" or self.path is None:
            for row in range(len(issued.sources)):
                self.hooks.collected(issued, row, now)
        if instruction.pipe == "ctrl":
            self.hooks.produced(issued, now)
            self.hooks.see_next(warp, now)
            cause = "fetch" if instruction.control is None else "alu"
            jumps = warp.head is not None and warp.head.instruction.pc != instruction.pc + 1
            jump = self.sm.fetch.jump if self.sm.fetch and jumps else 0
            resolved = now + max(self.sm.pipes["ctrl"].latency, jump) + self.hooks.stages
            warp.hold(max(resolved, now + _stall(instruction)), cause)
            self._fetch(warp, resolved - 1)
            return "ctrl"
        warp.hold(now + _stall(instruction), "alu")
        self._fetch(warp, now)
        if instruction.control is None:
            warp.scoreboard.update(dict.fromkeys(instruction.result_cells, issued))
        else:
            warp.count(issued, instruction.control.write)
            warp.count(issued, instruction.control.read)
        self._order += 1
        issued.order = self._order
        if isinstance(self.path, WindowPath):
            self.path.latch(issued)
            if not self.units.is_queued(instruction.pipe):
                self.units.take(instruction.pipe, warp.slot, now, instruction.initiation)
                self._sources_read(issued)
        elif self.path:
            self.path.latch(issued)
        else:
            self._dispatch(issued, now)
        self.hooks.see_next(warp, now)
        return instruction.pipe

    def _fetch(self, warp: Warp, now: int) -> None:
        """Fetch the head of a warp."""
        if self._caches and warp.head is not None:
            pc = warp.head.instruction.pc
            there = self._caches.fetch(warp.slot % self.sm.schedulers, pc, warp.line, now)
            warp.line = self._caches.line(pc)
            warp.hold(there, "fetch")

    def _has_allocated(self, issued: UnderWay, now: int) -> None:
        """An instruction of fixed latency has reserved its reads; with no others in the way, two cycles after issue."""
        later = max([0, *(source.cycles - 1 for source in issued.sources)]) + max(
            0, issued.enters_from - issued.issued_at - 1
        )
        self.log.dispatched[issued.sequence] = now - 2
        due = now - 2 + later + self._latency(issued) + self.sm.dispatch_cycles
        self.due.setdefault(due, []).append((issued.order, partial(self._results_are_there, issued)))

    def _sources_read(self, issued: UnderWay) -> None:
        issued.has_read = True
        if issued.instruction.control is not None:
            issued.warp.count_down(issued, issued.instruction.control.read)

    def _collected(self, issued: UnderWay, granted: list[Source], now: int) -> None:
        """Some sources are read, and those that arrive with them."""
        for row, source in enumerate(issued.sources):
            if any(issued.arrives_with(source) is one for one in granted):
                self.hooks.collected(issued, row, now)

    def _dispatch(self, issued: UnderWay, now: int) -> bool:
        """Give an instruction with all its operands to its pipe; False if that does not take it now."""
        pipe, access = issued.instruction.pipe, issued.step.access
        if not self.stalls.takes(pipe, issued.warp.slot, now):
            return False
        if pipe in ("mem", "tex"):
            if now < self._accepts_from:
                return False
            self._accepts_from = now + self.sm.send_interval
        self._sources_read(issued)
        self.units.take(pipe, issued.warp.slot, now, issued.instruction.initiation)
        self.log.dispatched[issued.sequence] = now
        ready = now if self.path else now + max((source.cycles - 1 for source in issued.sources), default=0)
        ready = (
            max(now, ready)
            + self._constant_cycles(issued, now)
            + (0 if self.path else max(0, issued.enters_from - now - 1))
        )
        if pipe not in ("mem", "tex"):
            self._set_due(issued, ready + self._latency(issued) + self.sm.dispatch_cycles)
        elif access is None or access.sends_nothing:
            latency = self._latency_without_record(issued.instruction)
            self._set_due(issued, ready + max(1, self.sm.dispatch_cycles + latency))
        elif cycles := self._found_without_memory(issued, now):
            if cycles == HELD:
                issued.ready = ready
                self.held[issued.sequence] = issued
            else:
                self._set_due(issued, ready + cycles)
        else:
            issued.entered, issued.sends_from = now, ready + 1
            self.load_store.enter(issued)
            if access.transactions:
                self.hooks.memory_issued(issued, now)
        return True

    def _latency(self, issued: UnderWay) -> int:
        return issued.instruction.latency or self.sm.pipes[issued.instruction.pipe].latency

    def _latency_without_record(self, instruction: Instruction) -> int:
        if instruction.kind:
            return 0
        return instruction.latency or (self.sm.texture_latency if instruction.unrecorded else 0)

    def _found_without_memory(self, issued: UnderWay, now: int) -> int:
        access = issued.step.access
        is_global_load = (
            issued.instruction.kind in ("load", "read-only") and access is not None and access.space == "global"
        )
        return self.hooks.load_lookup(issued, now) if is_global_load else 0

    def _complete_load(self, load: int, cycles: int, now: int) -> None:
        """A hook completes a held load."""
        if load not in self.held:
            raise TimingError(f"complete names load {load}, which load_lookup does not hold")
        issued = self.held.pop(load)
        self._set_due(issued, max(now, issued.ready) + max(1, cycles))

    def _set_due(self, issued: UnderWay, cycle: int) -> None:
        self._at(cycle, partial(self._results_are_there, issued))

    def _at(self, cycle: int, event: Event) -> None:
        """Let something happen in phase 1 of a cycle to come."""
        self._order += 1
        self.due.setdefault(cycle, []).append((self._order, event))

    def _results_are_there(self, issued: UnderWay, now: int) -> None:
        """Results go where the plan says; cells that nobody writes to a bank first leave the scoreboard."""
        late = self.hooks.produced(issued, now)
        if late:
            self._at(now + late, partial(self._write_results, issued))
        else:
            self._write_results(issued, now)

    def _write_results(self, issued: UnderWay, now: int) -> None:
        instruction = issued.instruction
        if instruction.control is None:
            for cell in instruction.results_apart:
                del issued.warp.scoreboard[cell]
        issued.unwritten = len(issued.results)
        for result in issued.results:
            if self.path and result.bank is not None and not self._is_fixed(issued):
                self.path.queue_write(issued, result.word, result.bank)
                if not result.elsewhere:
                    continue
                issued.unwritten += 1
            elif self.path and result.bank is not None:
                self._fixed_writes.add(result.bank)
                self._left(issued, result.word, now)
                continue
            self._leaves(issued, result, now)
        if not issued.results:
            self._completed(issued, now)

    def _is_fixed(self, issued: UnderWay) -> bool:
        """Whether an instruction has a fixed latency: its results do not wait for their banks."""
        return isinstance(self.path, WindowPath) and not self.units.is_queued(issued.instruction.pipe)

    def _leaves(self, issued: UnderWay, result: Result, now: int) -> None:
        """The cell of a result leaves the scoreboard, now or some cycles on."""
        if result.cycles > 1:
            self._at(now + result.cycles - 1, partial(self._left, issued, result.word))
        else:
            self._left(issued, result.word, now)

    def _left(self, issued: UnderWay, word: int, now: int) -> None:
        issued.warp.scoreboard.pop(word, None)
        self._written(issued, now)

    def _written_in_bank(self, issued: UnderWay, word: int, now: int) -> None:
        result = next(result for result in issued.results if result.word == word)
        if result.elsewhere:
            self._written(issued, now)
        else:
            self._leaves(issued, result, now)

    def _written(self, issued: UnderWay, now: int) -> None:
        issued.unwritten -= 1
        if issued.unwritten == 0:
            self._completed(issued, now)

    def _completed(self, issued: UnderWay, now: int) -> None:
        issued.warp.copied += issued.instruction.copies
        if issued.instruction.control is not None:
            issued.warp.count_down(issued, issued.instruction.control.write)
        if issued.instruction.has_results:
            self.hooks.arrived(issued, now)
            self.hooks.written_back(issued, now)
            self.hooks.see_buffer(issued.warp, now)
        issued.warp.under_way.remove(issued)


def _stall(instruction: Instruction) -> int:
    """Cycles until the next issue, as far as the code says."""
    return instruction.control.stall if instruction.control else 1
