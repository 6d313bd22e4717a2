"""Export recorded runs as traces for Accel-Sim and `warpreg.sass.reader`: tracer version 5, sm_70.

One line per instruction.  The mask of a line is the active lanes; for a guarded memory instruction, the lanes that
executed it; for a guarded branch or exit, the lanes that took it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpreg.ir.kernel import Block, Kernel
from warpreg.sass.errors import SassTraceError
from warpreg.sass.export.lines import BlockLines, Line, UnitOf, binary_version, block_lines, leaves
from warpreg.sass.export.records import Records
from warpreg.sass.isa.opcodes import find
from warpreg.trace import Trace, visits
from warpreg.trace.files import whole

TRACER_VERSION = 5
SHARED_BASE, LOCAL_BASE = 0x7F0000000000, 0x7F0001000000
"""Generic addresses of the shared and local memory windows in the header."""

HEADER = """\
-kernel name = {name}
-kernel id = {number}
-grid dim = ({grid[0]},{grid[1]},{grid[2]})
-block dim = ({block[0]},{block[1]},{block[2]})
-shmem = {shared}
-nregs = {registers}
-binary version = {binary}
-cuda stream id = 0
-shmem base_addr = {shared_base:#018x}
-local mem base_addr = {local_base:#018x}
-nvbit version = none
-accelsim tracer version = {tracer}
-enable lineinfo = 0

#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] \
[mem_addresses] immediate

"""

Extent = tuple[int, int, int]
Warps = dict[int, list[tuple[int, int, list[str]]]]
"""The visits of each warp: block, mask, and the lines of its memory instructions."""

NO_BLOCK = -1


@dataclass(frozen=True, eq=False)
class ExportedLaunch:
    """One launch to export; ``trace`` has path and addresses, ``unit_of`` determines which instructions have records in
    it."""

    kernel: Kernel
    trace: Trace
    grid: Extent
    block: Extent
    shared_bytes: int
    unit_of: UnitOf


def export(launches: Sequence[ExportedLaunch], folder: Path) -> Path:
    """Write ``kernelslist.g`` and ``kernel-N.traceg`` for each launch to a folder; returns the list's path.

    The list is written after all traces are complete, and an earlier one is deleted first; traces of an earlier export
    with more launches stay, but the list lacks them.  Raises SassTraceError for a
    launch whose addresses were not recorded, and OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    listed = folder / "kernelslist.g"
    listed.unlink(missing_ok=True)
    names = []
    for number, launch in enumerate(launches, 1):
        names.append(f"kernel-{number}.traceg")
        with whole(folder / names[-1]) as unfinished, unfinished.open("w", encoding="ascii", newline="\n") as file:
            file.writelines(trace_text(launch, number))
    with whole(listed) as unfinished:
        unfinished.write_text("".join(name + "\n" for name in names), encoding="ascii")
    return listed


def trace_text(launch: ExportedLaunch, number: int = 1) -> Iterator[str]:
    """The trace of one launch, piece by piece; holds one thread block at a time."""
    kernel = launch.kernel
    yield HEADER.format(
        name=kernel.name, number=number, grid=launch.grid, block=launch.block, shared=launch.shared_bytes,
        registers=kernel.register_demand, binary=binary_version(kernel), tracer=TRACER_VERSION, shared_base=SHARED_BASE,
        local_base=LOCAL_BASE,
    )  # fmt: skip
    blocks = block_lines(kernel, launch.unit_of)
    records = Records(launch.trace.address_chunks(), SHARED_BASE, LOCAL_BASE)
    index = NO_BLOCK
    warps: Warps = {}
    for visit in visits(launch.trace.path_chunks()):
        if visit.thread_block != index:
            yield from _thread_block(launch, blocks, index, warps)
            index, warps = visit.thread_block, {}
        accesses = [_access(records, one, visit.mask, kernel.name) for one in blocks[visit.block].accesses]
        warps.setdefault(visit.warp, []).append((visit.block, visit.mask, accesses))
    yield from _thread_block(launch, blocks, index, warps)


def _access(records: Records, line: Line, mask: int, kernel: str) -> str:
    """The line of one execution of a memory instruction."""
    try:
        taken, addresses = records.next(line.pc, mask, line.unit, line.guarded)
    except StopIteration:
        raise SassTraceError(f"kernel {kernel}: addresses were not recorded; export needs a run with them") from None
    memory = f"{line.width} {addresses}" if line.width else "0"
    return f"{line.head}{taken:08x} {line.body}{memory} {line.immediate} \n"


def _thread_block(launch: ExportedLaunch, blocks: Sequence[BlockLines], index: int, warps: Warps) -> Iterator[str]:
    if index == NO_BLOCK:
        return
    x, y, _ = launch.grid
    yield f"\n#BEGIN_TB\n\nthread block = {index % x},{index // x % y},{index // (x * y)}\n"
    count = -(-launch.block[0] * launch.block[1] * launch.block[2] // 32)
    for warp in range(count):
        steps = warps.get(warp, [])
        lines = sum(blocks[block].count for block, _, _ in steps)
        yield f"\nwarp = {warp}\ninsts = {lines}\n"
        for place, (block, mask, accesses) in enumerate(steps):
            following = steps[place + 1][:2] if place + 1 < len(steps) else None
            yield blocks[block].text(mask, accesses, left_lanes(blocks[block].block, mask, following))
    yield "\n#END_TB\n"


def left_lanes(block: Block, active: int, following: tuple[int, int] | None) -> int:
    """Lanes that took the branch or exit ending a visit; ``following`` is the warp's next visit and its lanes."""
    last = leaves(block)
    if last is None or following is None:
        return active
    target, mask = following
    falls = block.successors[-1] if block.successors else NO_BLOCK
    if last.traits.is_exit or find(last.opcode).flow == "exit":
        return active & ~mask if target == falls else active
    if len(set(block.successors)) > 1:
        if target == block.successors[0]:
            return active & mask
        if target == falls:
            return active & ~mask
    return active
