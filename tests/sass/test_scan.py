"""The compiled scanner and the parser of lines agree on random traces."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sass.text import FULL, executions, line, write_trace

from warpreg.sass.parse.line import parse_line
from warpreg.sass.reader import read_recording

OPCODES = ("FADD", "R1 <- MOV", "R2 <- IADD3 R1 R255", "BSYNC", "BAR", "EXIT", "BRA")
LOADS = ("R4 <- LDG.E R2", "STG.E.64 R2 R4", "R4 <- LDS R3", "RED.E.ADD R2 R4", "R4 <- LDG.E.U8 R2")
MASKS = st.one_of(st.sampled_from([FULL, 0, 1, 0xFFFF, 0xFFFF0000, 0x80000000]), st.integers(0, FULL))
ADDRESSES = st.one_of(st.integers(0, 1 << 20), st.integers(0, (1 << 64) - 1))


@st.composite
def memory(draw: st.DrawFn, mask: int) -> str:
    lanes = mask.bit_count()
    mode = draw(st.integers(0, 2))
    if mode == 0:
        return "4 0 " + " ".join(hex(draw(ADDRESSES)) for _ in range(lanes)) + " " * (lanes > 0)
    base = hex(draw(ADDRESSES))
    if mode == 1:
        return f"4 1 {base} {draw(st.one_of(st.integers(-64, 64), st.integers(-(1 << 31), (1 << 31) - 1)))}"
    near = draw(st.sampled_from([8, 1 << 17, 1 << 40]))
    deltas = (draw(st.integers(-near, near)) * 4 + draw(st.sampled_from([0, 0, 0, 1])) for _ in range(lanes - 1))
    return " ".join(["4 2", base, *map(str, deltas)])


@st.composite
def warps(draw: st.DrawFn) -> list[str]:
    """A walk over a few instructions, back and forth, with any masks."""
    lines = []
    for place in draw(st.lists(st.integers(0, 11), min_size=1, max_size=30)):
        mask = draw(MASKS)
        if place < len(OPCODES):
            lines.append(line(16 * place, OPCODES[place], mask))
        else:
            text = LOADS[place - len(OPCODES)]
            lines.append(line(16 * place, text, mask, draw(memory(mask))).replace("  ", " "))
    return lines


@pytest.mark.slow
@settings(max_examples=120, deadline=None)
@given(st.lists(st.tuples(warps(), warps()), min_size=1, max_size=2))
def test_what_is_read_is_what_the_lines_say(blocks: list[tuple[list[str], list[str]]]) -> None:
    with TemporaryDirectory() as folder:
        path = write_trace(Path(folder), blocks, shmem_base_addr=0, local_mem_base_addr=0)
        launch = read_recording(path).launches[0]
        found = executions(launch)
    assert launch.warp_instructions == sum(len(warp) for block in blocks for warp in block)
    for block, pair in enumerate(blocks):
        for warp, lines in enumerate(pair):
            done = found[block, warp]
            assert len(done) == len(lines)
            for execution, written in zip(done, map(parse_line, lines), strict=True):
                assert execution.pc == written.pc
                assert execution.active & written.mask == written.mask
                if execution.mask is not None:
                    assert (execution.mask, execution.addresses) == (written.mask, written.addresses)
    for block_ in launch.kernel.blocks:
        assert all(0 <= successor < len(launch.kernel.blocks) for successor in block_.successors)
    executed = launch.visits.astype(int) @ [len(b.instructions) for b in launch.kernel.blocks]
    assert executed == launch.warp_instructions
