"""Text of traces, written line by line, and a slow decoder of a launch that was read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tests.trace.address_decoder import AddressDecoder

from warpreg.ir.kernel import Kernel
from warpreg.sass.parse.source import Source
from warpreg.sass.reader import RecordedLaunch
from warpreg.sass.rebuild.program import record_unit
from warpreg.trace import visits

FULL = 0xFFFFFFFF
SHARED_BASE, LOCAL_BASE = 0x7F1100000000, 0x7F2200000000

Warp = Sequence[str]
ThreadBlock = Sequence[Warp]


def header(grid: int = 1, threads: int = 32, **entries: object) -> str:
    """A header as tracer version 5 writes it; ``entries`` replaces values by key (_ for a space), None drops one."""
    values: dict[str, object] = {
        "kernel name": "_Z3foov",
        "kernel id": 1,
        "grid dim": f"({grid},1,1)",
        "block dim": f"({threads},1,1)",
        "shmem": 64,
        "nregs": 32,
        "binary version": 80,
        "cuda stream id": 0,
        "shmem base_addr": hex(SHARED_BASE),
        "local mem base_addr": hex(LOCAL_BASE),
        "nvbit version": 1.7,
        "accelsim tracer version": 5,
        "enable lineinfo": 0,
    }
    values |= {key.replace("_", " ").replace("base addr", "base_addr"): value for key, value in entries.items()}
    lines = [f"-{key} = {value}\n" for key, value in values.items() if value is not None]
    return "".join(lines) + "\n#traces format = as ever\n\n"


def body(blocks: Iterable[ThreadBlock]) -> str:
    """Thread blocks of a grid in a row, each a list of warps, each a list of lines."""
    text = ""
    for x, block in enumerate(blocks):
        text += f"\n#BEGIN_TB\n\nthread block = {x},0,0\n"
        for number, warp in enumerate(block):
            text += f"\nwarp = {number}\ninsts = {len(warp)}\n" + "".join(line + "\n" for line in warp)
        text += "\n#END_TB\n"
    return text


def write_trace(folder: Path, blocks: Sequence[ThreadBlock], name: str = "kernel-1.traceg", **entries: object) -> Path:
    """A trace of whole thread blocks in a file."""
    path = folder / name
    path.write_text(header(len(blocks), 32 * len(blocks[0]), **entries) + body(blocks))
    return path


def line(pc: int, text: str, mask: int = FULL, memory: str = "0") -> str:
    """``OPCODE [Rd] <- [Rs ...]`` as a line: ``line(0x10, "R1 <- FADD R2 R3")``."""
    left, arrow, right = text.partition(" <- ")
    results = left.split() if arrow else []
    opcode, *sources = (right if arrow else left).split()
    words = [f"{pc:04x}", f"{mask:08x}", str(len(results)), *results, opcode, str(len(sources)), *sources, memory, "0"]
    return " ".join(words) + " "


@dataclass(frozen=True)
class Execution:
    """One executed instruction: its pc in the trace, the lanes active, and, of one with a record, mask and addresses of
    its lanes."""

    pc: int
    active: int
    mask: int | None = None
    addresses: tuple[int, ...] = ()


def pcs(kernel: Kernel) -> list[int]:
    """The program counter in the trace of each instruction, from the lines that they were first seen in."""
    locations = [i.location for i in kernel.instructions() if i.location]
    texts = {name: b"".join(Source(Path(name)).pieces()).splitlines() for name in {place.file for place in locations}}
    return [int(texts[place.file][place.line - 1].split()[0], 16) for place in locations]


def executions(launch: RecordedLaunch) -> Mapping[tuple[int, int], list[Execution]]:
    """What each warp, by thread block and number, executed."""
    kernel, trace, lines = launch.kernel, launch.trace, pcs(launch.kernel)
    decoder = AddressDecoder(np.concatenate([np.zeros(0, np.uint32), *trace.address_chunks()]))
    first = kernel.first_pcs()
    found: dict[tuple[int, int], list[Execution]] = {}
    for visit in visits(trace.path_chunks()):
        done = found.setdefault((visit.thread_block, visit.warp), [])
        for offset, instruction in enumerate(kernel.blocks[visit.block].instructions):
            unit, pc = record_unit(instruction), lines[first[visit.block] + offset]
            if not unit:
                done.append(Execution(pc, visit.mask))
                continue
            guarded = instruction.guard is not None
            mask, addresses = decoder.next(first[visit.block] + offset, visit.mask, unit, guarded)
            lanes = tuple(int(addresses[lane]) for lane in range(32) if mask >> lane & 1)
            done.append(Execution(pc, visit.mask, mask, lanes))
    assert decoder.at == len(decoder.words)
    return found
