"""The register profile: reads per value, lifetimes, consumers."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from tests.designs.kernels import at, kernel, op, p, pair, r, when
from tests.replay import naive
from tests.replay.paths import Recorded, one_warp
from tests.replay.random_runs import runs

from warpreg.ir.instruction import Instruction
from warpreg.ir.kernel import Kernel
from warpreg.replay import Profile, profile
from warpreg.replay.profile import CONSUMERS, LIFETIMES, READ_COUNTS


def profiled(*code: Instruction) -> Profile:
    """One warp runs straight code once."""
    return profile(one_warp([0]), kernel(list(code)))


def only(counts: dict[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}


def test_reads_per_value() -> None:
    found = profiled(
        op("mov.b32", r(1), 1),  # never read
        op("mov.b32", r(1), 2),  # read once
        op("add.s32", r(2), r(1), 1),  # read three times
        op("add.s32", r(3), r(2), r(2)),  # read twice, by the store's two halves
        op("st.shared.u32", at(r(3)), r(3)),
        op("add.s32", r(3), r(2), 0),  # never read
    )
    assert found.values_by_reads == {"0": 2, "1": 1, "2": 1, ">2": 1}
    assert found.values == 5


def test_the_lifetime_of_a_value_that_the_next_instruction_reads_is_1() -> None:
    found = profiled(
        op("mov.b32", r(1), 1),
        op("mov.b32", r(2), r(1)),  # R1 lives 1
        op("mov.b32", r(3), 1),
        op("mov.b32", r(4), r(2)),  # R2 lives 2
        op("mov.b32", r(5), 1),
        op("mov.b32", r(6), r(3)),  # R3 lives 3
        op("mov.b32", r(7), 1),
        op("mov.b32", r(8), r(4)),  # R4 lives 4
    )
    assert found.once_read_by_lifetime == {"1": 1, "2": 1, "3": 1, ">3": 1}


def test_a_value_lives_on_from_block_to_block_but_not_from_warp_to_warp() -> None:
    code = kernel([op("mov.b32", r(1), 1)], [op("mov.b32", r(2), r(1))])
    path = Recorded().thread_block().warp(0).visits(0).warp(1).visits(1).warp(0).visits(1)
    found = profile(path, code)
    assert only(dict(found.values_by_reads)) == {"0": 2, "1": 1}  # both R2; R1 of warp 0
    assert only(dict(found.once_read_by_lifetime)) == {"1": 1}  # counted in warp 0's own instructions


def test_a_guarded_write_starts_a_new_value() -> None:
    found = profiled(op("mov.b32", r(1), 1), when(p(0), op("mov.b32", r(1), 2)), op("mov.b32", r(2), r(1)))
    assert only(dict(found.values_by_reads)) == {"0": 2, "1": 1}


def test_each_half_of_a_pair_is_a_value() -> None:
    found = profiled(op("mov.b64", pair(2), 1), op("mov.b32", r(0), r(3)))
    assert only(dict(found.values_by_reads)) == {"0": 2, "1": 1}


def test_operands_per_instruction() -> None:
    found = profiled(op("add.s32", r(1), r(0), r(0)), op("st.global.u32", at(pair(2)), r(1)))
    assert (found.reads_per_instruction, found.writes_per_instruction) == (5 / 2, 1 / 2)
    assert found.as_dict()["operands"] == {"read.private": 2, "read.shared": 3, "write.private": 1, "write.shared": 0}


def test_who_produces_and_who_consumes() -> None:
    found = profiled(
        op("mov.b32", r(1), 1),  # private, read by both
        op("ld.shared.u32", r(2), at(r(1))),  # shared, read by the private datapath
        op("add.s32", r(3), r(1), r(2)),  # private, read by the shared datapath
        op("sin.approx.f32", r(4), r(3)),  # shared, never read
    )
    assert found.values_by_use.tolist() == [[0, 0, 1, 1], [1, 1, 0, 0]]
    assert found.shared_consumed == 2 / 4
    assert found.shared_consumed_from_private == 1


def test_an_empty_path_has_an_empty_profile() -> None:
    found = profile(Recorded(), kernel([op("mov.b32", r(1), 1)]))
    assert (found.values, found.reads_per_instruction, found.shared_consumed) == (0, 0.0, 0.0)


@settings(max_examples=80, deadline=None)
@given(runs())
def test_the_profile_equals_that_of_a_list_of_values(run: tuple[Kernel, Recorded]) -> None:
    code, path = run
    found, values = profile(path, code), naive.values(code, path)
    once = [value.read_at[0] - value.born for value in values if len(value.read_at) == 1]
    assert found.values_by_reads == _by(READ_COUNTS, [min(len(value.read_at), 3) for value in values])
    assert found.once_read_by_lifetime == _by(LIFETIMES, [min(life, 4) - 1 for life in once])
    uses = Counter((value.producer, _consumers(value)) for value in values)
    expected = [[uses[producer, consumers] for consumers in CONSUMERS] for producer in ("private", "shared")]
    assert found.values_by_use.tolist() == expected


def _by(names: tuple[str, ...], positions: list[int]) -> dict[str, int]:
    return {name: positions.count(position) for position, name in enumerate(names)}


def _consumers(value: naive.Value) -> str:
    return {0: "none", 1: next(iter(value.readers), ""), 2: "both"}[len(value.readers)]
