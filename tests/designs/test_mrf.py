"""The main register file alone."""

from __future__ import annotations

from hypothesis import given, settings
from tests.designs.kernels import at, kernel, op, pair, r
from tests.replay import naive
from tests.replay.naive_cache import cache_counts
from tests.replay.paths import Recorded, one_warp
from tests.replay.random_runs import runs

from warpreg.energy import account, load
from warpreg.ir.kernel import Kernel
from warpreg.replay import replay


def test_every_access_goes_to_the_mrf() -> None:
    code = kernel([op("add.s32", r(1), r(0), r(0)), op("st.global.u32", at(pair(2)), r(1))])
    found = replay(one_warp([0, 0]), code, "mrf")
    assert found.as_dict() == {
        "design": "mrf",
        "parameters": {},
        "warp_instructions": 4,
        "accesses": {"MRF.read.private": 4, "MRF.read.shared": 6, "MRF.write.private": 2},
        "moves": {},
        "events": {},
    }


def test_the_energy_of_one_add() -> None:
    """Per warp-register eight accesses of 128 bits at 8 or 11 pJ, and 1 mm of wire at 1.9 pJ for each of 32 words."""
    found = replay(one_warp([0]), kernel([op("add.s32", r(1), r(0), r(0))]), "mrf")
    report = account(found.energy_list(), load("gebhart-40nm"))
    assert report.access_pj == 2 * 8 * 8 + 8 * 11
    assert report.wire_pj == 3 * 32 * 1.9


@settings(max_examples=60, deadline=None)
@given(runs())
def test_counts_equal_those_of_walking_the_instructions(run: tuple[Kernel, Recorded]) -> None:
    code, path = run
    found = replay(path, code, "mrf")
    assert found.as_dict()["accesses"] == dict(cache_counts(code, path, entries=0))
    assert found.warp_instructions == sum(1 for _ in naive.steps(code, path))
