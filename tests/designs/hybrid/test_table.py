"""Vectors and the renaming table: nothing is lost, nothing is overwritten that is still read, nothing runs out."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpreg.designs.parts.hybrid.columns import (
    FIRST,
    FLAGS,
    NONE,
    NUMBER,
    OLD,
    PENDING,
    POWERED,
    SPARE,
    SUPERSEDED,
    VECTOR,
)
from warpreg.designs.parts.hybrid.table import (
    CARRIES,
    DYING,
    begin_use,
    empty_table,
    end_use,
    end_warp,
    kill,
    must_stay,
    rename,
)
from warpreg.designs.parts.hybrid.vectors import (
    CMOS,
    SCALED,
    TFET,
    UNLIMITED,
    bank_of,
    empty_lists,
    enter,
    give,
    kind_of,
    leave,
    powered_for,
    reserve,
    take,
)

GATINGS = (SCALED, UNLIMITED)


def file_of(vectors: int, tfet: int, gating: int = SCALED, warps: int = 0, registers: int = 1) -> Any:
    """The state of one SM."""
    cmos = vectors if gating == UNLIMITED else vectors - tfet
    tfet = vectors if gating == UNLIMITED else tfet
    of_sm = {name: np.array([row]) for name, row in empty_lists(cmos, tfet).items()}
    of_warp = {name: np.array([row] * warps) for name, row in empty_table(registers).items()}
    return SimpleNamespace(vectors=vectors, cmos=cmos, tfet=tfet, gating=gating, **of_sm, **of_warp)


@pytest.mark.parametrize("banks", [1, 6, 16])
def test_vectors_go_round_the_banks(banks: int) -> None:
    state = SimpleNamespace(banks=banks)
    assert [bank_of(state, vector) for vector in range(34)] == [vector % banks for vector in range(34)]


def test_lists_are_first_in_first_out() -> None:
    """Five vectors, two of them TFET: 0 to 2 and 3, 4."""
    state = file_of(5, 2)
    enter(state, 0, 5)
    assert [take(state, 0, CMOS) for _ in range(4)] == [0, 1, 2, NONE]
    for vector in (2, 0):
        give(state, 0, vector)
    assert [take(state, 0, TFET) for _ in range(3)] == [3, 4, NONE]
    assert [take(state, 0, CMOS) for _ in range(3)] == [2, 0, NONE]
    assert [kind_of(state, vector) for vector in range(5)] == [CMOS, CMOS, CMOS, TFET, TFET]


@pytest.mark.parametrize(
    ("gating", "demand", "on"),
    [
        (SCALED, 512, 400),
        (SCALED, 384, 300),  # 384 x 400 / 512
        (SCALED, 433, 339),  # 338.3, rounded up
        (UNLIMITED, 1, 512),
    ],
)
def test_vectors_that_are_on(gating: int, demand: int, on: int) -> None:
    """Section 3.3: 78%, which is 400 of 512, of the registers that warps may claim."""
    assert powered_for(file_of(512, 112, gating), demand) == on


@pytest.mark.parametrize("gating", GATINGS)
@pytest.mark.parametrize("tfet", [0, 1, 112, 511, 512])
def test_spare_vectors_never_grow_with_the_demand(gating: int, tfet: int) -> None:
    """Steps 1 and 2 of the proof in `vectors`, for every demand."""
    state = file_of(512, tfet, gating)
    spare = [powered_for(state, demand) + state.tfet - demand for demand in range(513)]
    assert all(after <= before for before, after in itertools.pairwise(spare))
    assert spare[-1] >= 0


def test_spare_is_that_of_the_thread_blocks_that_fit() -> None:
    """Eight warps of 20 registers a block: three blocks of 160 fit 512 vectors, so that at most 480 are claimed.  Then
    375 of 400 are on, and 112: seven more than needed.
    """
    state = file_of(512, 112)
    reserve(state, 0, 32, 160, 8)
    assert state.own[0, SPARE] == 375 + 112 - 480


@dataclass
class Model:
    """Warps that issue, read and write at random, with the vectors that sources and results in flight refer to."""

    state: Any
    registers: int
    running: set[int] = field(default_factory=set)
    reads: list[tuple[int, int, int]] = field(default_factory=list)
    """(warp, register, vector) of sources that are not read yet."""
    writes: list[tuple[int, int, bool]] = field(default_factory=list)
    """(warp, register, whether lanes are carried) of results that are not produced yet."""
    kinds: Counter[int] = field(default_factory=Counter)
    """Vectors given, by technology."""

    def start(self, warp: int) -> None:
        if warp not in self.running and (len(self.running) + 1) * self.registers <= self.state.vectors:
            self.running.add(warp)
            self.state.registers[warp, :, [VECTOR, OLD]] = NONE
            enter(self.state, 0, self.registers)

    def end(self, warp: int) -> None:
        if warp in self.running and not any(one[0] == warp for one in (*self.reads, *self.writes)):
            end_warp(self.state, 0, warp)
            leave(self.state, 0, self.registers)
            self.running.remove(warp)

    def issue(self, warp: int, source: int, target: int, kind: int, last: bool, partial: bool, dead: bool) -> None:
        state = self.state
        if warp not in self.running or any(one[0] == warp and one[1] in (source, target) for one in self.writes):
            return  # the scoreboard
        begin_use(state, warp, source)
        self.reads.append((warp, source, int(state.registers[warp, source, VECTOR])))
        if last:
            state.registers[warp, source, FLAGS] |= DYING
        before = int(state.registers[warp, target, VECTOR])
        stays = must_stay(state, 0, warp, target, partial)
        if stays:
            state.registers[warp, target, FLAGS] = 0
        else:
            rename(state, 0, warp, target, kind, partial)
        if dead:
            state.registers[warp, target, FLAGS] |= DYING
        begin_use(state, warp, target)
        vector = int(state.registers[warp, target, VECTOR])
        assert vector != NONE, "renaming ran out"
        assert all(vector != of for _, _, of in self.reads) or stays, "a vector that is still read was given away"
        assert not stays or vector == before
        self.writes.append((warp, target, bool(state.registers[warp, target, FLAGS] & CARRIES)))
        self.kinds[kind_of(state, vector)] += not stays

    def read(self, place: int) -> None:
        if self.reads:
            warp, register, _ = self.reads.pop(place % len(self.reads))
            end_use(self.state, 0, warp, register)

    def write(self, place: int) -> None:
        if self.writes:
            warp, register, carries = self.writes.pop(place % len(self.writes))
            if carries:
                assert self.state.registers[warp, register, OLD] != NONE, "the lanes that are carried are gone"
                self.state.registers[warp, register, FLAGS] &= DYING
            end_use(self.state, 0, warp, register)

    def kill(self, warp: int, register: int) -> None:
        if warp in self.running:
            kill(self.state, 0, warp, register)

    def check(self) -> None:
        """Each vector that is on is in one place; the spare ones are kept."""
        state = self.state
        lists = [
            int(state.free[0, kind, (state.own[0, FIRST + kind] + i) % state.free.shape[2]])
            for kind in (CMOS, TFET)
            for i in range(state.own[0, NUMBER + kind])
        ]
        mapped = [int(v) for warp in self.running for v in state.registers[warp][:, [VECTOR, OLD]].flat if v != NONE]
        on = [*range(state.own[0, POWERED]), *range(state.cmos, state.cmos + state.tfet)]
        assert sorted(lists + mapped) == on
        assert state.own[0, SUPERSEDED] <= state.own[0, SPARE]
        free = len(self.running) * self.registers - sum(
            int(v) != NONE for w in self.running for v in state.registers[w, :, VECTOR]
        )
        assert len(lists) >= free


WARPS, REGISTERS = 5, 4
warp, register = st.integers(0, WARPS - 1), st.integers(0, REGISTERS - 1)
kinds, flag = st.sampled_from((CMOS, TFET)), st.booleans()
steps = st.lists(
    st.one_of(
        st.tuples(st.just("start"), warp),
        st.tuples(st.just("issue"), warp, register, register, kinds, flag, flag, flag),
        st.tuples(st.just("issue"), warp, register, register, kinds, st.just(False), flag, st.just(False)),
        st.tuples(st.just("read"), st.integers(0, 9)),
        st.tuples(st.just("write"), st.integers(0, 9)),
        st.tuples(st.just("kill"), warp, register),
        st.tuples(st.just("end"), warp),
    ),
    max_size=120,
)


@settings(deadline=None)
@given(
    steps,
    st.sampled_from(GATINGS),
    st.integers(REGISTERS, WARPS * REGISTERS + 6),
    st.floats(0, 1),
)
def test_vectors_are_never_lost_overwritten_or_missing(
    script: list[tuple[Any, ...]], gating: int, vectors: int, share: float
) -> None:
    state = file_of(vectors, round(share * vectors), gating, WARPS, REGISTERS)
    model = Model(state, REGISTERS)
    reserve(state, 0, WARPS, REGISTERS, 1)
    for warp in range(WARPS):
        model.start(warp)
    for action, *arguments in script:
        getattr(model, action)(*arguments)
        model.check()
    for flight, finish in ((model.reads, model.read), (model.writes, model.write)):
        while flight:
            finish(0)
    for warp in list(model.running):
        model.end(warp)
    model.check()
    assert not state.own[0, SUPERSEDED]
    assert not state.registers[:, :, PENDING].any()


def test_a_vector_is_free_when_its_last_reader_has_read_it() -> None:
    """Two readers of register 0; the second one is the last."""
    state = file_of(8, 2, warps=1, registers=4)
    enter(state, 0, 4)
    rename(state, 0, 0, 0, CMOS, partial=False)
    state.registers[0, 0, PENDING] = 2
    state.registers[0, 0, FLAGS] |= DYING
    assert end_use(state, 0, 0, 0) == 0
    assert end_use(state, 0, 0, 0) == 1
    assert state.registers[0, 0, VECTOR] == NONE


def test_a_partial_write_keeps_the_old_vector_until_it_is_produced() -> None:
    state = file_of(8, 2, warps=1, registers=4)
    reserve(state, 0, 1, 4, 1)
    enter(state, 0, 4)
    rename(state, 0, 0, 0, CMOS, partial=False)
    first = int(state.registers[0, 0, VECTOR])
    assert not must_stay(state, 0, 0, 0, partial=True)
    rename(state, 0, 0, 0, TFET, partial=True)
    begin_use(state, 0, 0)
    assert (int(state.registers[0, 0, OLD]), int(state.registers[0, 0, FLAGS])) == (first, CARRIES)
    assert end_use(state, 0, 0, 0) == 1
    assert state.registers[0, 0, OLD] == NONE


def test_without_room_for_two_vectors_a_result_is_written_in_place() -> None:
    """A warp of four registers in a file of four vectors."""
    state = file_of(4, 1, warps=1, registers=4)
    reserve(state, 0, 1, 4, 1)
    enter(state, 0, 4)
    assert state.own[0, SPARE] == 0
    rename(state, 0, 0, 0, CMOS, partial=False)
    assert must_stay(state, 0, 0, 0, partial=True)
    assert not must_stay(state, 0, 0, 0, partial=False)
    begin_use(state, 0, 0)
    assert must_stay(state, 0, 0, 0, partial=False)
    assert not must_stay(state, 0, 0, 1, partial=True)
