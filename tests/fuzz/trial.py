"""One mutant, run as far as possible: parsed, built, compiled, executed.  Any error but a `WarpregError` is a
defect.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from enum import IntEnum

import numpy as np

from warpreg import codegen, ptx
from warpreg.codegen import CompileOptions
from warpreg.ir.errors import WarpregError
from warpreg.ir.module import Function, Module
from warpreg.simt import Device, ExecutionError, Record

KERNELS = 2
"""Kernels of a mutant that are run."""

INSTRUCTIONS = 20_000
"""Warp-instructions of a launch."""

EXECUTED_SHARE = 0.45
"""Of the kernels that compile; making native code of them is most of a campaign's time."""

ELEMENTS = 512
BUDGETS = (None, None, 16, 24, 40)
LAUNCHES = ((1, 32), (2, 33), (1, 64), ((2, 2, 1), (8, 4, 1)))
RECORDS = (Record(), Record(), Record(path=True), Record(path=True, addresses=True, widths=True))


class Stage(IntEnum):
    """How far a mutant got."""

    READ = 0
    PARSED = 1
    COMPILED = 2
    EXECUTED = 3


def attempt(text: str, seed: int) -> Stage:
    """How far ``text`` gets.  ``seed`` chooses launch, options and contents of buffers.

    Raises whatever but a WarpregError comes out, which is a defect.
    """
    try:
        module = ptx.parse(text)
    except WarpregError:
        return Stage.READ
    rng = random.Random(seed)
    stages = [_run(module, kernel, rng) for kernel in module.kernels[:KERNELS]]
    return max([Stage.PARSED, *stages])


def _run(module: Module, kernel: Function, rng: random.Random) -> Stage:
    reached = Stage.PARSED
    try:
        built = codegen.build_kernel(module, kernel.name)
        compiled = built
        if rng.random() < 0.9:
            compiled = codegen.compile(built, CompileOptions(max_registers=rng.choice(BUDGETS)))
        reached = Stage.COMPILED
        if rng.random() > EXECUTED_SHARE:
            return reached
        device = Device(module, record=rng.choice(RECORDS), max_instructions=INSTRUCTIONS)
        device.install(compiled)
        grid, block = rng.choice(LAUNCHES)
        arguments = _arguments(device, kernel, rng)
        device.launch(kernel.name, grid, block, *arguments, shared_bytes=rng.choice((0, 256)))
    except ExecutionError:
        return Stage.EXECUTED
    except WarpregError:
        return reached
    return Stage.EXECUTED


def _arguments(device: Device, kernel: Function, rng: random.Random) -> Sequence[object]:
    found: list[object] = []
    for parameter in kernel.parameters:
        if parameter.bytes != parameter.type.bytes:
            found.append(bytes(parameter.bytes))
        elif parameter.type.is_float:
            found.append(rng.choice((0.0, 1.0, -2.5)))
        elif parameter.bytes == 8 or (parameter.bytes == 4 and device.module.address_size == 32 and rng.random() < 0.5):
            content = np.arange(ELEMENTS, dtype=np.uint32) * rng.choice((0, 1, 0x01010101))
            found.append(device.upload(content))
        else:
            found.append(rng.choice((0, 1, 5, 32, 100)))
    return found
