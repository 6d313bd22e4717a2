"""The trace of a vector addition as a tracer would record it on sm_80, generated for one kernel."""

from __future__ import annotations

from pathlib import Path

from tests.sass.text import FULL, body, header, line

THREADS = 128
A, B, C = 0x7F0000000000, 0x7F0000100000, 0x7F0000200000
FULL_WARP, PART_WARP = 14, 5
"""Instructions of a warp in range, and of one of which no thread is."""


def write_vector_add(folder: Path, elements: int, compressed: bool = False) -> Path:
    """``kernelslist.g`` and the trace of ``elements`` additions, one a thread; the last warp's upper lanes and further
    warps leave at once."""
    grid = -(-elements // THREADS)
    blocks = [[_warp(block * THREADS + 32 * warp, elements) for warp in range(THREADS // 32)] for block in range(grid)]
    text = header(grid, THREADS, kernel_name="_Z3addPKfS0_Pfi", nregs=12, shmem=0) + body(blocks)
    name = "kernel-1.traceg"
    if compressed:
        import lzma

        name += ".xz"
        (folder / name).write_bytes(lzma.compress(text.encode()))
    else:
        (folder / name).write_text(text)
    listed = folder / "kernelslist.g"
    listed.write_text(f"MemcpyHtoD,{A:#x},{4 * elements}\nMemcpyHtoD,{B:#x},{4 * elements}\n{name}\n")
    return listed


def _warp(first: int, elements: int) -> list[str]:
    present = max(0, min(32, elements - first))
    mask = (1 << present) - 1

    def access(base: int) -> str:
        return f"4 1 {base + 4 * first:#x} 4"

    lines = [
        line(0x00, "R6 <- S2R"),
        line(0x10, "R3 <- S2R"),
        line(0x20, "R6 <- IMAD R6 R3"),
        line(0x30, "ISETP.GE.AND R6"),
        line(0x40, "EXIT", FULL ^ mask),
    ]
    if present:
        lines += [
            line(0x50, "R7 <- MOV", mask),
            line(0x60, "R4 <- IMAD.WIDE R6 R7", mask),
            line(0x70, "R2 <- IMAD.WIDE R6 R7", mask),
            line(0x80, "R4 <- LDG.E R4", mask, access(A)),
            line(0x90, "R3 <- LDG.E R2", mask, access(B)),
            line(0xA0, "R6 <- IMAD.WIDE R6 R7", mask),
            line(0xB0, "R9 <- FADD R4 R3", mask),
            line(0xC0, "STG.E R6 R9", mask, access(C)),
            line(0xD0, "EXIT", mask),
        ]
    return lines
