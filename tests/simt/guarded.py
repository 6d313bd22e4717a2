"""Launches between guard pages, in a separate process.

``python -m tests.simt.guarded low|high SEED|unchecked COUNT`` replaces the arrays that native code uses (registers,
warp records, shared and local memory, parameters, sites, visits, recording buffers, global buffers) by arrays that
begin directly after a guard page (``low``) or end directly before one (``high``).  It makes random accesses of every
width and kind, many of them out of bounds, and runs random programs.  An access to a guard page kills the process.
Bytes after a buffer that may only be read are checked afterwards.  Prints the numbers of launches that ended and that
faulted.
"""

from __future__ import annotations

import ctypes
import mmap
import random
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.differential.comparing import run_on_device
from tests.fuzz.trial import RECORDS
from tests.reference.generator import generate

from warpreg.codegen import CompileOptions
from warpreg.ir.address_space import GLOBAL_BASE
from warpreg.simt import Device, MemoryFault
from warpreg.simt.block.native_records import Slot
from warpreg.simt.kernel import native_kernel
from warpreg.simt.launch import launch, launch_memory, recorder
from warpreg.simt.launch.device import AS_COMPILED
from warpreg.simt.launch.launch_memory import LONGEST_ROW
from warpreg.simt.memory import arena as memory
from warpreg.simt.memory import huge_pages

PAGE = mmap.PAGESIZE
MAPPED: list[mmap.mmap] = []
LIBC = ctypes.CDLL(None, use_errno=True)
FORBIDDEN = 0


def protect(address: int, size: int, how: int) -> None:
    if LIBC.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), how):
        raise OSError(ctypes.get_errno(), "mprotect")


def between_pages(size: int, at_end: bool) -> NDArray[np.uint8]:
    """Zeroed bytes right behind a forbidden page, or (up to 64-byte alignment) right before one."""
    room = -(-max(size, 1) // PAGE) * PAGE
    region = mmap.mmap(-1, room + 2 * PAGE)
    MAPPED.append(region)
    whole = np.frombuffer(region, np.uint8)
    protect(whole.ctypes.data, PAGE, FORBIDDEN)
    protect(whole.ctypes.data + PAGE + room, PAGE, FORBIDDEN)
    first = PAGE + ((room - size) // 64 * 64 if at_end else 0)
    return whole[first : first + size]


class GuardedNumpy:
    """NumPy for the modules that hand memory to native code."""

    def __init__(self, at_end: bool) -> None:
        self._at_end = at_end

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def zeros(self, shape: Any, dtype: Any = float) -> NDArray[Any]:
        extent = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
        size = int(np.prod(extent)) * np.dtype(dtype).itemsize
        return between_pages(size, self._at_end).view(dtype).reshape(extent)

    empty = zeros


def guard(at_end: bool) -> None:
    """From here on, launches of this process work on guarded memory."""
    shim = GuardedNumpy(at_end)
    for module in (launch, launch_memory, huge_pages, recorder, native_kernel):
        module.__dict__["np"] = shim

    def aligned(size: int) -> NDArray[np.uint8]:
        return between_pages(size + LONGEST_ROW, at_end)[:size]

    launch_memory._aligned = aligned
    memory.ALIGNMENT = PAGE
    huge_pages.LEAST_BYTES = 1 << 62
    launch.LaunchRun.run = closed(launch.LaunchRun.run)  # type: ignore[method-assign]


def closed(run: Any) -> Any:
    """A launch's run in which the pages of global memory without a buffer are forbidden."""

    def guarded_run(launched: launch.LaunchRun, *arguments: Any) -> launch.Launch:
        arena, buffers = launched.memory._arena.content, launched.memory.buffers
        for page in set(range(arena.size // PAGE)) - {page for buffer in buffers for page in pages(buffer)}:
            protect(arena.ctypes.data + page * PAGE, PAGE, FORBIDDEN)
        try:
            return run(launched, *arguments)
        finally:
            for buffer in buffers:
                end = buffer.address - GLOBAL_BASE + buffer.bytes
                assert not arena[end : -(-end // PAGE) * PAGE].any(), f"bytes behind '{buffer.name}' were written"

    return guarded_run


def pages(buffer: memory.Extent) -> range:
    first = buffer.address - GLOBAL_BASE
    return range(first // PAGE, -(-(first + max(1, buffer.bytes)) // PAGE))


WORDS = 960
"""32-bit elements of a buffer: it ends LONGEST_ROW bytes before its page does, which is how far a read may go on."""

VALUES = {"u8": "%h{}", "u16": "%h{}", "u32": "%r{}", "u64": "%rd{}"}
ATOMICS = ("add.u32", "add.u64", "add.f32", "exch.b64", "max.s32", "cas.b32")
ACCESS = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 where, .param .align 16 .b8 table[40])
{{
.reg .b16 %h<9>; .reg .b32 %r<9>, %o; .reg .f32 %f<9>; .reg .b64 %rd<9>, %a, %t; .reg .pred %p;
.shared .align 16 .b8 tile[3840];
.local .align 16 .b8 own[80];
ld.param.u64 %rd1, [where];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 16;
add.u64 %rd1, %rd1, %rd2;
ld.global.u64 %t, [%rd1];
ld.global.u32 %r2, [%rd1+8];
setp.ne.u32 %p, %r2, 0;
st.shared.u8 [tile], %h1;
st.local.u8 [own], %h1;
{base}
add.u64 %a, %a, %t;
cvt.u32.u64 %o, %a;
{access}
ret;
}}
"""
BASES = {
    "global": "ld.param.u64 %a, [out];", "shared": "mov.u64 %a, tile;", "local": "mov.u64 %a, own;",
    "param": "mov.u64 %a, table;", "": "ld.param.u64 %a, [out];",
    "generic shared": "cvta.shared.u64 %a, tile;", "generic local": "cvta.local.u64 %a, own;",
}  # fmt: skip
SIZES = {"global": 4 * WORDS, "": 4 * WORDS, "param": 40, "local": 80, "generic local": 80}


def access(rng: random.Random, base: str) -> str:
    """A random load, store or atomic of the state space; guarded or not."""
    space = "" if base.startswith("generic") or not base else f".{base}"
    address = "[%o]" if base in ("shared", "local") else "[%a]"
    offset = rng.choice((0, 0, 4, 16, -8, 3840, 3836, 64))
    address = address.replace("]", f"{offset:+d}]") if offset else address
    at = rng.choice(("", "@%p "))
    kind = rng.choice(("ld", "ld", "st", "st", "atom") if base not in ("param", "local", "generic local") else ("ld",))
    if kind == "ld" and base in ("local", "generic local") and rng.random() < 0.5:
        kind = "st"
    if kind == "atom":
        operation = rng.choice(ATOMICS)
        target = {"u32": "%r3", "s32": "%r3", "b32": "%r3", "f32": "%f3", "u64": "%rd3", "b64": "%rd3"}[operation[-3:]]
        more = f", {target}" if operation.startswith("cas") else ""
        return f"{at}atom{space}.{operation} {target}, {address}, {target}{more};"
    element = rng.choice(list(VALUES))
    count = rng.choice((1, 1, 2, 4)) if element != "u64" else rng.choice((1, 2))
    registers = ", ".join(VALUES[element].format(3 + number) for number in range(count))
    values = registers if count == 1 else "{" + registers + "}"
    vector = f".v{count}" if count > 1 else ""
    operands = f"{values}, {address}" if kind == "ld" else f"{address}, {values}"
    return f"{at}{kind}{space}{vector}.{element} {operands};"


def offsets(rng: random.Random, size: int) -> NDArray[np.uint64]:
    """A table of 32 lanes: a byte offset, and whether the lane's guard holds; of the shapes that the executor tells
    apart, and around the edges of the memory."""
    edge = rng.choice((0, 0, size, size - 4, size - 128, size - 256, -4, -128, 1 << 31, 1 << 32, -(1 << 40), size // 2))
    step = rng.choice((0, 1, 2, 4, 8, 16, -4, 12))
    lanes = [edge + step * lane for lane in range(32)]
    if rng.random() < 0.4:
        near = (edge, 0, 4, 16 * rng.randrange(5), size - 8)
        lanes = [rng.choice((*near, rng.randrange(-64, size + 64))) for _ in lanes]
    mask = rng.choice((0xFFFFFFFF, rng.getrandbits(32), 1 << rng.randrange(32)))
    rows = [(offset % (1 << 64), mask >> lane & 1) for lane, offset in enumerate(lanes)]
    return np.array(rows, np.uint64)


def accesses(rng: random.Random, count: int, tries: int = 12) -> tuple[int, int]:
    """Launches that ended and that faulted."""
    ended = faulted = 0
    for _ in range(count):
        base = rng.choice(list(BASES))
        text = ACCESS.format(base=BASES[base], access=access(rng, base))
        device = Device(text, record=rng.choice(RECORDS))
        native = device.native("k")
        for _ in range(tries):
            again = Device(text, record=device.record)
            again._kernels["k"] = native
            out = again.zeros(WORDS, np.uint32, "out")
            where = again.upload(offsets(rng, SIZES.get(base, 3840)), "where")
            try:
                again.launch("k", 1, rng.choice((32, 32, 7)), out, where, bytes(40))
                ended += 1
            except MemoryFault:
                faulted += 1
    return ended, faulted


def programs(rng: random.Random, count: int) -> None:
    """Random programs, which stay inside their memory, compiled or not."""
    for _ in range(count):
        case = generate(rng.getrandbits(20), statements=8)
        options = rng.choice((AS_COMPILED, None, CompileOptions(max_registers=24)))
        run_on_device(case, Device(case.text, options, rng.choice(RECORDS)))


def believe_everything_is_inside() -> None:
    """Take away the bounds checks, to see that the guard pages do their work."""
    launch.LaunchRun._fill = _with_endless_memory(launch.LaunchRun._fill)  # type: ignore[method-assign]


def _with_endless_memory(fill: Any) -> Any:
    def filled(run: Any, *arguments: Any) -> None:
        fill(run, *arguments)
        run.buffers = np.array([[0, (1 << 63) - 1]], np.uint64)
        run.launch[Slot.BUFFERS], run.launch[Slot.BUFFER_COUNT] = run.buffers.ctypes.data, 1
        run.launch[Slot.SHARED_BYTES] = 1 << 30

    return filled


def main() -> None:
    at_end, unchecked, count = sys.argv[1] == "high", sys.argv[2] == "unchecked", int(sys.argv[3])
    rng = random.Random(sys.argv[2])
    guard(at_end)
    if unchecked:
        believe_everything_is_inside()
    programs(rng, count // 4)
    print(*accesses(rng, count))


if __name__ == "__main__":
    main()
