"""Execute a kernel thread by thread.

Blocks run in linear order.  In a block, each thread runs alone, in order of its number, until it stops at an
instruction that needs others:

* ``shfl.sync``, ``vote.sync``, ``match.sync``, ``redux.sync`` and ``elect.sync`` wait until every lane that the member
  mask names, and that has not exited, stops at the same statement; then all of them continue.  A shuffle from another
  lane returns the lane's own value (undefined in PTX).
* ``bar.warp.sync`` does the same.
* ``activemask`` waits until no lane of the warp can continue; the lanes that stop at the same statement see each other.
  Tests use it only where all threads of a warp reconverge.
* ``bar`` and ``barrier`` wait until all threads of the block that have not exited have arrived, or, with a thread
  count, until that many have, counted in whole warps.

If a module reads ``%envreg1``, blocks may wait for each other, and if it has ``ld.acquire``, warps: they take turns,
with a bounded number of statements per thread and turn.

The order between threads is therefore valid for data-race-free programs only: threads of a warp run in lane order
between two such points.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from tests.reference.asynchronous import Copies, let_waiting_threads_try_again
from tests.reference.calls import STACK_BYTES, Host, return_from_function
from tests.reference.compiled import CompiledProgram
from tests.reference.memory import FIRST_GLOBAL, ReferenceFault, Region, Space
from tests.reference.number import from_float
from tests.reference.reader import Variable, read
from tests.reference.thread import Block, Thread
from tests.reference.warp import resolve_warp

TURN = 100
"""Statements of a thread before others go on, where blocks wait for each other."""
RESERVED = 1024
"""Bytes of shared memory behind a block's own that ``%reserved_smem_offset_1`` names the start of."""
WORKSPACE = 64
"""Bytes of a grid's workspace, which its first word says; the second word is the barrier's."""

Triple = tuple[int, int, int]


@dataclass
class Buffer:
    """Global memory of a kernel: its address and its bytes."""

    address: int
    data: bytearray


class Reference:
    """A module and the global memory its kernels share."""

    def __init__(self, text: str) -> None:
        self.program = read(text)
        self.memory = Space("global")
        self._next = FIRST_GLOBAL
        places = {}
        owned = (v for f in self.program.functions.values() for v in f.variables.values())
        variables = [*self.program.variables.values(), *owned]
        for variable in variables:
            if variable.space in ("global", "const"):
                buffer = self.buffer(variable.initial or bytes(variable.bytes))
                places[variable.name] = buffer.address
        self.compiled = CompiledProgram(self.program, places)
        self.host = Host()
        for variable in variables:
            for at, name in variable.references:
                address = self.compiled.places.addresses[name].to_bytes(variable.bytes_of_element, "little")
                self.memory.write(places[variable.name] + at, address)

    def buffer(self, content: bytes) -> Buffer:
        """A new buffer, aligned to 256 bytes and away from the others."""
        made = Buffer(self._next, bytearray(content))
        self.memory.regions.append(Region(made.address, made.data))
        self._next += (len(content) // 256 + 2) * 256
        return made

    def launch(
        self,
        name: str,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        arguments: Sequence[Buffer | int | float | bytes],
        shared_bytes: int = 0,
        max_steps: int = 20_000_000,
        counts: Counter[str] | None = None,
    ) -> int:
        """Run a kernel; ``arguments`` are packed by the parameters' types.

        Returns the thread-instructions executed, whether their guards held or not; ``counts`` has them by opcode.
        """
        kernel = self.compiled.functions[name]
        pairs = zip(kernel.function.parameters, arguments, strict=True)
        given = {variable.name: bytearray(_packed(variable, argument)) for variable, argument in pairs}
        extent, shape = _triple(grid), _triple(block)
        code = [statement for function in self.program.functions.values() for statement in function.code]
        cooperative = any("%envreg1" in statement.operands for statement in code)
        polls = any(statement.opcode == "ld" and "acquire" in statement.modifiers for statement in code)
        reserved = RESERVED if any("%reserved_smem_offset_1" in s.operands for s in code) else 0
        workspace = self.buffer(WORKSPACE.to_bytes(4, "little").ljust(WORKSPACE, b"\0")) if cooperative else None
        running: list[Iterator[int]] = []
        steps = 0
        for z, y, x in product(range(extent[2]), range(extent[1]), range(extent[0])):
            own = -(-(self.compiled.places.dynamic_shared + shared_bytes) // 16) * 16 if reserved else None
            size = self.compiled.places.dynamic_shared + shared_bytes if own is None else own + reserved
            shared = Space("shared", [Region(0, bytearray(size))])
            place = Block((x, y, z), extent, shape, shared, self.memory, self.host, shared_bytes)
            threads = [Thread(place, n, STACK_BYTES) for n in range(shape[0] * shape[1] * shape[2])]
            for thread in threads:
                thread.copies = Copies()
                thread.frames.append(kernel.frame({n: bytearray(b) for n, b in given.items()}))
            place.reserved_shared = own or 0
            if workspace is None:
                steps += sum(_run_block(threads, max_steps - steps, counts, TURN if polls else None))
            else:
                place.workspace = workspace.address
                running.append(_run_block(threads, max_steps, counts, TURN))
        while running:
            turns = [(block, next(block, None)) for block in running]
            steps += sum(done or 0 for _, done in turns)
            running = [block for block, done in turns if done is not None]
            if steps > max_steps:
                raise ReferenceFault("too many steps")
        return steps


def _run_block(
    threads: list[Thread], max_steps: int, counts: Counter[str] | None, turn: int | None = None
) -> Iterator[int]:
    """Run a block; yields the statements executed, with ``turn`` after every round of its threads, else at its end."""
    warps = [threads[i : i + 32] for i in range(0, len(threads), 32)]
    arrivals: dict[int, set[int]] = {}
    steps = 0
    while not all(t.finished for t in threads):
        if turn is not None and steps:
            yield steps
            steps = 0
        progress = 0
        let_waiting_threads_try_again(threads)
        for warp in warps:
            while True:
                done = sum(_run(thread, max_steps - steps, arrivals, counts, turn) for thread in warp)
                steps += done
                progress += done
                if not resolve_warp(warp) or (turn and done):
                    break
                progress += 1
        if _release_barriers(threads, arrivals):
            continue
        if not progress:
            stuck = next(t for t in threads if t.waiting)
            raise ReferenceFault(
                f"deadlock: thread {stuck.number} waits at {stuck.waiting and stuck.waiting.statement}"
            )
    yield steps


def _run(
    thread: Thread,
    max_steps: int,
    arrivals: dict[int, set[int]],
    counts: Counter[str] | None,
    turn: int | None = None,
) -> int:
    """Run a thread until it stops, or for a turn; the statements executed."""
    steps = 0
    while thread.frames and not thread.is_waiting and steps != turn:
        frame = thread.frames[-1]
        if frame.pc >= len(frame.function.steps):
            return_from_function(thread)
            continue
        if counts is not None:
            counts[frame.function.function.code[frame.pc].opcode] += 1
        try:
            frame.function.steps[frame.pc](thread)
        except Exception as error:
            statement = frame.function.function.code[frame.pc]
            raise ReferenceFault(f"thread {thread.number} at {statement}: {error!r}") from error
        steps += 1
        if steps > max_steps:
            raise ReferenceFault("too many steps")
        waiting = thread.waiting
        if waiting and "arrive" in waiting.statement.modifiers:
            arrivals.setdefault(waiting.key[0], set()).add(thread.warp)
            thread.waiting = None
            waiting.resume(thread)
    return steps


def _release_barriers(threads: list[Thread], arrivals: dict[int, set[int]]) -> bool:
    """Let the threads of each complete barrier go on; whether there was one."""
    at: dict[int, list[Thread]] = {}
    for thread in threads:
        if thread.waiting and thread.waiting.kind in ("bar", "barrier"):
            at.setdefault(thread.waiting.key[0], []).append(thread)
    alive = sum(not t.finished for t in threads)
    released = False
    for number, waiting in at.items():
        counts = [t.waiting.key[1] for t in waiting if t.waiting]
        arrived = {t.warp for t in waiting} | arrivals.get(number, set())
        complete = len(arrived) * 32 >= counts[0] if counts[0] else len(waiting) == alive
        if complete:
            _release(waiting)
            arrivals.pop(number, None)
            released = True
    return released


def _release(waiting: list[Thread]) -> None:
    flags = [bool(t.waiting.key[2]) for t in waiting if t.waiting]
    results = {"popc": sum(flags), "and": int(all(flags)), "or": int(any(flags))}
    for thread in waiting:
        stopped, thread.waiting = thread.waiting, None
        assert stopped is not None
        operation = next((m for m in stopped.statement.modifiers if m in results), "")
        stopped.resume(thread, results.get(operation, 0))


def _packed(variable: Variable, argument: Buffer | int | float | bytes) -> bytes:
    if isinstance(argument, bytes):
        return argument.ljust(variable.bytes, b"\0")
    if isinstance(argument, Buffer):
        argument = argument.address
    if isinstance(argument, float):
        argument = from_float(argument, variable.bytes * 8)
    return (argument & ((1 << (8 * variable.bytes)) - 1)).to_bytes(variable.bytes, "little")


def _triple(sizes: int | Sequence[int]) -> Triple:
    values = (sizes,) if isinstance(sizes, int) else tuple(sizes)
    x, y, z = (*values, 1, 1)[:3]
    return x, y, z
