"""How blocks go on: by a jump to the next block, as a loop, or through the driver."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.simt.programs import Runner, prepare

from warpreg.simt import Record, RunawayError
from warpreg.simt.launch import launch as launches
from warpreg.simt.llvm import object_code
from warpreg.trace import visits

PATH = Record(path=True)
OUT = np.zeros(32, np.uint32)

LOOP = """
mov.u32 %r1, 0; mov.u32 %r2, 1; setp.eq.u32 %p2, %r1, 0; and.b32 %r3, %t, 3;
L: mul.lo.u32 %r2, %r2, 3;
@%p2 add.u32 %r2, %r2, 1;
setp.lt.u32 %p2, %r2, 20;
add.u32 %r1, %r1, 1;
setp.le.u32 %p1, %r1, %r3;
@%p1 bra L;
st.global.u32 [%my_out], %r2;
"""
"""Lane t makes 1 + t % 4 rounds, with a product, a count and a predicate from one to the next."""

VALUES = [4, 13, 40, 120]
"""3 * 1 + 1, 3 * 4 + 1, 3 * 13 + 1 as 13 < 20, and 3 * 40, by the number of rounds."""


def code(body: str, monkeypatch: pytest.MonkeyPatch, record: Record = PATH) -> str:
    """The LLVM text of a kernel's blocks."""
    found: list[str] = []
    old = object_code.object_code

    def kept(text: str, optimize: bool = False) -> bytes:
        found.append(text)
        return old(text, optimize)

    with monkeypatch.context() as patch:
        patch.setattr(object_code, "object_code", kept)
        prepare(body, {"out": OUT}, record=record)[0].install(Runner(None)(body, out=OUT).launch.kernel)
    return next(text for text in found if "block_0" in text)


def test_a_loop_takes_values_and_predicates_from_round_to_round(run: Runner) -> None:
    outcome = run(LOOP, out=OUT, record=PATH)
    assert outcome["out"].tolist() == VALUES * 8
    assert outcome.launch.trace is not None
    masks = [visit.mask for visit in visits(outcome.launch.trace.path_chunks()) if visit.block == 1]
    assert masks == [0xFFFFFFFF, 0xEEEEEEEE, 0xCCCCCCCC, 0x88888888]
    assert outcome.launch.block_visits.tolist() == [1, 4, 1]


def test_the_lanes_of_a_warp_that_do_not_exist_change_nothing(run: Runner) -> None:
    assert run(LOOP, block=6, out=np.zeros(32, np.uint32))["out"].tolist() == [*VALUES, *VALUES[:2], *[0] * 26]


def test_a_loop_ends_at_the_limit_of_instructions(run: Runner) -> None:
    device, arguments = prepare("L: add.u32 %r1, %r1, 1; bra.uni L;", {"out": OUT}, options=run.options)
    with pytest.raises(RunawayError, match="more than 100000 warp-instructions"):
        device.launch("k", 1, 32, *arguments.values(), max_instructions=100_000)
    device, arguments = prepare(LOOP, {"out": OUT}, options=run.options)
    needed = device.launch("k", 1, 32, *arguments.values()).warp_instructions
    device.launch("k", 1, 32, *arguments.values(), max_instructions=needed)
    with pytest.raises(RunawayError):
        device.launch("k", 1, 32, *arguments.values(), max_instructions=needed - 1)


def test_a_loop_may_be_interrupted_between_any_two_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    for bound in ("FIRST_PAUSE", "MIN_PAUSE", "GREATEST_PAUSE"):
        monkeypatch.setattr(launches, bound, 7)
    outcome = Runner(None)(LOOP, out=OUT, record=PATH)
    assert outcome["out"].tolist() == VALUES * 8
    assert outcome.launch.block_visits.tolist() == [1, 4, 1]


def test_a_full_buffer_does_not_change_a_path_of_a_long_loop(run: Runner) -> None:
    # 300,000 visits of four bytes fill a buffer of 1 MB once, inside the loop.
    body = """
    mov.u32 %r1, 0;
    L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 300000; @%p1 bra L;
    st.global.u32 [%my_out], %r1;
    """
    outcome = run(body, out=OUT, record=PATH)
    assert outcome["out"].tolist() == [300_000] * 32
    assert outcome.launch.trace is not None
    chunks = list(outcome.launch.trace.path_chunks())
    assert len(chunks) == 2
    assert sum(visit.block == 1 for visit in visits(chunks)) == 300_000


def test_blocks_jump_to_those_that_all_lanes_enter(monkeypatch: pytest.MonkeyPatch) -> None:
    body = "setp.lt.u32 %p1, %t, 9; @%p1 bra B; st.global.u32 [%my_out], 1; B: st.global.u32 [%my_out], 2;"
    functions = code(body, monkeypatch).split("define ")[1:]
    blocks = {found[1]: text for text in functions if (found := re.match(r'\w+ \w+ @"block_(\d)"', text))}
    jumps = {
        block: set(re.findall(r'musttail call preserve_nonecc i32 @"block_(\d)"', text))
        for block, text in blocks.items()
    }
    assert jumps == {"0": {"1", "2"}, "1": {"2"}, "2": set()}


def test_only_blocks_of_arithmetic_are_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "repeat" in code(LOOP, monkeypatch)
    assert "repeat" not in code(LOOP.replace("@%p1 bra", "st.global.u32 [%my_out], %r1; @%p1 bra"), monkeypatch)
    assert "repeat" not in code(LOOP, monkeypatch, Record(path=True, widths=True))
