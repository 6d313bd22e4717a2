"""What a launch on a device of the executor is for the GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from warpreg import simt
from warpreg.checks.gpu.request import Request
from warpreg.checks.gpu.textures import described
from warpreg.ir.kernel import Kernel
from warpreg.ir.module import AddressByte, GenericAddress, Module
from warpreg.ir.operands import Symbol
from warpreg.simt.launch.arguments import Packer
from warpreg.simt.launch.launch import dimensions
from warpreg.simt.memory.arena import Buffer


def launch_request(
    device: simt.Device,
    packer: Packer,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    arguments: Sequence[Any],
    shared_bytes: int,
    ptx: str = "",
    stack_bytes: int = 0,
) -> Request:
    """A launch of the packer's kernel from the device's memory as it is.  Raises LaunchError for a wrong argument."""
    kernel: Kernel = packer.kernel
    bank = np.zeros(max([p.offset + p.bytes for p in kernel.parameters], default=0), np.uint8)
    packer.pack(device.memory, device.textures, arguments, bank)
    content, memory = bank.tobytes(), device.memory
    return Request(
        ptx=ptx,
        kernel=kernel.name,
        grid=dimensions(grid, "grid"),
        block=dimensions(block, "block"),
        shared_bytes=shared_bytes,
        arguments=tuple(content[p.offset : p.offset + p.bytes] for p in kernel.parameters),
        memory=memory.bytes_at(memory.base, memory.end - memory.base).tobytes(),
        variables=tuple(
            (variable, buffer.address - memory.base, size)
            for variable, buffer, size in copied_variables(device.module, device.variables.buffers)
        ),
        objects=described(arguments, device.module.function(kernel.name)),
        is_cooperative=kernel.is_cooperative,
        stack_bytes=stack_bytes,
    )


def copied_variables(module: Module, buffers: dict[str, Buffer]) -> list[tuple[str, Buffer, int]]:
    """Module variables but those that hold addresses of others, which the driver sets: name, buffer, bytes."""
    return [
        (v.name, buffer, min(buffer.bytes, v.bytes))
        for v in module.static_variables
        if (buffer := buffers.get(v.unique_name)) is not None
        if v.bytes and v.unique_name == v.name and not _holds_address(v.initializer)
    ]


def _holds_address(initializer: Any) -> bool:
    if isinstance(initializer, tuple):
        return any(map(_holds_address, initializer))
    return isinstance(initializer, Symbol | GenericAddress | AddressByte)
