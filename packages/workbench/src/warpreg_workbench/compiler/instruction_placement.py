"""Where `ptxas` computes what could move down.

Run as ``python -m warpreg_workbench.compiler.instruction_placement [--registers N]``.

For each instruction that `SinkValues` would move, wherever it may, the blocks of the machine code that have an
instruction of the same line of PTX are compared with the blocks of the PTX.  A block of machine code is the block of
PTX from which most of its memory accesses, barriers and branches come.  Both compilers keep loops as they are; lines
that `ptxas` folds into others are left out.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import click

from warpreg import codegen, workloads
from warpreg.analysis.dominators import DominatorTree, post_dominators
from warpreg.codegen.passes.shorten import SinkValues
from warpreg.codegen.passes.shorten.ranges import Ranges
from warpreg.codegen.pipeline import build_for, stages
from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.module import Module
from warpreg.ptx import parse
from warpreg_workbench.compiler.vendor_compiler import DisassemblyLine, assemble

TARGET = "sm_75"
FIXED = frozenset({"ld", "st", "atom", "red", "bar", "bra", "ret", "exit", "tex", "tld4", "shfl", "vote"})
"""Opcodes of PTX that stay in their block, and of machine code below."""
MACHINE_FIXED = frozenset(
    "LD LDG LDS LDL LDC ST STG STS STL ATOM ATOMG ATOMS RED BAR BRA EXIT TEX TLD TLD4 SHFL VOTE".split()
)
CONTROL = frozenset({"BRA", "BSSY", "BSYNC", "BMOV", "WARPSYNC", "EXIT"})
ENDS = frozenset({"BRA", "BRX", "EXIT", "BAR"})
STAYS, SINKS, SEVERAL, ELSEWHERE = "old block", "block of the reads", "several blocks", "between"
PLACES = (STAYS, SINKS, SEVERAL, ELSEWHERE)

FEWER, ALL, LOOP = "no loop, less often", "no loop, as often", "a loop"
WAYS = (FEWER, ALL, LOOP)
"""What is on the way down, and whether threads execute the new block less often than the old one."""
Place = tuple[str, str]
"""The way down, and where the machine code has the instruction."""


def before_sinking(module: Module, kernel: str) -> Kernel:
    """A kernel as `SinkValues` gets it, with its loops kept."""
    target = dataclasses.replace(codegen.target(TARGET), unrolls=False)
    options = codegen.CompileOptions(target=target, live_words=0)
    (found,) = (s.before for s in stages(build_for(module, kernel, options), options) if s.name == SinkValues.__name__)
    return found


def places(kernel: Kernel, code: Sequence[DisassemblyLine]) -> Iterator[Place]:
    """The place of each instruction that could move down; those of which `ptxas` keeps none are left out."""
    ranges, after = Ranges(kernel), _by_line(SinkValues().run(kernel))
    blocks_by_line = machine_places(kernel, code)
    for line, instructions in _by_line(kernel).items():
        if len(instructions) > 1 or line not in blocks_by_line or line not in after:
            continue
        (home, instruction), (target, _) = instructions[0], after[line][0]
        if home != target:
            alive = {b for r in instruction.defined for b in ranges.alive(r.name)}
            passed = any(ranges.is_repeated(b, home) for b in alive if not ranges.tree.dominates(target, b))
            is_saved = not post_dominators(kernel).dominates(target, home) or ranges.is_repeated(home, target)
            at = {_place(ranges.tree, b, home, target) for b in blocks_by_line[line]}
            yield LOOP if passed else FEWER if is_saved else ALL, at.pop() if len(at) == 1 else SEVERAL


def _place(tree: DominatorTree, block: int, home: int, target: int) -> str:
    if tree.dominates(block, home):
        return STAYS
    return SINKS if tree.dominates(target, block) else ELSEWHERE


def _by_line(kernel: Kernel) -> Mapping[int, list[tuple[int, Instruction]]]:
    """Line of PTX -> its instructions with their blocks."""
    by_line: dict[int, list[tuple[int, Instruction]]] = defaultdict(list)
    for block in kernel.blocks:
        for instruction in block.instructions:
            if instruction.location:
                by_line[instruction.location.line].append((block.index, instruction))
    return by_line


def machine_places(kernel: Kernel, code: Sequence[DisassemblyLine]) -> Mapping[int, set[int]]:
    """Line of PTX -> the blocks of PTX whose machine code has an instruction of it."""
    fixed = {line: own[0][0] for line, own in _by_line(kernel).items() if any(i.opcode in FIXED for _, i in own)}
    blocks_by_line: dict[int, set[int]] = defaultdict(set)
    for block in _machine_blocks(code):
        votes = Counter(fixed[one.number] for one in block if one.number in fixed and _opcode(one) in MACHINE_FIXED)
        for one in block if votes else ():
            if _opcode(one) not in CONTROL:
                blocks_by_line[one.number].add(votes.most_common(1)[0][0])
    return blocks_by_line


def _machine_blocks(code: Sequence[DisassemblyLine]) -> Iterator[list[DisassemblyLine]]:
    block: list[DisassemblyLine] = []
    for one in code:
        if one.labels and block:
            yield block
            block = []
        block.append(one)
        if _opcode(one) in ENDS:
            yield block
            block = []
    if block:
        yield block


def _opcode(one: DisassemblyLine) -> str:
    return one.opcode.split(".")[0]


def counted(name: str, registers: int | None) -> Counter[Place]:
    """The places of all kernels of a workload, with a limit of registers or without."""
    path = workloads.find(name).ptx_path
    module = parse(path.read_text(encoding="utf-8"), path.name)
    theirs = assemble(path, TARGET, unroll=False, registers=registers)
    kernels = (before_sinking(module, f.name) for f in module.kernels)
    return Counter(place for kernel in kernels for place in places(kernel, theirs[kernel.name].code))


@click.command()
@click.argument("names", nargs=-1)
@click.option("--registers", type=click.IntRange(16, 255), metavar="N", help="Limit the registers of ptxas.")
def main(names: tuple[str, ...], registers: int | None) -> None:
    """Count the places of all workloads, or of these."""
    counts = sum((counted(name, registers) for name in names or workloads.names()), Counter[Place]())
    print("| on the way | " + " | ".join(PLACES) + " |")
    print("|---|" + "---:|" * len(PLACES))
    for way in WAYS:
        print(f"| {way} | " + " | ".join(str(counts[way, place]) for place in PLACES) + " |")


if __name__ == "__main__":
    main()
