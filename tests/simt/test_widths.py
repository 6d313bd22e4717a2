"""Recorded widths and patterns are those of architected registers: random divergent kernels against a plain model in
NumPy.
"""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.designs.kernels import kernel, op, p, pair, r, when
from tests.simt.patterns import pattern_by_definition
from tests.simt.recorded import path_of, widths_of

from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.ir.operands import Immediate, Register, Special
from warpreg.simt import Device, Launch, Record
from warpreg.trace.patterns import pattern_of, width_of

LANE = np.arange(32)
EMPTY = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry hand() { ret; }\n"
EXIT = op("exit")
WIDTHS, PATTERNS = Record(path=True, widths=True), Record(path=True, patterns=True)
THREAD = op("mov.u32", r(9), Special("%laneid"))


def test_a_partial_write_keeps_the_lanes_of_an_unrelated_value() -> None:
    """R1 holds 0x12345 in all lanes, 17 bits and a sign: 3 bytes.  Nothing reads it again.  Then the lower half writes
    5 to it as a new value: the upper half still holds 3 bytes.  With all lanes active 5 takes 1."""
    code = kernel(
        [THREAD, op("mov.u32", r(1), 0x12345), op("setp.lt.u32", p(0), r(9), 16), when(p(0), op("bra", 2))],
        [op("bra", 3)],
        [op("mov.u32", r(1), 5)],
        [op("mov.u32", r(1), 5), EXIT],
        successors=((2, 1), (3,), (3,), ()),
    )
    assert recorded(launched(code)) == [[1], [3], [3], [1]]


def test_a_register_that_was_never_written_holds_zero() -> None:
    """The second thread block finds nothing of the first one: its lower half writes 5 beside zeros.  The last write of
    the first thread block left 0x12345 in R1."""
    code = kernel(
        [
            THREAD,
            op("setp.lt.u32", p(0), r(9), 16),
            when(p(0), op("mov.u32", r(1), 5)),
            op("mov.u32", r(1), 0x12345),
            EXIT,
        ]
    )
    assert recorded(launched(code, thread_blocks=2)) == [[1], [1], [3]] * 2


singles = st.integers(0, 5).map(r)
pairs = st.integers(0, 2).map(lambda n: pair(2 * n))
numbers = st.sampled_from([0, 1, -1, 127, 128, -128, -129, 40000, -40000, 2**23, 2**31 - 1, -(2**31)])
plain = st.one_of(
    st.builds(op, st.just("mov.u32"), singles, numbers),
    st.builds(op, st.just("add.s32"), singles, singles, singles | st.just(r(9)) | numbers),
    st.builds(op, st.just("mad.lo.s32"), singles, st.just(r(9)), st.sampled_from([1, 4, -3, 5000]), singles),
    st.builds(op, st.just("add.s64"), pairs, pairs, pairs | numbers),
    st.builds(op, st.just("mov.b64"), pairs, pairs),
)
guarded = st.builds(when, st.integers(0, 1).map(p), plain)
comparisons = st.builds(lambda q, n: op("setp.lt.u32", q, r(9), n), st.integers(0, 1).map(p), st.integers(0, 33))
bodies = st.lists(plain | guarded | comparisons, max_size=24)


@settings(max_examples=30, deadline=None)
@given(bodies, bodies, bodies, bodies, st.integers(1, 32))
def test_random_divergent_kernels(
    first: list[Instruction], left: list[Instruction], right: list[Instruction], last: list[Instruction], threads: int
) -> None:
    """A hammock; blocks of more than 16 results store several times, pairs and words of a register mix."""
    code = kernel(
        [THREAD, *first, when(p(0), op("bra", 2))],
        [*left, op("bra", 3)],
        right,
        [*last, EXIT],
        successors=((2, 1), (3,), (3,), ()),
    )
    launch = launched(code, threads)
    assert recorded(launch) == expected(launch).widths
    launch = launched(code, threads, record=PATTERNS)
    model, found = expected(launch), recorded(launch)
    assert [[width_of(byte) for byte in each] for each in found] == model.widths
    assert [[pattern_of(byte) for byte in each] for each in found] == model.patterns


def launched(code: Kernel, threads: int = 32, thread_blocks: int = 1, record: Record = WIDTHS) -> Launch:
    device = Device(EMPTY, record=record)
    device.install(code)
    return device.launch("hand", thread_blocks, threads)


def recorded(launch: Launch) -> list[list[int]]:
    """The recorded widths, by instruction that writes registers."""
    return [widths for _, widths in widths_of(launch)]


def expected(launch: Launch) -> _Model:
    """The same by the definition (thesis §2.6), one instruction after the other along the recorded path."""
    model = _Model(launch.block[0])
    for visit in path_of(launch):
        for instruction in launch.kernel.blocks[visit.block].instructions:
            if instruction.defined:
                model.step(instruction, (np.uint32(visit.mask) >> LANE & 1).astype(bool))
    return model


class _Model:
    """Registers of one warp of so many threads, uint32[10, 32], and predicates, bool[2, 32]."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.words = np.zeros((10, 32), np.uint32)
        self.predicates = np.zeros((2, 32), bool)
        self.widths: list[list[int]] = []
        self.patterns: list[list[int]] = []

    def step(self, instruction: Instruction, active: NDArray[np.bool_]) -> None:
        target, guard = instruction.defined[0], instruction.guard
        lanes = active & self.predicates[guard.register.index] if guard else active
        values = [self._value(operand, target.type.bits) for operand in instruction.sources]
        if instruction.opcode == "setp":
            self.predicates[target.index, lanes] = (values[0] < values[1])[lanes]
            return
        result = values[0]
        if len(values) > 1:
            result = values[0] * values[1] + values[2] if instruction.opcode == "mad" else values[0] + values[1]
        for position, word in enumerate(target.words):
            self.words[word, lanes] = (result >> np.uint64(32 * position)).astype(np.uint32)[lanes]
        self.widths.append([_width(self.words[word]) for word in target.words])
        is_partial = bool((~lanes[: self.threads]).any())
        contents = [self.words[word, : self.threads].tolist() for word in target.words]
        self.patterns.append([pattern_by_definition(one, is_partial) for one in contents])

    def _value(self, operand: object, bits: int) -> NDArray[np.uint64]:
        if isinstance(operand, Special):
            return LANE.astype(np.uint64)
        if isinstance(operand, Immediate):
            return np.full(32, operand.value % 2 ** max(32, bits), np.uint64)
        assert isinstance(operand, Register)
        low, *high = (self.words[word].astype(np.uint64) for word in operand.words)
        return low | high[0] << np.uint64(32) if high else low


def _width(words: NDArray[np.uint32]) -> int:
    signed = words.view(np.int32).astype(np.int64)
    return next(k for k in range(1, 5) if ((signed >= -(1 << 8 * k - 1)) & (signed < 1 << 8 * k - 1)).all())
