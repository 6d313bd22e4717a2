"""Host services of a kernel, executed while the warp waits: print, heap allocation, failed assertions."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from warpreg.ir.address_space import HIGH_SHARED_WINDOW, LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES
from warpreg.ir.instruction import Instruction
from warpreg.simt.block.native_records import BLOCK_BYTES, BlockField, SiteField, Slot
from warpreg.simt.kernel.native_kernel import NativeKernel
from warpreg.simt.launch.fault_reports import Report
from warpreg.simt.launch.faults import AssertionFault, ExecutionError, MemoryFault, place
from warpreg.simt.launch.printf import formatted
from warpreg.simt.memory.heap import Heap

NO_FORMAT = 0xFFFFFFFF
"""Return value of ``vprintf`` for a null format: -1."""

LONGEST_TEXT = 1 << 20
"""Limit of a string in bytes, and of the output that is buffered before it is written."""


class Services:
    """Serves one launch.  ``shared`` and ``local`` are its memories as bytes; ``local_bytes`` the bytes of a thread."""

    def __init__(
        self,
        native: NativeKernel,
        heap: Heap,
        report: Report,
        launch: NDArray[np.uint64],
        shared: NDArray[np.uint8],
        local: NDArray[np.uint8],
    ) -> None:
        self.native, self.heap, self.report, self.launch = native, heap, report, launch
        self.memory = heap.memory
        self.shared, self.local = shared, local
        self.shared_window = HIGH_SHARED_WINDOW if native.kernel.machine_code >= "sm_90" else SHARED_WINDOW
        self.table = self.memory.table()
        self._output: list[str] = []
        self._pending = 0
        self._instruction = Instruction("ret", (), ())

    def serve(self) -> None:
        """Execute the service that the running warp requests, and return the result to it.  Raises ExecutionError."""
        block = self.native.kernel.blocks[int(self.launch[Slot.SERVICE_BLOCK])]
        self._instruction = block.instructions[-1]
        lanes = int(self.launch[Slot.SERVICE_LANES])
        area = self.launch[Slot.SERVICE : Slot.SERVICE + 160].reshape(5, 32)
        action = getattr(self, f"_{self._instruction.opcode}")
        for lane in (n for n in range(32) if lanes >> n & 1):
            result = action(lane, *(int(word) for word in area[: len(self._instruction.sources), lane]))
            area[0, lane] = 0 if result is None else result
        if self._instruction.has_result:
            self._resume(block.index, lanes)

    def flush(self) -> None:
        """Write the buffered output."""
        text, self._output, self._pending = "".join(self._output), [], 0
        if text:
            sys.stdout.write(text)
            sys.stdout.flush()

    def _resume(self, block: int, lanes: int) -> None:
        """Write the results of the lanes by calling the resume function of the block."""
        row = self.native.block_table[block * BLOCK_BYTES :][BlockField.RESUME : BlockField.RESUME + 8]
        function = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint32)(
            int(row.view(np.uint64)[0])
        )
        registers = int(self.launch[Slot.REGISTERS]) + int(self.launch[Slot.WARP] * self.launch[Slot.REGISTER_BYTES])
        function(self.launch.ctypes.data, registers, lanes)

    # The services, each for one lane.

    def _vprintf(self, lane: int, template: int, arguments: int) -> int:
        if template == 0:
            return NO_FORMAT

        def words(offset: int, size: int) -> bytes:
            return self._bytes(lane, arguments + offset, size)

        text, count = formatted(self._text(lane, template), words, lambda address: self._text(lane, address))
        self._output.append(text)
        self._pending += len(text)
        if self._pending > LONGEST_TEXT:
            self.flush()
        return count

    def _assertfail(self, lane: int, message: int, file: int, line: int, function: int, size: int) -> None:
        texts = (self._text(lane, address) if address else "?" for address in (file, function, message))
        source, name, condition = texts
        raise AssertionFault(f"{self._where(lane)}: {source}:{line}: {name}: assertion '{condition}' failed")

    def _malloc(self, lane: int, size: int) -> int:
        address = self.heap.allocate(size)
        self._remap()
        return address

    def _free(self, lane: int, address: int) -> None:
        if address and not self.heap.release(address):
            raise MemoryFault(
                f"{self._where(lane)}: {address:#x} is no memory that malloc gave and free has not", address
            )
        self._remap()

    def _badcall(self, lane: int, address: int) -> None:
        raise ExecutionError(f"{self._where(lane)}: {address:#x} is no function that may be called here")

    def _remap(self) -> None:
        """Update the buffer table of native code, and invalidate the buffers cached by memory instructions."""
        self.table = self.memory.table()
        self.launch[Slot.GLOBAL_BIAS] = np.array(self.memory.bias, np.int64).view(np.uint64)
        self.launch[Slot.BUFFERS] = self.table.ctypes.data
        self.launch[Slot.BUFFER_COUNT] = len(self.table)
        self.report.sites[:, SiteField.FIRST // 8 : SiteField.SPAN // 8 + 1] = 0

    # Memory as a thread sees it.

    def _text(self, lane: int, address: int) -> str:
        return b"".join(self._until_zero(lane, address)).decode("latin-1")

    def _until_zero(self, lane: int, address: int) -> Iterator[bytes]:
        for offset in range(LONGEST_TEXT):
            byte = self._bytes(lane, address + offset, 1)
            if byte == b"\0":
                return
            yield byte

    def _bytes(self, lane: int, address: int, size: int) -> bytes:
        """Bytes at a generic address.  Raises MemoryFault if it is out of bounds."""
        content: NDArray[np.uint8] | None
        if 0 <= address - self.shared_window < WINDOW_BYTES:
            content, first = self.shared, address - self.shared_window
        elif 0 <= address - LOCAL_WINDOW < WINDOW_BYTES:
            each, thread = self.report.local_bytes, int(self.launch[Slot.WARP]) * 32 + lane
            content, first = self.local[thread * each : (thread + 1) * each], address - LOCAL_WINDOW
        else:
            content, first = self._global(address)
        if content is None or first + size > len(content):
            raise MemoryFault(
                f"{self._where(lane)}: address {address:#x} is out of bounds: {self.memory.nearest(address)}", address
            )
        return content[first : first + size].tobytes()

    def _global(self, address: int) -> tuple[NDArray[np.uint8] | None, int]:
        row = int(np.searchsorted(self.table[:, 0], np.uint64(address), side="right")) - 1
        if row < 0:
            return None, 0
        first, end = (int(bound) for bound in self.table[row])
        return self.memory.bytes_at(first, end - first), address - first

    def _where(self, lane: int) -> str:
        warp = int(self.launch[Slot.WARP])
        kernel = self.native.kernel.name
        return place(kernel, self.report.thread_block(), self.report.thread(warp, lane), self._instruction)
