"""A device that runs every launch on the executor and on a GPU, from the same memory, and compares what they leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from warpreg import ptx, simt
from warpreg.checks.gpu.differences import Difference, difference
from warpreg.checks.gpu.driver import GpuError
from warpreg.checks.gpu.launch_request import copied_variables, launch_request
from warpreg.checks.gpu.process import Gpu
from warpreg.checks.gpu.request import Reply, Request
from warpreg.codegen import CompileOptions
from warpreg.ir.address_space import GLOBAL_BASE, TEXTURE_WINDOW
from warpreg.ir.kernel import Kernel
from warpreg.ir.module import Module
from warpreg.simt.launch.device import AS_COMPILED
from warpreg.simt.launch.linked import LinkedKernel
from warpreg.simt.memory.arena import Extent
from warpreg.simt.texture.state import RECORD_BYTES, Field

if TYPE_CHECKING:
    from warpreg.simt.block.tracked import Tracked

POINTER_BITS = 64


@dataclass(frozen=True, slots=True)
class LaunchComparison:
    """A launch on both: ``differences`` of the buffers, or the reason why there are none in ``error``.

    ``registers`` is what NVIDIA's compiler chose, ``demand`` the executor's kernel.  ``unoptimized`` elements also
    differ if that compiler does not optimize; it may fuse a product with a sum where PTX names no rounding.
    """

    kernel: str
    demand: int
    registers: int = 0
    differences: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()
    error: str = ""
    unoptimized: int = 0

    @property
    def elements(self) -> int:
        return sum(one.elements for one in self.differences)

    @property
    def differing(self) -> int:
        return sum(one.differing for one in self.differences)

    @property
    def absolute(self) -> float:
        """The largest difference of two numbers."""
        return max((one.absolute for one in self.differences), default=0.0)

    @property
    def relative(self) -> float:
        """The largest relative difference."""
        return max((one.relative for one in self.differences), default=0.0)


class PairedDevice(simt.Device):
    """As `simt.Device`, with the GPU beside it.  ``comparisons`` has one entry per launch.

    After a launch, memory is what the GPU left if ``keeps_gpu``, so that results of the host code are those of the
    GPU; each launch starts from equal memory in any case.
    """

    def __init__(
        self,
        gpu: Gpu,
        module: Module | str,
        options: CompileOptions | None = AS_COMPILED,
        keeps_gpu: bool = False,
        **rest: Any,
    ) -> None:
        parsed = ptx.parse(module) if isinstance(module, str) else module
        base = gpu.base if parsed.address_size == POINTER_BITS else GLOBAL_BASE
        super().__init__(parsed, options, memory_base=base, **rest)
        self.gpu, self.keeps_gpu = gpu, keeps_gpu
        self.text = module if isinstance(module, str) else ptx.write(module)
        self.comparisons: list[LaunchComparison] = []
        self._dtypes: dict[int, np.dtype[Any]] = {}
        self._left = b""
        self._installed: set[str] = set()

    def install(self, kernel: Kernel, taints: Tracked | None = None) -> None:
        super().install(kernel, taints)
        self._installed.add(kernel.name)

    def upload(self, array: NDArray[Any], name: str = "") -> simt.Buffer:
        return self._typed(super().upload(array, name))

    def zeros(self, shape: int | Sequence[int], dtype: DTypeLike, name: str = "") -> simt.Buffer:
        return self._typed(super().zeros(shape, dtype, name))

    def on_gpu(self, buffer: simt.Buffer) -> NDArray[Any]:
        """What the last launch left in a buffer on the GPU.  Raises GpuError if it did not run there."""
        if self.comparisons[-1].error:
            raise GpuError(self.comparisons[-1].error)
        return self._gpu_bytes(self._left, buffer.address, buffer.bytes).view(buffer.dtype).reshape(buffer.shape)

    def _gpu_bytes(self, memory: bytes, address: int, size: int) -> NDArray[np.uint8]:
        first = address - self.memory.base
        return np.frombuffer(memory, np.uint8)[first : first + size]

    def _typed(self, buffer: simt.Buffer) -> simt.Buffer:
        self._dtypes[buffer.address] = buffer.dtype
        return buffer

    def launch(
        self,
        kernel: str,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        *arguments: Any,
        shared_bytes: int = 0,
        max_instructions: int | None = None,
    ) -> simt.Launch:
        linked = self._linked.get(kernel) or self._link(kernel)
        buffers = [*self.memory.buffers]
        obstacle = self._obstacle(linked.native.kernel.name, arguments)
        request = None if obstacle else self._request(linked, grid, block, arguments, shared_bytes)
        done = super().launch(
            kernel, grid, block, *arguments, shared_bytes=shared_bytes, max_instructions=max_instructions
        )
        reply = Reply(error=obstacle) if request is None else self.gpu.run(request)
        self._left = reply.memory
        compared = self._compared(done, buffers, reply)
        if request is not None and compared.differing:
            again = self._compared(done, buffers, self.gpu.run(replace(request, level=0)))
            compared = replace(compared, unoptimized=again.differing if not again.error else compared.differing)
        self.comparisons.append(compared)
        if self.keeps_gpu and not reply.error:
            self.memory.bytes_at(self.memory.base, len(reply.memory))[:] = np.frombuffer(reply.memory, np.uint8)
        return done

    def _obstacle(self, kernel: str, arguments: Sequence[Any]) -> str:
        """Why the GPU cannot run a launch, or nothing."""
        if kernel in self._installed:
            return "not run: an installed kernel is not the module's"
        if self.module.address_size != POINTER_BITS:
            return "not run: a GPU has no 32-bit addresses"
        if self.gpu.base != self.memory.base:
            return "not run: the GPU's memory moved after a fault of an earlier launch"
        if self.textures.references:
            return "not run: the driver offers no texture references"
        if any(isinstance(a, simt.Sampler) for a in arguments):
            return "not run: samplers are part of a texture on the GPU"
        inner = [v for a in arguments if isinstance(a, simt.Structure) for _, v in a.values()]
        if any(isinstance(v, simt.Texture | simt.Surface | simt.Sampler) for v in inner):
            return "not run: textures in structures are not compared"
        if any(isinstance(a, simt.Texture) and self._has_levels(a) for a in arguments):
            return "not run: textures with levels of detail are not compared"
        return ""

    def _has_levels(self, texture: simt.Texture) -> bool:
        record = self.textures.table()[(texture.handle - TEXTURE_WINDOW) // RECORD_BYTES]
        return bool(record[Field.LEVELS : Field.LEVELS + 4].any())

    def _request(
        self,
        linked: LinkedKernel,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        arguments: Sequence[Any],
        shared_bytes: int,
    ) -> Request:
        stack_bytes = self.stack_bytes if linked.native.image.has_stack else 0
        return launch_request(self, linked.packer, grid, block, arguments, shared_bytes, self.text, stack_bytes)

    def _compared(self, done: simt.Launch, buffers: Sequence[Extent], reply: Reply) -> LaunchComparison:
        name, demand = done.kernel.name, done.kernel.register_demand
        if reply.error:
            return LaunchComparison(name, demand, reply.registers, notes=reply.notes, error=reply.error)
        hidden = self._unseen(reply.hidden)
        differences = []
        for extent in buffers:
            if extent.name in hidden or extent.bytes == 0:
                continue
            dtype = self._dtypes.get(extent.address, np.dtype(np.uint8))
            executor = self.memory.bytes_at(extent.address, extent.bytes).view(dtype)
            gpu = self._gpu_bytes(reply.memory, extent.address, extent.bytes).view(dtype)
            differences.append(difference(extent.name, executor, gpu))
        return LaunchComparison(name, demand, reply.registers, tuple(differences), reply.notes)

    def _unseen(self, hidden: Sequence[str]) -> set[str]:
        """Names of buffers that the GPU does not have: the executor's own, and variables that were not copied."""
        copied = {name for name, _, _ in copied_variables(self.module, self.variables.buffers)} - set(hidden)
        own = {b.name for b in self.memory.buffers if b.address in self._own_addresses()}
        return own | {name for name in self.variables.buffers if name not in copied}

    def _own_addresses(self) -> set[int]:
        own = [*self._parameter_copies.values(), *([self._grid_workspace] if self._grid_workspace else [])]
        return {buffer.address for buffer in own}
