"""Where the registers of a warp lie: those of code that all warps execute before those of slow paths."""

from __future__ import annotations

from pathlib import Path

from warpreg.codegen import translate
from warpreg.machine_code import files
from warpreg.simt.block.register_storage import Cell, assign

LISTING = Path(__file__).parents[1] / "machine_code/listings/kernels.sm_80.sass"


def test_what_only_a_slow_path_uses_comes_last() -> None:
    """``doubles`` calls subroutines for quotients and roots that need them: blocks that end in a call are as rare as
    the subroutines, which are the last blocks."""
    kernel = translate(files.read(LISTING), "doubles")
    rare = {block.index for block in kernel.blocks if block.instructions[-1].opcode == "CALL"}
    assert rare
    rare |= set(range(min(kernel.blocks[call].successors[0] for call in rare), len(kernel.blocks)))
    storage, first = assign(kernel), kernel.first_pcs()
    used: dict[Cell, set[int]] = {}
    for block in kernel.blocks:
        for pc in range(first[block.index], first[block.index] + len(block.instructions)):
            for cell in (*storage.written[pc], *storage.read[pc]):
                used.setdefault(cell, set()).add(block.index)
    lasting = {cell: blocks for cell, blocks in used.items() if len(blocks) > 1}
    usual = [cell.offset for cell, blocks in lasting.items() if len(blocks - rare) > 1]
    slow = [cell.offset for cell, blocks in lasting.items() if not blocks - rare]
    assert usual
    assert slow
    assert max(usual) < min(slow)
