"""Compilation of a kernel to an image: its blocks, its memory operations, and how each block ends."""

from __future__ import annotations

from warpreg.analysis.reconvergence import reconvergence
from warpreg.codegen.lower.stack import STACK_BASE
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Block, Kernel
from warpreg.ir.operands import Immediate, Special
from warpreg.simt.block import register_storage
from warpreg.simt.block.block_values import CLOCKS
from warpreg.simt.block.native_records import NO_BLOCK, BlockKind
from warpreg.simt.block.sites import Sites
from warpreg.simt.block.tracked import Tracked
from warpreg.simt.kernel.block_compiler import BlockCompiler
from warpreg.simt.kernel.block_ends import End, Ends
from warpreg.simt.kernel.group_ends import GroupEnds, machine_ends
from warpreg.simt.kernel.native_kernel import Image, Record
from warpreg.simt.kernel.polling import waits
from warpreg.simt.llvm import object_code
from warpreg.simt.llvm import text as ir
from warpreg.simt.memory import coalesced_path


def compile_image(kernel: Kernel, record: Record, taints: Tracked | None = None) -> Image:
    """Native code of a kernel.  Raises UnsupportedError for the first instruction that cannot be executed."""
    cells = register_storage.assign(kernel, contents=record.values)
    placed = (p.variable for p in kernel.placements if p.space in ("global", "const", "tex"))
    symbols = tuple(sorted({variable.unique_name for variable in placed}))
    scattered = coalesced_path.scattered(kernel)
    inline = coalesced_path.worthwhile(kernel, scattered)
    sites = Sites(record.addresses, inline, scattered, coalesced_path.few_guards(kernel))
    module = ir.Module(kernel.name)
    numbers = {n: i for i, n in enumerate(symbols)}
    specials = {o.name for i in kernel.instructions() for o in i.operands if isinstance(o, Special)}
    reads_clock = bool(specials & CLOCKS)
    kind, found = (GroupEnds, machine_ends) if kernel.machine_code else (Ends, ends_of)
    ends = kind(found(kernel), record.path, record.watch, reads_clock, kernel.is_cooperative)
    compiler = BlockCompiler(module, kernel, cells, numbers, sites, ends, record, taints)
    for block, first in zip(kernel.blocks, kernel.first_pcs(), strict=False):
        compiler.compile(block, first)
    code = object_code.object_code(str(module))
    return Image(
        kernel=kernel,
        code=code,
        register_bytes=cells.bytes + (taints.bytes if taints else 0),
        contents=(cells.bytes - cells.contents_bytes, cells.contents_bytes),
        symbols=symbols,
        sites=tuple(sites.sites),
        operations=tuple(sites.operations),
        ends=ends.ends,
        reads_clock=reads_clock,
        has_stack=STACK_BASE.name in specials,
        is_cooperative=compiler.is_cooperative,
        waits=any(waits(i, compiler.is_cooperative) for i in kernel.instructions()),
        taints=taints,
    )


def ends_of(kernel: Kernel) -> tuple[End, ...]:
    """How each block ends."""
    meet = reconvergence(kernel)
    rows = []
    for block in kernel.blocks:
        kind, target, fall = _end(block)
        meeting = meet[block.index] if meet[block.index] >= 0 else NO_BLOCK
        stops = kind in (BlockKind.BARRIER, BlockKind.SERVICE)
        resumes = stops and block.instructions[-1].has_result
        rows.append(End(int(kind), target, fall, meeting, len(block.instructions), resumes, _barrier(block)))
    return tuple(rows)


def _barrier(block: Block) -> int:
    """The number of the barrier at which the whole thread block waits, where it is known; else -1."""
    last = block.terminator
    plain = last is not None and last.traits.is_barrier and last.guard is None and not last.has_result
    if last is None or not plain or set(last.modifiers) & {"arrive", "warp", "cluster"} or len(last.sources) != 1:
        return -1
    number = last.sources[0]
    return number.value if isinstance(number, Immediate) and 0 <= number.value < 16 else -1


def _end(block: Block) -> tuple[BlockKind, int, int]:
    """How a block ends, its target and its fall-through."""
    last: Instruction | None = block.terminator
    first = block.successors[0] if block.successors else NO_BLOCK
    if last is None or last.traits.is_direct or "warp" in last.modifiers:
        fall = block.successors[-1] if block.successors else NO_BLOCK
        guarded = last is not None and last.traits.is_direct and last.guard is not None
        return (BlockKind.BRANCH if guarded else BlockKind.GOTO), first, fall
    if last.traits.is_exit:
        return (BlockKind.GUARDED_EXIT if last.guard else BlockKind.EXIT), NO_BLOCK, first
    if last.traits.is_barrier:
        return BlockKind.BARRIER, NO_BLOCK, first
    if last.traits.is_service:
        return BlockKind.SERVICE, NO_BLOCK, first
    return BlockKind.INDIRECT, NO_BLOCK, NO_BLOCK
