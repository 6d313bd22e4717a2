"""``compare --rank-by`` and ``--vary``: the ranking of what was compared, over other orders, addresses and machines."""

from __future__ import annotations

import json

import pytest

import warpreg
from warpreg.cli import main
from warpreg.evaluation.runs.run import CompileChoice
from warpreg.evaluation.sweep.variations import VariationError, variations

Output = pytest.CaptureFixture[str]
COMPARE = ("compare", "vector-add", "--size", "tiny", "-j", "1", "--designs", "mrf,rfc,orf-lrf")


def complaint(capsys: Output, *arguments: str) -> str:
    assert main([*COMPARE, *arguments]) == 2
    return capsys.readouterr().err


def test_each_variation_changes_one_thing() -> None:
    choice = CompileChoice(address_bits=32)
    found = variations(["order", "address-bits", "machine=gtx480", "order"], "v100", choice)
    assert [(one.machine, one.choice.schedule, one.choice.address_bits) for one in found] == [
        ("v100", True, 32),
        ("v100", False, 32),
        ("v100", True, 64),
        ("gtx480", True, 32),
    ]


@pytest.mark.slow
def test_what_cannot_be_ranked_is_one_line(capsys: Output) -> None:
    told = complaint(capsys, "--vary", "orders")
    assert "--vary orders: expected order, address-bits or machine=NAME" in told
    assert "--rank-by speed requires --cycles" in complaint(capsys, "--rank-by", "speed")
    assert "--csv prints no ranking; use --json" in complaint(capsys, "--vary", "order", "--csv")
    assert main([*COMPARE, "--vary", "machine=gtx48"]) == 1
    assert "did you mean 'gtx480'?" in capsys.readouterr().err


@pytest.mark.slow
def test_a_ranking_has_the_rows_of_the_comparison_and_places_of_every_variation(capsys: Output) -> None:
    assert main([*COMPARE, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert main([*COMPARE, "--json", "--vary", "order", "--vary", "address-bits"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rows"] == rows
    assert sorted(one["design"] for one in found["ranking"]) == ["mrf", "orf-lrf(entries=3)", "rfc(entries=6)"]
    assert [pair["places"] for pair in found["comparisons"]] == [3, 3, 3]
    assert main([*COMPARE, "--rank-by", "accesses_left"]) == 0
    assert " beats mrf: " in capsys.readouterr().out


@pytest.mark.slow
def test_the_reason_why_the_baseline_has_no_result_is_told(capsys: Output) -> None:
    assert main([*COMPARE[:-1], "mrf,corf", "--baseline", "corf"]) == 1
    assert "the baseline corf has no result: corf: depends on the order of warps" in capsys.readouterr().err


@pytest.mark.slow
def test_no_design_is_an_error_and_a_name_counts_once(capsys: Output) -> None:
    assert main([*COMPARE[:-1], ""]) == 2
    assert "--designs: expected at least one design, found none" in capsys.readouterr().err
    assert main([*COMPARE[:-1], "mrf,mrf", "vector-add", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 1


@pytest.mark.slow
def test_a_misspelt_name_beside_all_is_an_error(capsys: Output) -> None:
    assert main(["compare", "all", "vector-ad", "--size", "tiny"]) == 1
    assert "did you mean 'vector-add'?" in capsys.readouterr().err


def test_python_compares_under_the_same_variations() -> None:
    """The rows of a variation are those of runs with its options, normalized to its own baseline."""
    frame = warpreg.compare_workloads(["vector-add"], ["mrf", "rfc"], size="tiny", vary=["order"], baseline="rfc")
    assert frame["variation"].tolist() == ["", "", "order", "order"]
    ordered = warpreg.compare(warpreg.run("vector-add", size="tiny", schedule=False), ["mrf", "rfc"])
    pj = ordered["energy_pj"].tolist()
    assert frame["energy_pj"].tolist()[2:] == pj
    assert frame["energy_normalized"].tolist()[2:] == pytest.approx([pj[0] / pj[1], 1])
    with pytest.raises(VariationError, match=r"orders: expected order, address-bits or machine=NAME"):
        warpreg.compare_workloads(["vector-add"], size="tiny", vary=["orders"])
