"""What instructions say of memory: loads that may share, bytes that are stored, orders (thesis of 2021, §5.5.2)."""

from __future__ import annotations

import pytest
from tests.timing.assembly import assemble, code

from warpreg.analysis.kernel_analysis import Analysis
from warpreg.designs import program_table
from warpreg.designs.parts.load_sharing.hints import (
    EVERYTHING,
    FENCE,
    NO_ORDER,
    SYNCHRONISES,
    load_hints,
    order_of,
    stored_bytes,
)
from warpreg.ir.instruction import Instruction


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ld.global.u32 R1, [R4.64]", 1),
        ("ld.global.nc.f32 R1, [R4.64]", 1),
        ("ldu.global.u32 R1, [R4.64]", 1),
        ("ld.u32 R1, [R4.64]", 1),
        ("ld.global.u64 R2.64, [R4.64]", 2),
        ("ld.global.v2.u32 {R1, R2}, [R4.64]", 2),
        ("ld.global.u16 R1, [R4.64]", 0),
        ("ld.shared.u32 R1, [R4]", 0),
        ("ld.local.u32 R1, [R4]", 0),
        ("ld.volatile.global.u32 R1, [R4.64]", 0),
        ("ld.relaxed.gpu.global.u32 R1, [R4.64]", 0),
        ("ld.global.cv.u32 R1, [R4.64]", 0),
        ("atom.global.add.u32 R1, [R4.64], R2", 0),
        ("st.global.u32 [R4.64], R1", 0),
        ("mov.b32 R1, R2", 0),
    ],
)
def test_plain_loads_of_whole_words_may_share(text: str, words: int) -> None:
    kernel = code(text)
    assert load_hints(program_table(kernel), Analysis(kernel)).words.tolist() == [words]


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("st.global.u8 [R4.64], R1", 1),
        ("st.global.v4.u32 [R4.64], {R0, R1, R2, R3}", 16),
        ("st.u32 [R4.64], R1", 4),
        ("red.global.add.u32 [R4.64], R1", 4),
        ("atom.global.add.u64 R2.64, [R4.64], R6.64", 8),
        ("st.shared.u32 [R4], R1", 0),
        ("st.local.u32 [R4], R1", 0),
        ("ld.global.u32 R1, [R4.64]", 0),
    ],
)
def test_bytes_that_a_lane_stores(text: str, stored: int) -> None:
    assert stored_bytes(assemble(text)) == stored


def test_the_lanes_of_surface_and_matrix_stores_are_not_followed() -> None:
    assert stored_bytes(Instruction("sust", ("b", "2d"), ())) == EVERYTHING


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("membar.gl", FENCE),
        ("membar.sys", FENCE),
        ("membar.cta", NO_ORDER),
        ("fence.acq_rel.gpu", FENCE),
        ("fence.sc.cta", NO_ORDER),
        ("bar.sync 0", NO_ORDER),
        ("atom.global.add.u32 R1, [R4.64], R2", SYNCHRONISES),
        ("atom.shared.add.u32 R1, [R4], R2", NO_ORDER),
        ("red.global.add.u32 [R4.64], R1", NO_ORDER),
        ("ld.acquire.gpu.global.u32 R1, [R4.64]", SYNCHRONISES),
        ("ld.volatile.shared.u32 R1, [R4]", NO_ORDER),
        ("ld.global.u32 R1, [R4.64]", NO_ORDER),
    ],
)
def test_what_orders_thread_blocks(text: str, order: int) -> None:
    assert order_of(assemble(text)) == order
