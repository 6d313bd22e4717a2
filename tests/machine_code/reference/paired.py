"""A device that runs every launch twice from the same memory: by the interpreter, then natively."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tests.machine_code.reference import text
from tests.machine_code.reference.elementary import elementary
from tests.machine_code.reference.interpreter import Interpreter, TooLong
from tests.machine_code.reference.state import LOCAL_BYTES, LOCAL_WINDOW, SHARED_WINDOW, Bytes
from tests.machine_code.reference.state import Launch as Interpreted
from tests.reference.textures import Image, ReferenceTexture

from warpreg import ptx, simt
from warpreg.codegen import CompileOptions
from warpreg.ir.module import Module
from warpreg.machine_code import cubin
from warpreg.machine_code.assembler import MachineCode
from warpreg.simt.launch.device import AS_COMPILED
from warpreg.simt.launch.launch import dimensions

RESERVED_SHARED = 1024
LAUNCH_WORDS = 0x160
"""Bytes of constant bank 0 below the parameters, at least."""
LITERALS, USER, ADDRESSES = 2, 3, 4
"""Constant banks: literals of a kernel, variables of the module, addresses of variables."""


@dataclass(frozen=True)
class Difference:
    """Bytes of a buffer that differ after a launch, and the first of them."""

    kernel: str
    buffer: str
    bytes: int
    first: int
    interpreted: int
    native: int


class Paired(simt.Device):
    """As `simt.Device`; ``differences`` are what its launches left unlike the interpreter.

    ``steps`` are the instructions of threads that it interpreted.  Launches that need more than ``budget`` together
    run natively only; ``compared`` counts the others.  ``order`` is the seed of the order of parted lanes.
    """

    def __init__(
        self,
        module: Module,
        listed: str,
        binary: bytes,
        options: CompileOptions | None = AS_COMPILED,
        budget: int = 50_000_000,
        order: int = 0,
        **rest: Any,
    ) -> None:
        super().__init__(module, options, **rest)
        self.budget, self.compared, self.order = budget, 0, order
        self.functions = text.read(listed)
        self.records = cubin.read(binary)
        self.differences: list[Difference] = []
        self.steps = 0
        self.images: dict[int, tuple[int, ReferenceTexture]] = {}
        """Textures by handle, and the addresses of their texels."""

    @classmethod
    def assembled(cls, source: str | Module, architecture: str, **rest: Any) -> Paired:
        """The module in the code of ``ptxas``."""
        module = ptx.parse(source) if isinstance(source, str) else source
        assembler = MachineCode.of(architecture)
        binary, listed = assembler.files(ptx.write(module))
        return cls(module, listed, binary, CompileOptions(assembler=assembler), **rest)

    def texture(self, source: Any, /, kind: Any = "2d", **sampling: Any) -> simt.Texture:
        first, *smaller = [source] if isinstance(source, np.ndarray | simt.Buffer) else source
        buffer = self._buffer(first)
        made = super().texture([buffer, *smaller] if smaller else buffer, kind, **sampling)
        address = sampling.get("address", "clamp")
        x, y, z = (address,) * 3 if isinstance(address, str) else (*address, address[-1], address[-1])[:3]
        image = Image(bytearray(), buffer.shape, buffer.dtype, kind)
        normalized = sampling.get("normalized", False) or kind.startswith("cube")
        texture = ReferenceTexture(
            image, (x, y, z), sampling.get("filter", "point"), normalized, sampling.get("read", "element")
        )
        self.images[made.handle & 0xFFFFFFFF] = buffer.address, texture
        return made

    def _current(self, launch: Interpreted, address: int, texture: ReferenceTexture) -> ReferenceTexture:
        """A texture with the texels that are in memory."""
        image = texture.image
        first = address - launch.memory.base
        count = int(np.prod(image.shape)) * image.dtype.itemsize
        return replace(texture, image=replace(image, data=launch.memory.data[first : first + count]))

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
        native = linked.native.kernel
        extents = [*self.memory.buffers]
        last = max([p.offset + p.bytes for p in native.parameters], default=LAUNCH_WORDS)
        bank = np.zeros(-(-last // 8) * 8, np.uint8)
        linked.packer.pack(self.memory, self.textures, arguments, bank)
        base = self.memory.base
        content = bytearray(self.memory.bytes_at(base, self.memory.end - base).tobytes())
        launch = Interpreted(
            dimensions(grid, "grid"), dimensions(block, "block"), Bytes("global memory", base, content), {},
            native.shared_bytes + shared_bytes + RESERVED_SHARED,
        )  # fmt: skip
        launch.textures = {handle: self._current(launch, *known) for handle, known in self.images.items()}
        launch.constants = self._constants(native.name, bank, launch)
        is_whole = self.steps < self.budget and self._interpret(native.name, launch)
        done = super().launch(
            kernel, grid, block, *arguments, shared_bytes=shared_bytes, max_instructions=max_instructions
        )
        for extent in extents if is_whole else ():
            found = np.frombuffer(content, np.uint8)[extent.address - base :][: extent.bytes]
            wanted = self.memory.bytes_at(extent.address, extent.bytes)
            unlike = np.flatnonzero(found != wanted)
            if unlike.size:
                at = int(unlike[0])
                one = Difference(native.name, extent.name, unlike.size, at, int(found[at]), int(wanted[at]))
                self.differences.append(one)
        return done

    def _interpret(self, kernel: str, launch: Interpreted) -> bool:
        """Whether the launch ended within the budget."""
        try:
            Interpreter(self.functions[kernel], elementary, self.order).run(launch, self.budget - self.steps)
            self.compared += 1
        except TooLong:
            return False
        finally:
            self.steps += launch.steps
        return True

    def _constants(self, kernel: str, bank: np.ndarray, launch: Interpreted) -> dict[int, bytes]:
        """The constant banks of a launch."""
        words = bank.view(np.uint32)
        words[0:3], words[3:6] = launch.block, launch.grid
        words[6:8] = SHARED_WINDOW & 0xFFFFFFFF, SHARED_WINDOW >> 32
        words[8:10] = LOCAL_WINDOW & 0xFFFFFFFF, LOCAL_WINDOW >> 32
        words[10] = LOCAL_BYTES
        found = {0: bank.tobytes(), LITERALS: self.records.contents.get(f".nv.constant2.{kernel}", b"")}
        user = bytearray(self.records.contents.get(".nv.constant3", b""))
        for symbol in self.records.symbols.get(".nv.constant3", []):
            if symbol.bytes:
                user[symbol.offset : symbol.offset + symbol.bytes] = self._bytes_of(symbol.name)[: symbol.bytes]
        addresses = bytearray(self.records.contents.get(".nv.constant4", b""))
        for offset, one in self.records.relocated.get(".nv.constant4", {}).items():
            address = self.variable(one.symbol).address + one.addend
            addresses[offset : offset + 8] = address.to_bytes(8, "little")
        return found | {USER: bytes(user), ADDRESSES: bytes(addresses)}

    def _bytes_of(self, name: str) -> bytes:
        return bytes(self.variable(name).download().view(np.uint8).tobytes())
