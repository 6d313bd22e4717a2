"""One launch: arguments packed, the launch record filled, the driver called until the grid is done."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.ir.kernel import Kernel, Parameter
from warpreg.simt.faults import DeadlockError, ExecutionError, LaunchError, MemoryFault, RunawayError, TrapFault, place
from warpreg.simt.memory import Buffer, GlobalMemory
from warpreg.simt.memory_operations import LOCAL_WINDOW, SHARED_WINDOW
from warpreg.simt.native_kernel import STACK_ENTRIES, NativeKernel, Record
from warpreg.simt.recorder import Recorder
from warpreg.simt.state import (
    MAX_WARPS,
    SITE_BYTES,
    STACK_ENTRY_BYTES,
    Fault,
    SiteField,
    Slot,
    Status,
    Stop,
    Warp,
)
from warpreg.trace import Trace

MAX_INSTRUCTIONS = 100_000_000_000
"""Warp-instructions after which a launch counts as a runaway, unless the caller says otherwise."""

PAUSE = 20_000_000
"""Warp-instructions between two looks at Ctrl-C and progress; well under a second."""

SLICE = 200_000
"""Warp-instructions before the next warp of a thread block gets its turn."""

MAX_SHARED_BYTES = LOCAL_WINDOW - SHARED_WINDOW

Dimensions = tuple[int, int, int]
Progress = Callable[[float], None]


@dataclass(frozen=True, eq=False)
class Launch:
    """A finished launch.  ``block_visits[b]`` counts how often a warp ran basic block b; ``seconds`` is host time."""

    kernel: Kernel
    grid: Dimensions
    block: Dimensions
    arguments: tuple[Any, ...]
    warp_instructions: int
    block_visits: NDArray[np.uint64]
    seconds: float
    trace: Trace | None

    @property
    def warps(self) -> int:
        """Warps of the whole grid."""
        threads = self.block[0] * self.block[1] * self.block[2]
        return self.grid[0] * self.grid[1] * self.grid[2] * -(-threads // 32)


def dimensions(extent: int | Sequence[int], what: str) -> Dimensions:
    """Three positive extents.  Raises LaunchError naming ``what`` otherwise."""
    given = (extent,) if isinstance(extent, (int, np.integer)) else tuple(extent)
    if not 1 <= len(given) <= 3 or any(int(n) < 1 for n in given):
        raise LaunchError(f"{what}: expected one to three positive numbers, found {given}")
    x, y, z = (*(int(n) for n in given), 1, 1)[:3]
    return x, y, z


class LaunchRun:
    """The memory of one launch, kept alive while native code uses it."""

    def __init__(
        self,
        native: NativeKernel,
        memory: GlobalMemory,
        symbols: Mapping[str, int],
        grid: Dimensions,
        block: Dimensions,
        arguments: Sequence[Any],
        shared_bytes: int,
        record: Record,
        max_instructions: int,
    ) -> None:
        self.native, self.kernel, self.memory = native, native.kernel, memory
        self.grid, self.block, self.arguments = grid, block, tuple(arguments)
        self.max_instructions = max_instructions
        self.threads = block[0] * block[1] * block[2]
        self.warps = -(-self.threads // 32)
        self._check(shared_bytes)
        self.launch = np.zeros(Slot.COUNT, np.uint64)
        self.parameters = pack(self.kernel, self.arguments)
        self.visits = np.zeros(max(1, len(self.kernel.blocks)), np.uint64)
        image = native.image
        self.symbols = np.array([symbols[name] for name in image.symbols] or [0], np.uint64)
        self.sites = np.zeros((max(1, len(image.sites)), SITE_BYTES // 8), np.uint64)
        self.sites[: len(image.sites), SiteField.GUARDED // 8] = [guarded for _, guarded in image.sites]
        self.registers = _aligned(self.warps * image.register_bytes)
        self.warp_bytes = Warp.STACK + STACK_ENTRIES * STACK_ENTRY_BYTES
        self.warp_records = np.zeros((self.warps, self.warp_bytes // 4), np.uint32)
        self.shared = _aligned(self.shared_total(shared_bytes))
        self.local = _aligned(self.warps * 32 * self.local_bytes)
        self.buffers = memory.table()
        self._fill(shared_bytes)
        self._thread_indices()
        self.recorder = Recorder(native, record, self._header(), self.launch)

    @property
    def local_bytes(self) -> int:
        """Bytes of one thread's frame, a multiple of 16."""
        return -(-self.kernel.local_bytes // 16) * 16

    def shared_total(self, dynamic: int) -> int:
        """Shared memory of a block in bytes, static and dynamic."""
        return max(self.kernel.shared_bytes, self.kernel.dynamic_shared_offset + dynamic if dynamic else 0)

    def _check(self, shared_bytes: int) -> None:
        if self.threads > 32 * MAX_WARPS:
            raise LaunchError(f"kernel '{self.kernel.name}': a block has at most {32 * MAX_WARPS} threads, not {self.threads}")
        if shared_bytes < 0 or self.shared_total(shared_bytes) > MAX_SHARED_BYTES:
            raise LaunchError(f"kernel '{self.kernel.name}': {shared_bytes} bytes of dynamic shared memory are not possible")

    def _header(self) -> dict[str, Any]:
        return {"kernel": self.kernel.name, "grid": self.grid, "block": self.block, "blocks": len(self.kernel.blocks)}

    def _fill(self, dynamic: int) -> None:
        native, launch = self.native, self.launch
        launch[Slot.GLOBAL_BIAS] = np.array(self.memory.bias, np.int64).view(np.uint64)
        launch[Slot.SHARED_BYTES] = self.shared_total(dynamic)
        launch[Slot.DYNAMIC_SHARED] = dynamic
        launch[Slot.LOCAL_BYTES] = self.local_bytes
        launch[Slot.BUFFER_COUNT] = len(self.buffers)
        launch[Slot.WARP_COUNT] = self.warps
        launch[Slot.WARP_BYTES] = self.warp_bytes
        launch[Slot.REGISTER_BYTES] = native.image.register_bytes
        launch[Slot.NTID_X : Slot.NTID_Z + 1] = self.block
        launch[Slot.NCTAID_X : Slot.NCTAID_Z + 1] = self.grid
        launch[Slot.THREAD_BLOCKS] = self.grid[0] * self.grid[1] * self.grid[2]
        launch[Slot.SLICE] = SLICE
        for field, array in (
            (Slot.BUFFERS, self.buffers),
            (Slot.SHARED, self.shared),
            (Slot.LOCAL, self.local),
            (Slot.PARAMETERS, self.parameters),
            (Slot.SYMBOLS, self.symbols),
            (Slot.SITES, self.sites),
            (Slot.HELPERS, native.helpers),
            (Slot.BLOCKS, native.block_table),
            (Slot.VISITS, self.visits),
            (Slot.WARPS, self.warp_records),
            (Slot.REGISTERS, self.registers),
        ):
            launch[field] = array.ctypes.data

    def _thread_indices(self) -> None:
        x, y, _ = self.block
        thread = np.arange(self.warps * 32, dtype=np.uint32)
        index = np.stack([thread % x, thread // x % y, thread // (x * y)]).reshape(3, self.warps, 32)
        rows = self.registers.reshape(self.warps, -1)
        rows[:, : 3 * 128] = index.transpose(1, 0, 2).reshape(self.warps, 96).view(np.uint8)
        present = (thread < self.threads).reshape(self.warps, 32)
        masks = (present * (np.uint64(1) << np.arange(32, dtype=np.uint64))).sum(axis=1)
        self.warp_records[:, Warp.FIRST_MASK // 4] = masks

    def run(self, progress: Progress | None) -> Launch:
        """Run to the end.  Raises ExecutionError (and what derives from it); a partial recording is deleted then."""
        started = time.perf_counter()
        try:
            self._drive(progress)
        except BaseException:
            self.recorder.abandon()
            raise
        executed = int(self.launch[Slot.EXECUTED])
        trace = self.recorder.finish({"warp_instructions": executed})
        seconds = time.perf_counter() - started
        return Launch(self.kernel, self.grid, self.block, self.arguments, executed, self.visits, seconds, trace)

    def _drive(self, progress: Progress | None) -> None:
        run = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint64)(self.native.run)
        launch = self.launch
        while True:
            limit = self.max_instructions
            launch[Slot.PAUSE_AT] = min(int(launch[Slot.EXECUTED]) + PAUSE, limit)
            stop = Stop(run(launch.ctypes.data))
            if progress is not None:
                progress(int(launch[Slot.THREAD_BLOCK]) / int(launch[Slot.THREAD_BLOCKS]))
            if stop is Stop.FINISHED:
                return
            if stop is Stop.BUFFER_FULL:
                self.recorder.flush()
            elif stop is Stop.FAULT:
                raise self._fault()
            elif stop is Stop.DEADLOCK:
                raise self._deadlock()
            elif int(launch[Slot.EXECUTED]) >= limit:
                raise RunawayError(
                    f"kernel '{self.kernel.name}', block {self._block()}: more than {limit} warp-instructions; "
                    f"the warp was in block '{self._where(int(launch[Slot.WARP])).label}' of the kernel"
                )

    def _block(self) -> Dimensions:
        x, y, z = (int(n) for n in self.launch[Slot.CTAID_X : Slot.CTAID_Z + 1])
        return x, y, z

    def _thread(self, warp: int, lane: int) -> Dimensions:
        thread, (x, y, _) = warp * 32 + lane, self.block
        return thread % x, thread // x % y, thread // (x * y)

    def _where(self, warp: int) -> Any:
        return self.kernel.blocks[int(self.warp_records[warp, Warp.BLOCK // 4])]

    def _fault(self) -> ExecutionError:
        launch = self.launch
        fault, warp = Fault(int(launch[Slot.FAULT])), int(launch[Slot.WARP])
        if fault is Fault.STACK_OVERFLOW:
            return ExecutionError(
                f"kernel '{self.kernel.name}', block {self._block()}, warp {warp}: more than {STACK_ENTRIES} diverged "
                f"parts at block '{self._where(warp).label}'"
            )
        site = (int(launch[Slot.FAULT_SITE]) - self.sites.ctypes.data) // SITE_BYTES
        instruction = list(self.kernel.instructions())[self.native.image.sites[site][0]]
        thread = self._thread(warp, int(launch[Slot.FAULT_LANE]))
        where = place(self.kernel.name, self._block(), thread, instruction)
        if fault is Fault.TRAP:
            return TrapFault(f"{where}: the kernel gave up")
        address = int(launch[Slot.FAULT_ADDRESS])
        if fault is Fault.MISALIGNED:
            size = instruction.types[-1].bytes
            return MemoryFault(f"{where}: address {address:#x} is not a multiple of {size} bytes", address)
        return MemoryFault(f"{where}: address {address:#x} is out of bounds: {self._nearest(instruction, address)}", address)

    def _nearest(self, instruction: Any, address: int) -> str:
        spaces = {modifier.split("::")[0] for modifier in instruction.modifiers}
        if "shared" in spaces:
            return f"the block has {int(self.launch[Slot.SHARED_BYTES])} bytes of shared memory"
        if "local" in spaces:
            return f"the thread has {self.local_bytes} bytes of local memory"
        return self.memory.nearest(address)

    def _deadlock(self) -> DeadlockError:
        waiting = []
        for warp, row in enumerate(self.warp_records):
            if row[Warp.STATUS // 4] == Status.WAITING:
                waiting.append(f"warp {warp} waits at barrier {row[Warp.BARRIER // 4]} before block '{self._where(warp).label}'")
        return DeadlockError(f"kernel '{self.kernel.name}', block {self._block()}: barrier deadlock: {'; '.join(waiting)}")


def pack(kernel: Kernel, arguments: Sequence[Any]) -> NDArray[np.uint8]:
    """Arguments as bytes of constant bank 0.  Raises LaunchError naming the parameter that does not fit."""
    if len(arguments) != len(kernel.parameters):
        raise LaunchError(
            f"kernel '{kernel.name}': expected {len(kernel.parameters)} arguments, found {len(arguments)}"
        )
    bank = np.zeros(max(8, kernel.parameter_bytes), np.uint8)
    for parameter, argument in zip(kernel.parameters, arguments, strict=True):
        data = _argument_bytes(kernel, parameter, argument)
        bank[parameter.offset : parameter.offset + len(data)] = np.frombuffer(data, np.uint8)
    return bank


def _argument_bytes(kernel: Kernel, parameter: Parameter, argument: Any) -> bytes:
    where = f"kernel '{kernel.name}', parameter '{parameter.name}'"
    if isinstance(argument, Buffer):
        argument = argument.address
    elif isinstance(argument, (np.ndarray, np.void, bytes)) and parameter.bytes != parameter.type.bytes:
        data = argument if isinstance(argument, bytes) else argument.tobytes()
        if len(data) != parameter.bytes:
            raise LaunchError(f"{where}: expected {parameter.bytes} bytes, found {len(data)}")
        return data
    if isinstance(argument, (float, np.floating)):
        return _real_bytes(where, parameter, float(argument))
    if not isinstance(argument, (int, np.integer, np.bool_)):
        raise LaunchError(f"{where}: expected a number or a buffer, found {type(argument).__name__}")
    if parameter.type.is_float:
        return _real_bytes(where, parameter, float(argument))
    number, bits = int(argument), 8 * parameter.bytes
    if not -(1 << (bits - 1)) <= number < 1 << bits:
        raise LaunchError(f"{where}: {number} does not fit {bits} bits")
    return (number % (1 << bits)).to_bytes(parameter.bytes, "little")


def _real_bytes(where: str, parameter: Parameter, number: float) -> bytes:
    kinds: dict[int, type[np.floating[Any]]] = {2: np.float16, 4: np.float32, 8: np.float64}
    declared = parameter.type.name
    if not parameter.type.is_float and not declared.startswith("b"):
        raise LaunchError(f"{where}: expected an integer ({declared}), found {number}")
    return kinds[parameter.bytes](number).tobytes()


def _aligned(size: int) -> NDArray[np.uint8]:
    """Zeroed bytes that start at a multiple of 64; at least one vector long."""
    raw = np.zeros(max(size, 64) + 64, np.uint8)
    first = -raw.ctypes.data % 64
    return raw[first : first + max(size, 64)] if size >= 64 else raw[first : first + 64]
