"""The data of a report and the file that holds it."""

from __future__ import annotations

import builtins
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.report.page.synthetic import row

from warpreg.designs import load
from warpreg.report.page.contents import contents
from warpreg.report.page.write import ReportError, page, write

DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)


def test_what_results_share_is_stated_once() -> None:
    found = contents("study", [row("bfs", "rfc", 0, entries) for entries in (2, 4)] + [row("nw", "rfc", 1, 2)])
    assert [(one["run"], one["design"]) for one in found["results"]] == [(0, 0), (0, 1), (1, 0)]
    assert [run["workload"] for run in found["runs"]] == ["bfs", "nw"]
    assert found["runs"][0]["machine"] == "gebhart-rfc@167922fe466a"
    assert found["runs"][0]["options"]["size"] == "tiny"
    assert found["codes"] == ["0.1.0+d178a4b58eb9"]
    assert found["results"][0]["energy_normalized"] == 0.9
    assert "provenance" not in found["results"][0]


def labels(*made: dict[str, Any]) -> list[str]:
    return [one["label"] for one in contents("", made)["designs"]]


def test_a_label_has_the_parameters_in_which_designs_differ() -> None:
    other = row("bfs", "rfc", 0, 2)
    other["provenance"]["design"] = "ffffffffffff"
    assert labels(row("bfs", "rfc", 0, 2), row("bfs", "mrf", 0, 0)) == ["rfc", "mrf"]
    assert labels(row("bfs", "rfc", 0, 2), row("bfs", "rfc", 0, 4)) == ["rfc(entries=2)", "rfc(entries=4)"]
    assert labels(row("bfs", "rfc", 0, 2), other) == ["rfc@000000", "rfc@ffffff"]


def on(machine: str, banks: int) -> dict[str, Any]:
    made = {**row("bfs", "corf", 0, 2, machine), "parameters": {"banks": banks, "grouping": "off"}}
    made["provenance"]["design"] = load("corf").digest[:12]
    return made


def test_a_parameter_that_follows_the_machine_makes_no_other_design() -> None:
    found = contents("", [on("gtx480", 16), on("v100", 32)])
    assert [one["label"] for one in found["designs"]] == ["corf"]
    assert found["designs"][0]["parameters"] == {"banks": "as the machine has", "grouping": "off"}
    assert [one["of_machine"] for one in found["results"]] == [{"banks": 16}, {"banks": 32}]


def test_a_parameter_that_was_set_makes_another_design() -> None:
    assert labels(on("gtx480", 16), on("gtx480", 32), on("v100", 16)) == ["corf(banks=16)", "corf(banks=32)"]


def test_a_design_of_the_package_says_what_it_is() -> None:
    known = row("bfs", "rfc", 0, 2)
    known["provenance"]["design"] = load("rfc").digest[:12]
    named_alike, one = contents("", [row("bfs", "rfc", 0, 4), known])["designs"]
    assert one["summary"] == load("rfc").summary
    assert "summary" not in named_alike


def test_designs_are_ranked_and_a_workload_that_turns_a_pair_is_named() -> None:
    """a and b on x: 0.5 and 0.8; on y: 0.9 and 0.8: 1.6 and 0.889 times as good."""
    values = {("x", "b"): 0.8, ("x", "a"): 0.5, ("y", "b"): 0.8, ("y", "a"): 0.9}
    made = [{**row(name, design, 0, 4), "energy_normalized": value} for (name, design), value in values.items()]
    for one in made:
        del one["speed"]
    found = contents("", made)
    labels = [one["label"] for one in found["designs"]]
    (ranking,) = found["rankings"]
    assert (ranking["measure"], [labels[place] for place in ranking["order"]]) == ("energy", ["a", "b"])
    (pair,) = ranking["pairs"]
    assert (labels[pair["better"]], labels[pair["other"]], pair["workloads"]) == ("a", "b", 2)
    assert pair["turned_by"] == {"workload=y": pytest.approx(0.8 / 0.9)}
    assert contents("", made[:1])["rankings"] == []


def test_the_same_results_give_the_same_file_without_outside_parts(tmp_path: Path) -> None:
    whole = contents("<b>study</b>", [row("</script>", "<script>", 0, 2)])
    first = write(whole, tmp_path / "a.html").read_bytes()
    assert first == write(whole, tmp_path / "b.html").read_bytes()
    text = first.decode()
    (data,) = DATA.findall(text)
    assert "<" not in data
    assert json.loads(data) == json.loads(json.dumps(whole))
    assert "<title>&lt;b&gt;study&lt;/b&gt; · Warpreg</title>" in text
    assert re.findall(r"<(?:script|link|img|iframe)[^>]* (?:src|href)=", text[: text.index("<script>")]) == []
    assert "default-src 'none'; script-src 'sha256-" in text.replace("&#39;", "'")


def test_without_the_extra_the_message_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = builtins.__import__

    def without_plotly(name: str, *more: Any) -> Any:
        if name.startswith("plotly"):
            raise ImportError(name)
        return usual(name, *more)

    monkeypatch.setattr(builtins, "__import__", without_plotly)
    with pytest.raises(ReportError, match=r"requires the 'report' extra: pip install 'warpreg\[report\]'"):
        page(contents("", []))
