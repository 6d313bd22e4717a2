"""Asynchronous copies and mbarriers.

``cp.async`` copies as late as PTX allows: when its thread waits for its group, or arrives at an mbarrier for it.  A
kernel that reads too early therefore reads old bytes here.  An mbarrier is an object of this module, independent of its
bytes in shared memory; after a failed wait, other threads run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.reference.memory import ReferenceFault
from tests.reference.operands import Execute, Operands, Read, step
from tests.reference.reader import Statement
from tests.reference.thread import Thread, Waiting

Combine = Callable[..., int]


@dataclass
class Barrier:
    """What PTX says an mbarrier holds."""

    expected: int
    pending: int
    bytes: int = 0
    phase: int = 0

    def change(self, arrivals: int = 0, dropped: int = 0, bytes_: int = 0) -> int:
        """Count, and begin the next phase where nothing is awaited; returns the state before."""
        state = self.phase << 32 | self.pending
        self.expected -= dropped
        self.pending -= arrivals
        self.bytes += bytes_
        if self.pending < 0:
            raise ReferenceFault("more arrivals than an mbarrier awaits")
        if self.pending == 0 and self.bytes == 0:
            self.phase, self.pending = self.phase + 1, self.expected
        return state


@dataclass
class Copies:
    """A thread's copies under way, by group; the last one is still open."""

    groups: list[list[Callable[[], None]]] = field(default_factory=lambda: [[]])

    def wait(self, left: int) -> None:
        """Finish all committed groups but the ``left`` most recent."""
        committed = self.groups[:-1]
        for group in committed[: max(0, len(committed) - left)]:
            for copy in group:
                copy()
            self.groups.remove(group)

    def finish(self) -> None:
        """Finish every copy."""
        self.groups.append([])
        self.wait(0)


def barrier_at(thread: Thread, address: int) -> Barrier:
    """The mbarrier at an address of shared memory."""
    memory, at = thread.memory_of("shared" if address < 0x0100_0000 else "", address)
    memory.check_alignment(at, 8)
    if at not in thread.block.barriers:
        raise ReferenceFault(f"no mbarrier at {at:#x}")
    found = thread.block.barriers[at]
    assert isinstance(found, Barrier)
    return found


class AsynchronousStatement:
    """One ``cp`` or ``mbarrier`` statement; ``address`` reads the address in an operand's brackets."""

    def __init__(
        self, operands: Operands, s: Statement, address: Callable[[str], Read], combine: Combine | None
    ) -> None:
        self.s, self.operands, self.address, self.combine = s, operands, address, combine

    def execute(self) -> Execute:
        s = self.s
        if s.opcode == "mbarrier":
            return self._mbarrier()
        if s.opcode == "cp" and s.modifiers[-1] == "commit_group":
            return step(lambda thread: None if "bulk" in s.modifiers else thread.copies.groups.append([]))
        if "wait_all" in s.modifiers:
            return step(lambda thread: thread.copies.finish())
        if "wait_group" in s.modifiers:
            count = self.operands.reader(s.operands[0], "u32")
            return step(lambda thread: None if "bulk" in s.modifiers else thread.copies.wait(count(thread)))
        if "mbarrier" in s.modifiers and "arrive" in s.modifiers:
            return self._arrive_for_copies()
        return self._bulk() if "bulk" in s.modifiers else self._small()

    def _arrive_for_copies(self) -> Execute:
        at = self.address(self.s.operands[0])

        def execute(thread: Thread) -> None:
            thread.copies.finish()
            if "noinc" in self.s.modifiers:
                barrier_at(thread, at(thread)).change(1)

        return step(execute)

    def _small(self) -> Execute:
        s = self.s
        to, from_, size = self.address(s.operands[0]), self.address(s.operands[1]), int(s.operands[2])
        more = s.operands[3:-1] if "L2::cache_hint" in s.modifiers else s.operands[3:]
        ignores = (
            bool(more) and self.operands.function.is_register(more[0]) and self.operands.function.width(more[0]) == 1
        )
        read = self.operands.reader(more[0], "pred" if ignores else "u32") if more else None

        def execute(thread: Thread) -> None:
            target, source, count = to(thread), from_(thread), size
            if read:
                count = (0 if read(thread) else size) if ignores else min(read(thread), size)
            thread.block.shared.check_alignment(target, size)
            if count:
                thread.block.memory.check_alignment(source, size)

            def copy() -> None:
                for i in range(size):
                    value = thread.block.memory.load(source + i, 1) if i < count else 0
                    thread.block.shared.store(target + i, 1, value)

            thread.copies.groups[-1].append(copy)

        return step(execute)

    def _bulk(self) -> Execute:
        s = self.s
        spaces = [m.split("::")[0] for m in s.modifiers if m.split("::")[0] in ("shared", "global")]
        to, from_ = self.address(s.operands[0]), self.address(s.operands[1])
        count = self.operands.reader(s.operands[2], "u32")
        barrier = self.address(s.operands[3]) if "bulk_group" not in s.modifiers else None
        name = s.modifiers[-1]
        size = int(name[-2:]) // 8 if self.combine else 1
        combine = self.combine or (lambda name, old, new: new)

        def execute(thread: Thread) -> None:
            (target, at), (source, first) = (
                thread.memory_of(space, read(thread)) for space, read in zip(spaces, (to, from_), strict=True)
            )
            for i in range(0, count(thread), size):
                old, new = target.load(at + i, size), source.load(first + i, size)
                target.store(at + i, size, combine(name, old, new) & (1 << 8 * size) - 1)
            if barrier:
                barrier_at(thread, barrier(thread)).change(bytes_=-count(thread))

        return step(execute)

    def _mbarrier(self) -> Execute:
        s, action = self.s, self.s.modifiers[0]
        if action == "pending_count":
            state, write = self.operands.reader(s.operands[1], "b64"), self.operands.writer(s.operands[0], "u32")
            return step(lambda thread: write(thread, state(thread) & 0xFFFFFFFF))
        if action.endswith("_wait"):
            return self._wait()
        result = action.startswith("arrive")
        at = self.address(s.operands[int(result)])
        write = self.operands.writer(s.operands[0] if result else "_", "b64")
        given = s.operands[1 + int(result) :]
        number = self.operands.reader(given[0], "u32") if given else None

        def execute(thread: Thread) -> None:
            place, value = at(thread), number(thread) if number else 1
            if action == "init":
                _, offset = thread.memory_of("shared" if place < 0x0100_0000 else "", place)
                thread.block.barriers[offset] = Barrier(value, value)
                return
            barrier = barrier_at(thread, place)
            if action in ("expect_tx", "complete_tx"):
                barrier.change(bytes_=value if action == "expect_tx" else -value)
            elif result:
                expects = "expect_tx" in s.modifiers
                arrivals = 1 if expects else value
                dropped = arrivals if action == "arrive_drop" else 0
                write(thread, barrier.change(arrivals, dropped, value if expects else 0))

        return step(execute)

    def _wait(self) -> Execute:
        s = self.s
        write, at = self.operands.writer(s.operands[0], "pred"), self.address(s.operands[1])
        parity = "parity" in s.modifiers
        read = self.operands.reader(s.operands[2], "u32" if parity else "b64")

        def execute(thread: Thread) -> None:
            phase = barrier_at(thread, at(thread)).phase
            passed = phase % 2 != read(thread) & 1 if parity else phase != read(thread) >> 32
            write(thread, int(passed))
            if not passed:
                thread.waiting = Waiting(s, lambda thread: None)

        return step(execute)


def counted(execute: Execute, barrier: Read, bytes_: int) -> Execute:
    """A statement, and so many bytes counted at an mbarrier (``st.async``, ``red.async`` on shared memory)."""

    def both(thread: Thread) -> None:
        execute(thread)
        barrier_at(thread, barrier(thread)).change(bytes_=-bytes_)

    return both


def let_waiting_threads_try_again(threads: list[Thread]) -> None:
    """Threads whose wait for an mbarrier failed go on."""
    for thread in threads:
        if thread.waiting and thread.waiting.kind == "mbarrier":
            thread.waiting = None
