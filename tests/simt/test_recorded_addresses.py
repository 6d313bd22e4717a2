"""Recorded addresses of random accesses: any masks, patterns that change from round to round, several widths."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.simt.programs import COMPILED, Outcome, Runner
from tests.simt.recorded import accesses_of

from warpreg.ir.address_space import GLOBAL_BASE
from warpreg.simt import Record

ROUNDS = 8
ELEMENTS = 1 << 17

BODY = """
mov.u32 %r1, 0; mov.u32 %r8, 0;
L: mad.lo.u32 %r2, %r1, 32, %t;
mad.wide.u32 %rd1, %r2, 4, %index;
ld.global.u32 %r3, [%rd1];
mad.wide.u32 %rd2, %r1, 4, %mask;
ld.global.u32 %r4, [%rd2];
shr.u32 %r4, %r4, %t;
and.b32 %r4, %r4, 1;
setp.ne.u32 %p1, %r4, 0;
mad.wide.u32 %rd3, %r3, 4, %data;
ld.global.s32 %r5, [%rd3];
xor.b32 %r8, %r8, %r5;
ld.global.s32 %r6, [%rd3+8];
xor.b32 %r8, %r8, %r6;
ld.global.s32 %r5, [%rd3+64];
xor.b32 %r8, %r8, %r5;
@%p1 ld.global.b32 %r5, [%rd3];
@%p1 xor.b32 %r8, %r8, %r5;
@%p1 st.global.u16 [%rd3+2], %r5;
and.b32 %r7, %r3, 1020;
ld.shared.s32 %r6, [%r7];
xor.b32 %r8, %r8, %r6;
ld.shared.s32 %r6, [%r7+4];
xor.b32 %r8, %r8, %r6;
@!%p1 bra SKIP;
ld.global.u8 %r5, [%rd3+3];
xor.b32 %r8, %r8, %r5;
ld.shared.u16 %r6, [%r7+2];
xor.b32 %r8, %r8, %r6;
st.shared.b32 [%r7], %r5;
atom.shared.add.u32 %r6, [%r7], 1;
xor.b32 %r8, %r8, %r6;
SKIP: add.u32 %r1, %r1, 1;
setp.lt.u32 %p2, %r1, 8;
@%p2 bra L;
st.global.u32 [%my_out], %r8;
"""
OFFSETS = {
    "ld.global.s32": (0, 8, 64), "ld.global.b32": (0,), "st.global.u16": (2,), "ld.global.u8": (3,),
    "ld.shared.s32": (0, 4), "ld.shared.u16": (2,), "st.shared.b32": (0,), "atom.shared.add.u32": (0,),
}  # fmt: skip
"""By instruction, the distances of its copies from the register."""
UNGUARDED = {"ld.global.s32", "ld.shared.s32"}

numbers = st.integers(0, ELEMENTS - 64)
rows = st.one_of(
    st.builds(lambda base: [base + lane for lane in range(32)], numbers),
    st.builds(lambda base: [base] * 32, numbers),
    st.builds(lambda base, step: [(base + step * lane) % 4096 for lane in range(32)], st.integers(0, 255), numbers),
    st.builds(
        lambda base, near: [base % 1000 + one for one in near],
        numbers,
        st.lists(st.integers(0, 255), min_size=32, max_size=32),
    ),
    st.lists(numbers, min_size=32, max_size=32),
)
masks = st.one_of(
    st.just(0xFFFFFFFF), st.just(0), st.sampled_from([1 << n for n in range(32)]), st.integers(0, 0xFFFFFFFF)
)


@settings(max_examples=25)
@given(st.lists(rows, min_size=ROUNDS, max_size=ROUNDS), st.lists(masks, min_size=ROUNDS, max_size=ROUNDS))
def test_random_accesses_are_recorded_as_they_are(indices: list[list[int]], lanes: list[int]) -> None:
    outcome = launched(np.array(indices, np.uint32), np.array(lanes, np.uint32))
    found: dict[str, list[dict[int, int]]] = {name: [] for name in OFFSETS}
    for access in accesses_of(outcome.launch):
        if access.instruction.full_opcode in found:
            found[access.instruction.full_opcode].append(access.by_thread(outcome.launch))
    for name, distances in OFFSETS.items():
        # The compiler may change the order of loads inside a round.
        recorded, wanted = [one for one in found[name] if one], list(expected(name, distances, indices, lanes))
        count = len(distances)
        assert ordered(recorded, count) == ordered(wanted, count)


def launched(indices: NDArray[np.uint32], lanes: NDArray[np.uint32]) -> Outcome:
    arrays: dict[str, Any] = {"data": np.zeros(ELEMENTS, np.uint32), "index": indices, "mask": lanes}
    arrays["out"] = np.zeros(32, np.uint32)
    return Runner(COMPILED)(BODY, block=32, shared_bytes=1028, record=Record(path=True, addresses=True), **arrays)


def expected(name: str, distances: tuple[int, ...], indices: list[list[int]], lanes: list[int]) -> Any:
    for row, mask in zip(indices, lanes, strict=True):
        active = [lane for lane in range(32) if name in UNGUARDED or mask >> lane & 1]
        base = [4 * one + GLOBAL_BASE if ".global." in name else one & 1020 for one in row]
        for distance in distances:
            if active:
                yield {lane: base[lane] + distance for lane in active}


def ordered(records: list[dict[int, int]], count: int) -> list[list[list[tuple[int, int]]]]:
    """The records of each round, in an order of their own."""
    rows = [sorted(record.items()) for record in records]
    return [sorted(rows[at : at + count]) for at in range(0, len(rows), count)]
