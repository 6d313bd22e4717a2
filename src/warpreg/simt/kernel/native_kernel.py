"""A kernel as native code: compiled blocks, their memory operations, and the tables of the driver."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpreg.analysis.reconvergence import reconvergence
from warpreg.codegen.build.stack import STACK_BASE
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import BARRIERS, EXITS, SERVICES, Block, Kernel
from warpreg.ir.operands import Special
from warpreg.simt.block import register_storage
from warpreg.simt.block.block_values import CLOCKS
from warpreg.simt.block.records import BLOCK_BYTES, NO_BLOCK, BlockField, BlockKind, Slot
from warpreg.simt.block.sites import NativeOperation, Sites
from warpreg.simt.block.window_taints import Tracked
from warpreg.simt.kernel.block_compiler import BlockCompiler, polls
from warpreg.simt.kernel.warp_driver import Driver
from warpreg.simt.llvm import object_code
from warpreg.simt.llvm import text as ir
from warpreg.simt.memory import coalesced_path

STACK_ENTRIES = 256
"""Depth of a warp's reconvergence stack; deeper nesting of divergent regions is a fault."""


@dataclass(frozen=True)
class Record:
    """Contents of a recording: the ``path`` of warps, lane ``addresses`` of memory instructions, ``widths`` of
    values.
    """

    path: bool = False
    addresses: bool = False
    widths: bool = False

    @property
    def any(self) -> bool:
        return self.path or self.addresses or self.widths


@dataclass(frozen=True)
class Image:
    """A compiled kernel as stored in the disk cache: code and tables without addresses.

    ``contents`` is the part of a warp's register memory, offset and bytes, that holds the contents of registers.
    ``ends`` has kind, target, fall-through, reconvergence block and instruction count of each block, and whether it has
    a resume function.  ``sites`` has the pc of each memory instruction and whether it has a guard.  ``has_stack``:
    whether threads need a stack.  ``is_cooperative``: whether thread blocks wait for each other and run concurrently.
    ``taints`` are those that the code tracks.
    """

    kernel: Kernel
    code: bytes
    register_bytes: int
    contents: tuple[int, int]
    symbols: tuple[str, ...]
    sites: tuple[tuple[int, bool], ...]
    operations: tuple[NativeOperation, ...]
    ends: tuple[tuple[int, int, int, int, int, bool], ...]
    reads_clock: bool
    has_stack: bool
    waits: bool
    is_cooperative: bool
    taints: Tracked | None = None


@dataclass(frozen=True)
class NativeKernel:
    """A loaded image: the tables that a launch needs, and the code to which they point."""

    image: Image
    block_table: NDArray[np.uint8]
    helpers: NDArray[np.uint64]
    run: int
    libraries: tuple[object_code.Library, ...]

    @property
    def kernel(self) -> Kernel:
        return self.image.kernel

    @property
    def longest_block(self) -> int:
        """Instructions of the longest basic block."""
        return max((len(block.instructions) for block in self.kernel.blocks), default=0)


def compile_image(kernel: Kernel, record: Record, taints: Tracked | None = None) -> Image:
    """Native code of a kernel.  Raises UnsupportedError for the first instruction that cannot be executed."""
    cells = register_storage.assign(kernel, contents=record.widths)
    placed = (p.variable for p in kernel.placements if p.space in ("global", "const", "tex"))
    symbols = tuple(sorted({variable.unique_name for variable in placed}))
    sites = Sites(record.addresses, coalesced_path.worthwhile(kernel))
    module = ir.Module(kernel.name)
    numbers = {n: i for i, n in enumerate(symbols)}
    compiler = BlockCompiler(module, kernel, cells, numbers, sites, record.widths, taints)
    for block, first in zip(kernel.blocks, kernel.first_pcs(), strict=False):
        compiler.compile(block, first)
    code = object_code.object_code(str(module))
    specials = {o.name for i in kernel.instructions() for o in i.operands if isinstance(o, Special)}
    return Image(
        kernel=kernel,
        code=code,
        register_bytes=cells.bytes + (taints.bytes if taints else 0),
        contents=(cells.bytes - cells.contents_bytes, cells.contents_bytes),
        symbols=symbols,
        sites=tuple(sites.sites),
        operations=tuple(sites.operations),
        ends=_ends(kernel),
        reads_clock=bool(specials & CLOCKS),
        has_stack=STACK_BASE.name in specials,
        is_cooperative=compiler.is_cooperative,
        waits=any(_waits(i, compiler.is_cooperative) for i in kernel.instructions()),
        taints=taints,
    )


def _waits(instruction: Instruction, cooperative: bool) -> bool:
    """Whether a warp may wait for others at an instruction that is not a barrier."""
    is_wait = instruction.opcode == "mbarrier" and instruction.modifiers[0].endswith("_wait")
    return is_wait or polls(instruction, cooperative)


def load(image: Image, record: Record) -> NativeKernel:
    """Load an image."""
    library, driver = object_code.Library(image.code), _driver(record, image)
    operations = [_operation(operation) for operation in image.operations]
    return NativeKernel(
        image=image,
        block_table=_block_table(image, library),
        helpers=np.array([address for _, address in operations] or [0], np.uint64),
        run=driver.address("run"),
        libraries=(library, driver, *(library for library, _ in operations)),
    )


def _operation(operation: NativeOperation) -> tuple[object_code.Library, int]:
    library = object_code.cached_library(operation.name, operation.module)
    return library, library.address(operation.name)


def _driver(record: Record, image: Image) -> object_code.Library:
    streams = (
        (record.addresses, Slot.ADDRESSES, Slot.ADDRESSES_LIMIT),
        (record.widths, Slot.WIDTHS, Slot.WIDTHS_LIMIT),
    )
    watch = tuple((field, limit) for wanted, field, limit in streams if wanted)
    driver = Driver(
        record.path,
        watch,
        STACK_ENTRIES,
        keep_clock=image.reads_clock,
        yields=image.waits,
        side_by_side=image.is_cooperative,
    )
    return object_code.cached_library(repr(driver), driver.module)


def _ends(kernel: Kernel) -> tuple[tuple[int, int, int, int, int, bool], ...]:
    meet = reconvergence(kernel)
    rows = []
    for block in kernel.blocks:
        kind, target, fall = _end(block)
        meeting = meet[block.index] if meet[block.index] >= 0 else NO_BLOCK
        stops = kind in (BlockKind.BARRIER, BlockKind.SERVICE)
        resumes = stops and block.instructions[-1].has_result
        rows.append((int(kind), target, fall, meeting, len(block.instructions), resumes))
    return tuple(rows)


def _block_table(image: Image, library: object_code.Library) -> NDArray[np.uint8]:
    table = np.zeros((max(1, len(image.ends)), BLOCK_BYTES), np.uint8)
    for index, (*words, resumes) in enumerate(image.ends):
        longs = table[index].view(np.uint64)
        longs[BlockField.FUNCTION // 8] = library.address(f"block_{index}")
        table[index].view(np.uint32)[BlockField.KIND // 4 : BlockField.INSTRUCTIONS // 4 + 1] = words
        if resumes:
            longs[BlockField.RESUME // 8] = library.address(f"resume_{index}")
    return table.reshape(-1)


def _end(block: Block) -> tuple[BlockKind, int, int]:
    """How a block ends, its target and its fall-through."""
    last: Instruction | None = block.terminator
    first = block.successors[0] if block.successors else NO_BLOCK
    if last is None or last.opcode == "bra" or "warp" in last.modifiers:
        fall = block.successors[-1] if block.successors else NO_BLOCK
        guarded = last is not None and last.opcode == "bra" and last.guard is not None
        return (BlockKind.BRANCH if guarded else BlockKind.GOTO), first, fall
    if last.opcode in EXITS:
        return (BlockKind.GUARDED_EXIT if last.guard else BlockKind.EXIT), NO_BLOCK, first
    if last.opcode in BARRIERS:
        return BlockKind.BARRIER, NO_BLOCK, first
    if last.opcode in SERVICES:
        return BlockKind.SERVICE, NO_BLOCK, first
    return BlockKind.INDIRECT, NO_BLOCK, NO_BLOCK
