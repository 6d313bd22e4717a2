"""Messages of faults: kernel, block, thread and instruction, from the records of native code."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpreg.ir.address_space import LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.simt.block.native_records import BLOCK_BYTES, SITE_BYTES, STACK_ENTRIES, WARP_SYNC, Fault, Slot, Warp
from warpreg.simt.kernel.native_kernel import NativeKernel
from warpreg.simt.launch.faults import (
    DeadlockError,
    ExecutionError,
    MemoryFault,
    RunawayError,
    StackFault,
    TaintFault,
    TextureFault,
    TrapFault,
    place,
    triple,
)
from warpreg.simt.memory.arena import GlobalMemory
from warpreg.simt.texture.objects import TextureTable
from warpreg.simt.texture.state import GEOMETRIES, KINDS

TEXTURE_FAULTS = frozenset({Fault.UNKNOWN_HANDLE, Fault.WRONG_RESOURCE, Fault.WRONG_KIND})


@dataclass(frozen=True)
class Report:
    """State of a launch for messages: its record and those of its warps and memory instructions.

    ``extent`` is that of a thread block, ``local_bytes`` the local memory of a thread.
    """

    native: NativeKernel
    memory: GlobalMemory
    textures: TextureTable
    extent: tuple[int, int, int]
    local_bytes: int
    launch: NDArray[np.uint64]
    warp_records: NDArray[np.uint32]
    sites: NDArray[np.uint64]

    @property
    def kernel(self) -> Kernel:
        return self.native.kernel

    def fault(self) -> ExecutionError:
        """The fault in the launch record."""
        fault, warp = Fault(int(self.launch[Slot.FAULT])), int(self.launch[Slot.WARP])
        if fault is Fault.STACK_OVERFLOW:
            return ExecutionError(
                f"{self._kernel_and_block()}, warp {warp}: more than {STACK_ENTRIES} diverged parts "
                f"at block '{self._label(warp)}'"
            )
        if fault is Fault.STRANDED:
            return self._stranded(warp)
        site = (int(self.launch[Slot.FAULT_SITE]) - self.sites.ctypes.data) // SITE_BYTES
        instruction = list(self.kernel.instructions())[self.native.image.sites[site][0]]
        thread = self.thread(warp, int(self.launch[Slot.FAULT_LANE]))
        where = place(self.kernel.name, self.thread_block(), thread, instruction)
        if fault is Fault.TRAP:
            return TrapFault(f"{where}: the kernel gave up")
        if fault is Fault.DIVIDED:
            return ExecutionError(f"{where}: the whole warp must execute it, this thread does not")
        if fault is Fault.UNANSWERED:
            return DeadlockError(f"{where}: deadlock: the mbarrier's phase is never completed")
        address = int(self.launch[Slot.FAULT_ADDRESS])
        if fault is Fault.TAINTED and self.native.image.taints:
            return TaintFault(f"{where}: {self.native.image.taints.described(address)}")
        if fault in TEXTURE_FAULTS:
            return TextureFault(f"{where}: {self._expected(instruction)}, found {self.textures.described(address)}")
        if fault is Fault.OUTSIDE_SURFACE:
            return MemoryFault(f"{where}: the coordinate is outside {self.textures.described(address)}", 0)
        if fault is Fault.BRANCH_INDEX:
            return ExecutionError(f"{where}: index {address} is beyond the table of targets")
        if fault is Fault.MISALIGNED:
            from warpreg.simt.memory.memory_instructions import alignment  # not imported without a fault

            size = alignment(instruction)
            return MemoryFault(f"{where}: address {address:#x} is not a multiple of {size} bytes", address)
        if self._is_beyond_stack(instruction, address):
            size = self.local_bytes - int(self.launch[Slot.STACK_BASE])
            return StackFault(f"{where}: stack overflow: the thread's stack has {size} bytes", address)
        if "const" in instruction.modifiers:
            found = self.memory.nearest(address)
            return MemoryFault(f"{where}: out-of-bounds constant index: address {address:#x} is {found}", address)
        nearest = self._nearest(instruction, address)
        return MemoryFault(f"{where}: address {address:#x} is out of bounds: {nearest}", address)

    def _expected(self, instruction: Instruction) -> str:
        kinds = dict(zip(GEOMETRIES, KINDS, strict=True))
        shape = next((f"{kinds[m]} " for m in instruction.modifiers if m in kinds), "")
        what = "surface" if instruction.opcode.startswith("su") else "texture"
        return f"expected a {shape}{what}"

    def deadlock(self) -> DeadlockError:
        """An error that names the waiting warps and their positions."""
        waiting = []
        for warp, row in enumerate(self.warp_records):
            at = [n for n in range(16) if int(self.launch[Slot.WAITS + n]) >> warp & 1]
            if at:
                address = int(row[Warp.BARRIER_BLOCK // 4 :][:2].view(np.uint64)[0])
                block = self.kernel.blocks[(address - int(self.launch[Slot.BLOCKS])) // BLOCK_BYTES]
                location = block.instructions[-1].location
                where = f" ({location})" if location else ""
                waiting.append(f"warp {warp} waits at barrier {at[0]}{where}")
        return DeadlockError(f"{self._kernel_and_block()}: barrier deadlock: {'; '.join(waiting)}")

    def _stranded(self, warp: int) -> DeadlockError:
        """An error for lanes that wait for others of their warp which never come."""
        row = self.warp_records[warp]
        waiting = row[Warp.WAITING // 4 :][: WARP_SYNC + 1]
        lanes = int(np.bitwise_or.reduce(waiting))
        lane = (lanes & -lanes).bit_length() - 1
        instruction = self.kernel.blocks[int(row[Warp.PLACES // 4 + lane])].instructions[-1]
        where = place(self.kernel.name, self.thread_block(), self.thread(warp, lane), instruction)
        return DeadlockError(f"{where}: deadlock: other threads of its warp, for which it waits here, never come")

    def grid_deadlock(self, waiting: int, count: int) -> DeadlockError:
        """An error for thread blocks that wait for the whole grid and cannot continue."""
        return DeadlockError(
            f"kernel '{self.kernel.name}': deadlock: {waiting} of {count} thread blocks wait for the grid, and none "
            f"goes on"
        )

    def runaway(self, limit: int) -> RunawayError:
        """An error for a launch that has executed more than ``limit`` warp-instructions."""
        label = self._label(int(self.launch[Slot.WARP]))
        return RunawayError(
            f"{self._kernel_and_block()}: more than {limit} warp-instructions; "
            f"the warp was in block '{label}' of the kernel"
        )

    def _kernel_and_block(self) -> str:
        return f"kernel '{self.kernel.name}', block {triple(self.thread_block())}"

    def thread_block(self) -> tuple[int, int, int]:
        x, y, z = (int(n) for n in self.launch[Slot.CTAID_X : Slot.CTAID_Z + 1])
        return x, y, z

    def thread(self, warp: int, lane: int) -> tuple[int, int, int]:
        thread, (x, y, _) = warp * 32 + lane, self.extent
        return thread % x, thread // x % y, thread // (x * y)

    def _label(self, warp: int) -> str:
        return self.kernel.blocks[int(self.warp_records[warp, Warp.BLOCK // 4])].label

    def _is_beyond_stack(self, instruction: Instruction, address: int) -> bool:
        if not self.native.image.has_stack:
            return False
        if "local" in instruction.modifiers:
            return address >= self.local_bytes
        return LOCAL_WINDOW + self.local_bytes <= address < LOCAL_WINDOW + WINDOW_BYTES

    def _nearest(self, instruction: Instruction, address: int) -> str:
        spaces = {modifier.split("::")[0] for modifier in instruction.modifiers}
        generic = not spaces & {"global", "const"}
        if {"shared", "global"} <= spaces:
            spaces -= {"global" if address < WINDOW_BYTES else "shared"}
        if "shared" in spaces or (generic and SHARED_WINDOW <= address < SHARED_WINDOW + WINDOW_BYTES):
            return f"the block has {int(self.launch[Slot.SHARED_BYTES])} bytes of shared memory"
        if "local" in spaces or (generic and LOCAL_WINDOW <= address < LOCAL_WINDOW + WINDOW_BYTES):
            return f"the thread has {self.local_bytes} bytes of local memory"
        return self.memory.nearest(address)
