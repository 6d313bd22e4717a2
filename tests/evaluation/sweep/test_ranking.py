"""Rankings: means, intervals, and the cases that turn them, on rows worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from tests.evaluation.sweep.conftest import StudyFolder

from warpreg.cli import main
from warpreg.evaluation.sweep.errors import SweepError
from warpreg.evaluation.sweep.ranking import Results, front

Output = pytest.CaptureFixture[str]


def row(workload: str, energy: float, machine: str = "v100", **more: Any) -> dict[str, Any]:
    place = {"workload": workload, "machine": machine, "technology": "t", "size": "tiny", "seed": 0, "compile": {}}
    return {**place, "energy_normalized": energy, "elided": 1 - energy, **more}


def results(rows: Sequence[tuple[str, dict[str, Any]]], by: str = "energy_normalized") -> Results:
    return Results.of(rows, by)


def test_a_ranking_and_its_mean_ratio() -> None:
    """Ratios of b to a: 0.8 / 0.4 = 2 and 0.4 / 0.8 = 0.5 on x, 0.9 / 0.1 = 9 on y: sqrt(sqrt(2 * 0.5) * 9) = 3."""
    rows = [
        ("a", row("x", 0.4)), ("b", row("x", 0.8)),
        ("a", row("x", 0.8, "gtx480")), ("b", row("x", 0.4, "gtx480")),
        ("a", row("y", 0.1)), ("b", row("y", 0.9)),
    ]  # fmt: skip
    found = results(rows)
    assert found.ranked() == ["a", "b"]
    pair = found.compared("a", "b")
    assert pair is not None
    assert pair.ratio == pytest.approx(3)
    assert pair.places == 3
    assert (pair.low, pair.high) == (pytest.approx(1), pytest.approx(9))  # only x, only y
    assert dict(pair.turned) == {"machine=gtx480": pytest.approx(0.5)}
    assert str(pair) == "a beats b: 3.000 times as good (1.000 to 9.000) on 2 workloads, unless machine=gtx480"


@pytest.mark.parametrize(("workloads", "is_told"), [(2, False), (9, False), (10, True), (11, True)])
def test_a_certainty_takes_ten_workloads(workloads: int, is_told: bool) -> None:
    """a is better on all, and so in every resample."""
    rows = [(label, row(f"w{place}", energy)) for place in range(workloads) for label, energy in (("a", 0.5), ("b", 1))]
    pair = results(rows).compared("a", "b")
    assert pair is not None
    beats = "a beats b: 2.000 times as good (2.000 to 2.000)"
    told = f", in 100% of resamples of {workloads} workloads" if is_told else f" on {workloads} workloads"
    assert str(pair) == beats + told
    assert (pair.as_dict()["share_of_resamples"], pair.as_dict()["workloads"]) == (1.0 if is_told else None, workloads)


def test_an_end_of_the_band_that_turns_the_ranking() -> None:
    """On x and y alike: 0.6 / 0.5 = 1.2; with the least costly main register file 0.6 / 0.8 = 0.75."""
    ends = {"a": [0.8, 0.4], "b": [0.6, 0.6]}
    energy = {"a": 0.5, "b": 0.6}
    rows = [(label, row(name, energy[label], energy_ends=ends[label])) for name in ("x", "y") for label in ends]
    pair = results(rows).compared("a", "b")
    assert pair is not None
    assert pair.ratio == pytest.approx(1.2)
    assert dict(pair.turned) == {"band=low": pytest.approx(0.75)}
    speeds = [(label, {**one, "speed": 1.0}) for label, one in rows]
    pair = results(speeds, "speed").compared("a", "b")
    assert pair is not None
    assert pair.turned == ()


def test_only_places_that_both_have_are_compared() -> None:
    found = results([("a", row("x", 0.5)), ("b", row("x", 0.6)), ("b", row("y", 0.1))])
    pair = found.compared("a", "b")
    assert pair is not None
    assert (pair.places, pair.ratio) == (1, pytest.approx(1.2))
    assert str(pair) == "a beats b: 1.200 times as good on the one workload"  # of which no interval can be had
    assert found.ranked() == ["a", "b"]
    assert results([("a", row("x", 0.5)), ("b", row("y", 0.1))]).compared("a", "b") is None


def test_designs_without_a_common_place_are_ranked_by_their_own_means() -> None:
    """b is on one machine, c on the other, and a on both.  Where both are, a is better than b, and c better than a."""
    found = results(
        [("a", row("x", 0.6)), ("a", row("x", 0.6, "gtx480")), ("b", row("x", 0.9)), ("c", row("x", 0.3, "gtx480"))]
    )
    assert found.ranked() == ["c", "a", "b"]
    for pair in (found.compared("a", "c"), found.compared("c", "a")):
        assert pair is not None
        assert (pair.better, pair.other, pair.ratio) == ("c", "a", pytest.approx(2))
    assert found.compared("b", "c") is None


def test_a_compile_option_that_turns_the_ranking() -> None:
    narrow: dict[str, Any] = {"compile": {"address_bits": 32}}
    rows = [("a", row("x", 0.2)), ("b", row("x", 0.4)), ("a", row("x", 0.4, **narrow)), ("b", row("x", 0.3, **narrow))]
    pair = results(rows).compared("a", "b")
    assert pair is not None
    assert [case for case, _ in pair.turned] == ["compile.address_bits=32"]


def test_an_option_that_is_not_named_has_the_default_of_the_compiler() -> None:
    """b is better in sum, sqrt(0.2 / 0.4 * 0.9 / 0.3), but not in the order that is scheduled, as by default."""
    by_ptx: dict[str, Any] = {"compile": {"schedule": False}}
    rows = [("a", row("x", 0.2)), ("b", row("x", 0.4)), ("a", row("x", 0.9, **by_ptx)), ("b", row("x", 0.3, **by_ptx))]
    pair = results(rows).compared("b", "a")
    assert pair is not None
    assert dict(pair.turned) == {"compile.schedule=True": pytest.approx(0.5)}


def test_results_that_are_better_if_higher() -> None:
    rows = [("a", row("x", 0.5, speed=0.9)), ("b", row("x", 0.5, speed=1.2))]
    assert results(rows, "speed").ranked() == ["b", "a"]
    pair = results(rows, "speed").compared("b", "a")
    assert pair is not None
    assert pair.ratio == pytest.approx(4 / 3)
    with pytest.raises(SweepError, match="ipc: the cells have no such result; it requires cycles = true"):
        results(rows, "ipc")


def test_failed_rows_are_left_out() -> None:
    assert results([("a", row("x", 0.5)), ("b", {**row("x", 0.1), "error": "no"})]).ranked() == ["a"]


def test_the_pareto_front() -> None:
    points = {"low": (0.2, 9.0), "small": (0.9, 0.0), "worse": (0.9, 1.0), "same": (0.2, 9.0)}
    assert front(points) == ["low", "small", "same"]


def test_the_command(study: StudyFolder, capsys: Output) -> None:
    file = study.write(
        'workloads = "counted.py"\nsizes = "tiny"\n[[designs]]\nname = "rfc"\nparameters = { entries = [2, 6] }\n'
        '[[designs]]\nname = "mrf"\n'
    )
    assert main(["rank", str(file)]) == 1
    assert "no cell is finished" in capsys.readouterr().err
    assert main(["sweep", str(file), "-j", "1", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert main(["rank", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    energies = {"rfc(entries=2)": rows[0], "rfc(entries=6)": rows[1], "mrf": rows[2]}
    best = sorted(energies, key=lambda label: energies[label]["energy_normalized"])
    assert [one["design"] for one in found["ranking"]] == best
    assert len(found["comparisons"]) == 3
    assert main(["rank", str(file)]) == 0
    printed = capsys.readouterr().out
    assert f"{best[0]} beats {best[1]}: " in printed
    assert "\n1 workload, too few to say how certain that is; 10 are enough\n" in printed
    assert "%" not in printed


def test_designs_that_are_equal_do_not_beat_each_other() -> None:
    """0.1 + 0.2 is 0.3 but for rounding."""
    rows = [("a", row("x", 0.3)), ("b", row("x", 0.1 + 0.2)), ("a", row("y", 0.5)), ("b", row("y", 0.5))]
    pair = results(rows).compared("a", "b")
    assert pair is not None
    assert (str(pair), pair.turned) == ("a and b are equal", ())


def test_means_are_those_of_the_places_that_all_designs_have() -> None:
    """c has only x, on which a is better than b; over x and y, b is better than a: sqrt(0.5 / 0.6 * 0.9 / 0.2)."""
    energies = {"a": {"x": 0.5, "y": 0.9}, "b": {"x": 0.6, "y": 0.2}, "c": {"x": 0.7}}
    found = results([(label, row(name, energy)) for label, own in energies.items() for name, energy in own.items()])
    assert found.ranked() == ["a", "b", "c"]
    assert found.means() == pytest.approx({"a": 0.5, "b": 0.6, "c": 0.7})
    pair = found.compared("a", "b")
    assert pair is not None
    assert (pair.better, pair.other) == ("b", "a")
    assert pair.ratio == pytest.approx((0.5 / 0.6 * 0.9 / 0.2) ** 0.5)


def test_without_a_common_place_each_design_has_its_own_mean() -> None:
    found = results([("a", row("x", 0.5)), ("b", row("y", 0.4))])
    assert found.ranked() == ["b", "a"]


def test_a_result_of_zero_is_better_than_any_other() -> None:
    rows = [("a", row("x", 0.0)), ("b", row("x", 0.5)), ("a", row("y", 0.8)), ("b", row("y", 0.5))]
    pair = results(rows, "accesses_left").compared("b", "a")
    assert pair is not None
    assert pair.better == "a"
    json.dumps(pair.as_dict(), allow_nan=False)
    assert " beats b: 2e+04 times as good (0.625 to 1e+09)" in str(pair)  # sqrt(1e9 * 5 / 8)
