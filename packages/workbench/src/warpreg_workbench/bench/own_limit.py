"""The limit of one workload on this host: the least time for what its instructions do, as compiled loops do the same.

A workload's instructions are counted by what they do to memory (`instruction_mix`).  Each kind has a unit cost, timed
by a small loop whose 32-lane registers are in memory and fit the first-level cache, as those of `executor_limit`:

- ``multiply_add``: that of `executor_limit`, for every instruction that accesses no memory: also branches, barriers,
  and accesses whose guard holds for no lane.
- ``row``: load 128 bytes and store them elsewhere, all in the first-level cache: one end is a register.  For loads and
  stores of contiguous lanes, or of one address; some lanes cost as much as all.
- ``load``, ``store``, ``atomic``: load 32 offsets and load, store or increment one word at each, within 1 KB of the
  first-level cache.  Loads and stores by the host's gather and scatter, and lane by lane: the faster one counts.
  Fewer lanes cost their share, but at least a row.
- ``read``, ``write``: what a row costs more if one end is a stream through as many bytes of memory as the workload
  touches, half of it for each line of 64 bytes.  For each line that a launch touches, once.

The limit is the sum.  It leaves out what the executor cannot avoid either: checks of addresses, recording, branches
whose direction the host does not foresee, and waiting for scattered lines and for results of the instruction before.
"""

from __future__ import annotations

import ctypes
import functools
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpreg.simt.llvm import object_code
from warpreg.simt.llvm import text as ir
from warpreg.simt.llvm.emitter import FULL, I32, I64, LANES, MASK, Code, Value, lanes_of
from warpreg_workbench.bench.executor_limit import REGISTER_BYTES
from warpreg_workbench.bench.instruction_mix import ATOMICS, LOADS, ROW, STORES, Mix

UNROLLED = 8
"""Operations per round: with one page for offsets, values, results and words, no two share the low bits of addresses,
which would make loads wait for stores."""
OFFSETS, VALUES, RESULTS, WORDS = range(0, 4 * UNROLLED * REGISTER_BYTES, UNROLLED * REGISTER_BYTES)
PAGE = 4 * UNROLLED * REGISTER_BYTES
OPERATIONS = {"row": 4_000_000, "load": 400_000, "store": 400_000, "atomic": 400_000}
STREAMED = 1_000_000
"""Rows of a stream, at least; whole passes."""

VARIANTS = {"load": ("load_at_once", "load_lanes"), "store": ("store_at_once", "store_lanes"), "atomic": ("atomic",)}


@dataclass(frozen=True)
class UnitCosts:
    """Nanoseconds of one operation, by its name in the docstring of the module."""

    multiply_add: float
    row: float
    load: float
    store: float
    atomic: float
    read: float
    write: float

    def seconds(self, mix: Mix) -> float:
        """The least time of a mix."""
        lanes = np.arange(LANES + 1) / LANES
        total = mix.others * self.multiply_add + mix.rows * self.row + mix.read * self.read + mix.written * self.write
        for action, cost in ((LOADS, self.load), (STORES, self.store), (ATOMICS, self.atomic)):
            total += float(mix.scattered[action] @ np.maximum(self.row, cost * lanes))
        return total / 1e9


def unit_costs(footprint: int, multiply_add: float) -> UnitCosts:
    """All loops, each measured once, with a stream through ``footprint`` bytes; ``multiply_add`` is given."""
    row = _nanoseconds("row", OPERATIONS["row"])
    scattered = {kind: min(_nanoseconds(name, OPERATIONS[kind]) for name in names) for kind, names in VARIANTS.items()}
    read, write = (max(0.0, _streamed(name, footprint) - row) / 2 for name in ("read", "write"))
    return UnitCosts(multiply_add=multiply_add, row=row, read=read, write=write, **scattered)


def _nanoseconds(name: str, operations: int) -> float:
    run, page = loop(name), _page()
    begin = time.perf_counter()
    run(page, page, operations // UNROLLED)
    return (time.perf_counter() - begin) / operations * 1e9


def _streamed(name: str, footprint: int) -> float:
    """Nanoseconds of a row."""
    step = UNROLLED * ROW
    rounds = max(1, -(-footprint // step))
    passes = -(-STREAMED // (rounds * UNROLLED))
    run, page, memory = loop(name), _page(), _memory(rounds * step)
    begin = time.perf_counter()
    for _ in range(passes):
        run(page, memory, rounds)
    return (time.perf_counter() - begin) / (passes * rounds * UNROLLED) * 1e9


def loops_module() -> str:
    """LLVM IR of the loops: ``name(page, memory, rounds)``."""
    module = ir.Module("own_limit")
    for name in ("row", "read", "write", *(name for names in VARIANTS.values() for name in names)):
        code = Code(module, name, ir.VoidType(), [I64, I64, I64])
        page, start, rounds = code.arguments
        left, memory = code.var(rounds), code.var(start)
        with code.loop():
            with code.if_(left.get() == 0):
                code.break_()
            left.set(left.get() - 1)
            for number in range(UNROLLED):
                _operation(code, name, page, memory.get(), number * REGISTER_BYTES)
            if name in ("read", "write"):
                memory.set(memory.get() + UNROLLED * ROW)
        code.ret()
    return str(module)


def _operation(code: Code, name: str, page: Value, memory: Value, place: int) -> None:
    """One operation on the registers at ``place``."""
    vector = lanes_of(I32)
    offsets, values, results, words = (page + (first + place) for first in (OFFSETS, VALUES, RESULTS, WORDS))
    if name == "row":
        results.store(words.load(vector, align=64), align=64)
    elif name == "read":
        results.store((memory + place).load(vector, align=64), align=64)
    elif name == "write":
        (memory + place).store(values.load(vector, align=64), align=64)
    elif name.endswith("_at_once"):
        _at_once(code, name, page + WORDS, offsets, values, results)
    else:
        for lane in range(0, REGISTER_BYTES, 4):
            word = page + WORDS + (offsets + lane).load(I32).zext(I64)
            if name == "load_lanes":
                (results + lane).store(word.load(I32))
            else:
                word.store(word.load(I32) + 1 if name == "atomic" else (values + lane).load(I32))


def _at_once(code: Code, name: str, words: Value, offsets: Value, values: Value, results: Value) -> None:
    """A gather or scatter of LLVM."""
    vector, byte = lanes_of(I32), ir.IntType(8)
    distances = offsets.load(vector, align=64).sext(lanes_of(I64))
    pointers = Value(code, code.builder.offset_pointers(words.llvm, distances.llvm, byte))
    align, lanes = code.const(I32, 4), code.const(I32, FULL).bitcast(MASK)
    if name == "load_at_once":
        arguments = [pointers, align, lanes, code.const(vector, 0)]
        results.store(code.intrinsic("llvm.masked.gather.v32i32.v32p0", vector, arguments), align=64)
    else:
        given = [values.load(vector, align=64), pointers, align, lanes]
        code.intrinsic("llvm.masked.scatter.v32i32.v32p0", ir.VoidType(), given)


def loop(name: str) -> Callable[[int, int, int], None]:
    """A compiled loop of `loops_module`."""
    return ctypes.CFUNCTYPE(None, *[ctypes.c_uint64] * 3)(_library().address(name))


@functools.cache
def _library() -> object_code.Library:
    return object_code.Library(object_code.object_code(loops_module(), optimize=True))


@functools.cache
def _page_bytes() -> NDArray[np.uint8]:
    return np.zeros(3 * PAGE, np.uint8)


def _page() -> int:
    """The address of a page whose offsets are random words of `WORDS`, each register with lanes of its own."""
    raw = _page_bytes()
    first = -raw.ctypes.data % PAGE
    words = UNROLLED * REGISTER_BYTES // 4
    raw[first : first + words * 4].view(np.uint32)[:] = 4 * np.random.default_rng(0).permutation(words)
    return int(raw.ctypes.data) + first


@functools.lru_cache(maxsize=1)
def _stream_bytes(size: int) -> NDArray[np.uint8]:
    return np.ones(size + ROW, np.uint8)


def _memory(size: int) -> int:
    """The address of ``size`` bytes at the begin of a line, which have been written."""
    address = int(_stream_bytes(size).ctypes.data)
    return address + -address % ROW
