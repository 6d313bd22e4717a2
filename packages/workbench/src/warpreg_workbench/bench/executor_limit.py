"""The limit of the executor on this host: 32-lane fused multiply-adds on registers in memory, in a compiled loop.

Each multiply-add loads two registers of 128 bytes and stores a third one.  No register is both read and written, so
none waits for another, and all fit the first-level cache.  The loop has no other branch, keeps no lanes and records
nothing.
"""

from __future__ import annotations

import ctypes
import functools
import time
from collections.abc import Callable

import numpy as np

from warpreg.simt.llvm import object_code
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import I64, LANES, Code, Value, lanes_of

FLOAT = ir.FloatType()
REGISTER_BYTES = 4 * LANES
UNROLLED = 16
"""Multiply-adds per round of the loop: two registers read and one written by each, 6 KB in total."""
ROUNDS = 1_000_000
"""Together about as many multiply-adds as a workload has warp-instructions."""
NAME = "limit"


def limit_mwi_s() -> float:
    """Million multiply-adds of 32 lanes per second, measured once."""
    run, _, registers = _loaded()
    begin = time.perf_counter()
    run(ctypes.c_uint64(registers.ctypes.data + -registers.ctypes.data % 64), ctypes.c_uint64(ROUNDS))
    return UNROLLED * ROUNDS / (time.perf_counter() - begin) / 1e6


def limit_module() -> str:
    """LLVM IR of ``limit(registers, rounds)``."""
    module = ir.Module(NAME)
    code = Code(module, NAME, ir.VoidType(), [I64, I64])
    registers, rounds = code.arguments
    vector = lanes_of(FLOAT)
    factor = (registers + 3 * UNROLLED * REGISTER_BYTES).load(vector, align=64)
    left = code.var(rounds)
    with code.loop():
        with code.if_(left.get() == 0):
            code.break_()
        left.set(left.get() - 1)
        for number in range(UNROLLED):
            first, second, target = (registers + (number + part * UNROLLED) * REGISTER_BYTES for part in range(3))
            values: list[Value] = [first.load(vector, align=64), factor, second.load(vector, align=64)]
            target.store(code.intrinsic("llvm.fma.v32f32", vector, values), align=64)
    code.ret()
    return str(module)


@functools.cache
def _loaded() -> tuple[Callable[..., None], object_code.Library, np.ndarray[tuple[int], np.dtype[np.uint8]]]:
    """The compiled loop, what keeps it loaded, and memory for its registers and the factor."""
    library = object_code.Library(object_code.object_code(limit_module(), optimize=True))
    run = ctypes.CFUNCTYPE(None, ctypes.c_uint64, ctypes.c_uint64)(library.address(NAME))
    return run, library, np.zeros((3 * UNROLLED + 1) * REGISTER_BYTES + 64, np.uint8)
