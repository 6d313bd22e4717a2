"""One launch: pack the arguments, fill the launch record, call the driver until the grid is done."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.codegen.lower.address_layout import align
from warpreg.ir.address_space import WINDOW_BYTES
from warpreg.ir.kernel import RESERVED_SHARED_BYTES, Kernel
from warpreg.ir.work_observer import Work, reached
from warpreg.simt.block.native_records import MAX_WARPS, Slot, Stop
from warpreg.simt.kernel.native_kernel import Record
from warpreg.simt.launch import side_by_side
from warpreg.simt.launch.constant_bank import write_launch_words
from warpreg.simt.launch.fault_reports import Report
from warpreg.simt.launch.faults import LaunchError
from warpreg.simt.launch.host_services import Services
from warpreg.simt.launch.launch_memory import Dimensions, LaunchMemory, Shape
from warpreg.simt.launch.linked import LinkedKernel
from warpreg.simt.launch.recorder import Recorder
from warpreg.simt.launch.second_thread import Task
from warpreg.simt.memory.heap import Heap
from warpreg.simt.texture.objects import TextureTable
from warpreg.trace import Trace

MAX_INSTRUCTIONS = 100_000_000_000
"""Default limit of warp-instructions, after which a launch counts as a runaway."""

PAUSE_SECONDS = 0.1
"""Seconds of host time between checks for Ctrl-C and progress; no effect on results."""

FIRST_PAUSE, MIN_PAUSE, GREATEST_PAUSE = 1_000_000, 10_000, 100_000_000
"""Warp-instructions until the first check, and bounds of the adapted intervals."""

MAX_SHARED_BYTES = WINDOW_BYTES

SHARED_GRANULE = 128
"""Bytes in which shared memory is allocated on sm_80 and later (CUDA occupancy calculator): ptxas's vector loads may
reach past the last variable."""

MAX_LOCAL_BYTES = 512 * 1024
"""Maximum local memory of a thread (CUDA C++ Programming Guide, compute capabilities)."""

STACK_BYTES = 16 * 1024
"""Default stack of a thread in a kernel with recursive calls or ``alloca``."""

MAX_THREAD_BLOCKS = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Launch:
    """A finished launch.  ``block_visits[b]`` is the number of visits of basic block b by warps; ``seconds`` is host
    time, after which a second thread may still write the rest of the ``recording`` (`trace`); ``shared_bytes`` is the
    shared memory of a thread block, dynamic included.
    """

    kernel: Kernel
    grid: Dimensions
    block: Dimensions
    arguments: tuple[Any, ...]
    warp_instructions: int
    block_visits: NDArray[np.uint64]
    seconds: float
    recording: Trace | Task[Trace] | None
    shared_bytes: int = 0

    @property
    def trace(self) -> Trace | None:
        """The recording, once it is written.  Raises ExecutionError if the disk did not accept it."""
        return self.recording.result() if isinstance(self.recording, Task) else self.recording

    def expect_recorded(self) -> None:
        """Raise ExecutionError, once, if the disk has not accepted the recording by now."""
        if isinstance(self.recording, Task):
            self.recording.check()

    @property
    def warps(self) -> int:
        """Warps of the whole grid."""
        threads = self.block[0] * self.block[1] * self.block[2]
        return self.grid[0] * self.grid[1] * self.grid[2] * -(-threads // 32)


def dimensions(extent: int | Sequence[int], what: str) -> Dimensions:
    """Three positive extents.  Raises LaunchError that names ``what`` otherwise."""
    if type(extent) is int and extent >= 1:
        return extent, 1, 1
    given: tuple[Any, ...] = tuple(extent) if isinstance(extent, Sequence | np.ndarray) else (extent,)
    if not 1 <= len(given) <= 3 or not all(isinstance(n, int | np.integer) and n >= 1 for n in given):
        raise LaunchError(f"{what}: expected one to three positive integers, found {extent!r}")
    x, y, z = (*(int(n) for n in given), 1, 1)[:3]
    return x, y, z


class LaunchRun:
    """Memory of one launch, kept alive while native code uses it."""

    def __init__(
        self,
        linked: LinkedKernel,
        heap: Heap,
        textures: TextureTable,
        grid: Dimensions,
        block: Dimensions,
        arguments: Sequence[Any],
        shared_bytes: int,
        record: Record,
        max_instructions: int,
        stack_bytes: int = STACK_BYTES,
        workspace: int = 0,
    ) -> None:
        self._started = time.perf_counter()
        self._pause = FIRST_PAUSE
        self.linked, self.heap, self.texture_table = linked, heap, textures
        self.native, self.kernel, self.memory = linked.native, linked.native.kernel, heap.memory
        self.grid, self.block, self.arguments = grid, block, tuple(arguments)
        self.max_instructions = max_instructions
        self.stack_bytes = -(-stack_bytes // 16) * 16 if self.native.image.has_stack else 0
        self.threads = block[0] * block[1] * block[2]
        self.shared_bytes = self.shared_total(shared_bytes)
        self._check(shared_bytes)
        allocated = align(self.shared_bytes, SHARED_GRANULE) if self.kernel.machine_code else self.shared_bytes
        shape = Shape(block, allocated, shared_bytes, self.local_bytes, self.stack_base)
        self.own = LaunchMemory.take(self.native, shape)
        self.launch, self.warps, self.sites = self.own.launch, self.own.warps, self.own.sites
        self.shared, self.local = self.own.shared, self.own.local
        linked.packer.pack(self.memory, textures, self.arguments, self.own.parameters)
        if self.kernel.machine_code:
            write_launch_words(self.kernel, self.own.parameters, block, grid, self.local_bytes)
        if linked.copy is not None:
            self.memory.bytes_at(linked.copy.address, self.own.parameters.size)[:] = self.own.parameters
        self.buffers, self.textures = self.memory.table(), textures.table()
        self._fill()
        self.launch[Slot.ENVREG1], self.launch[Slot.ENVREG2] = divmod(workspace, 1 << 32)
        self.recorder = Recorder(self.native, record, self._header(), self.launch)

    @functools.cached_property
    def report(self) -> Report:
        """The messages of faults."""
        own = self.own
        return Report(
            self.native,
            self.memory,
            self.texture_table,
            self.block,
            self.local_bytes,
            self.launch,
            own.warp_records,
            own.sites,
        )

    @functools.cached_property
    def services(self) -> Services:
        """The services that warps request."""
        return Services(self.native, self.heap, self.report, self.launch, self.shared, self.local)

    @property
    def stack_base(self) -> int:
        """Offset of a thread's stack in its local memory, a multiple of 16."""
        return -(-self.kernel.local_bytes // 16) * 16

    @property
    def local_bytes(self) -> int:
        """Bytes of one thread's local memory, its stack included; a multiple of 16."""
        return self.stack_base + self.stack_bytes

    def shared_total(self, dynamic: int) -> int:
        """Shared memory of a thread block in bytes: static, dynamic, and the reserved part if the kernel uses it."""
        own = max(self.kernel.shared_bytes, self.kernel.dynamic_shared_offset + dynamic if dynamic else 0)
        return align(own, 16) + RESERVED_SHARED_BYTES if self.kernel.uses_reserved_shared else own

    def _check(self, shared_bytes: int) -> None:
        if self.threads > 32 * MAX_WARPS:
            raise LaunchError(
                f"kernel '{self.kernel.name}': a block has at most {32 * MAX_WARPS} threads, not {self.threads}"
            )
        if math.prod(self.grid) > MAX_THREAD_BLOCKS:
            raise LaunchError(
                f"kernel '{self.kernel.name}': a grid has at most {MAX_THREAD_BLOCKS} thread blocks, "
                f"not {math.prod(self.grid)}"
            )
        if self.kernel.address_bits == 32 and self.memory.end > 1 << 32:
            raise LaunchError(
                f"kernel '{self.kernel.name}': compiled for 32-bit addresses, but its buffers reach to address "
                f"{self.memory.end:#x}, past 4 GB"
            )
        if self.stack_bytes < 0:
            raise LaunchError(f"kernel '{self.kernel.name}': a stack of {self.stack_bytes} bytes is not possible")
        if self.max_instructions < 0:
            raise LaunchError(f"kernel '{self.kernel.name}': a limit of {self.max_instructions} warp-instructions")
        for size, limit, what in (
            (self.kernel.shared_bytes, MAX_SHARED_BYTES, "shared memory"),
            (self.local_bytes, MAX_LOCAL_BYTES, "local memory a thread"),
        ):
            if size > limit:
                raise LaunchError(
                    f"kernel '{self.kernel.name}': {size} bytes of {what} are not possible, at most {limit}"
                )
        if shared_bytes < 0 or self.shared_total(shared_bytes) > MAX_SHARED_BYTES:
            raise LaunchError(
                f"kernel '{self.kernel.name}': {shared_bytes} bytes of dynamic shared memory are not possible"
            )

    def _header(self) -> dict[str, Any]:
        return {"kernel": self.kernel.name, "grid": self.grid, "block": self.block, "blocks": len(self.kernel.blocks)}

    def _fill(self) -> None:
        """Fill the fields of the launch record that differ between launches."""
        launch = self.launch
        launch[Slot.GLOBAL_BIAS] = self.memory.bias % (1 << 64)
        launch[Slot.BUFFER_COUNT] = len(self.buffers)
        launch[Slot.CONSTANT_COUNT] = len(self.linked.constants)
        launch[Slot.NCTAID_X : Slot.NCTAID_Z + 1] = self.grid
        launch[Slot.TEXTURE_BYTES] = self.textures.nbytes
        launch[Slot.THREAD_BLOCKS] = math.prod(self.grid)
        launch[Slot.BUFFERS] = self.memory.table_at
        launch[Slot.CONSTANTS] = self.linked.constants_at
        launch[Slot.TEXTURES] = self.texture_table.table_at
        launch[Slot.SYMBOLS] = self.linked.symbols_at

    def run(self) -> Launch:
        """Run to the end.  Raises ExecutionError or an error derived from it, and then deletes the partial
        recording.
        """
        try:
            drive = side_by_side.drive if self.native.image.is_cooperative else LaunchRun._drive
            drive(self)
            executed, visits = int(self.launch[Slot.EXECUTED]), self.own.visits.copy()
            recording = self.recorder.finish({"warp_instructions": executed})
        except BaseException:
            self.recorder.abandon()
            raise
        finally:
            if self.native.serves:
                self.services.flush()
            self.own.give_back()
        seconds = time.perf_counter() - self._started
        return Launch(
            self.kernel,
            self.grid,
            self.block,
            self.arguments,
            executed,
            visits,
            seconds,
            recording,
            self.shared_bytes,
        )

    def _drive(self) -> None:
        while self.advance() is not Stop.FINISHED:
            self.report_progress(int(self.launch[Slot.THREAD_BLOCK]), int(self.launch[Slot.THREAD_BLOCKS]))

    def report_progress(self, done: int, total: int) -> None:
        """Report how many thread blocks are finished."""
        reached(Work(done, total, "thread blocks", self.kernel.name))

    def advance(self, until: int | None = None) -> Stop:
        """Continue the run and handle its events.  Returns FINISHED after the last thread block, YIELDED if its warps
        have ended their turns, PAUSED at a check for Ctrl-C and progress, or after ``until`` warp-instructions.
        """
        run, at = self.native.entry, self.own.address
        launch, limit = self.launch, self.max_instructions
        end = limit if until is None else min(until, limit)
        while True:
            launch[Slot.PAUSE_AT] = min(int(launch[Slot.EXECUTED]) + self._pause, end)
            started = time.perf_counter()
            stop = Stop(run(at))
            if stop is Stop.PAUSED:
                self._pause = _adapted(self._pause, time.perf_counter() - started)
            if stop in (Stop.FINISHED, Stop.YIELDED) and launch[Slot.EXECUTED] <= limit:
                return stop
            if stop is Stop.BUFFER_FULL:
                self.recorder.flush()
            elif stop is Stop.SERVICE:
                self.services.serve()
            elif stop is Stop.FAULT:
                raise self.report.fault()
            elif stop is Stop.DEADLOCK:
                raise self.report.deadlock()
            elif int(launch[Slot.EXECUTED]) >= limit:
                raise self.report.runaway(limit)
            if stop is Stop.PAUSED:
                return stop


def _adapted(pause: int, seconds: float) -> int:
    """Warp-instructions that take about `PAUSE_SECONDS`, given that ``pause`` took ``seconds``."""
    fitting = int(pause * PAUSE_SECONDS / max(seconds, 1e-4))
    return min(max(fitting, MIN_PAUSE), GREATEST_PAUSE)
