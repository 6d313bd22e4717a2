"""``warpreg diff``: what changes, what is worse, and which kernels are in one version only."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from warpreg.cli import main
from warpreg.evaluation.runs.code_changes import Change

Output = pytest.CaptureFixture[str]
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
KERNEL = """.visible .entry NAME(.param .u64 out)
{
    .reg .b32 %a, %b;
    .reg .b64 %out;
    ld.param.u64 %out, [out];
    mov.u32 %a, %tid.x;
    add.u32 %b, %a, %a;
    CODE
    st.global.u32 [%out], %b;
    ret;
}
"""
PLAIN, MORE, OTHER = "", "mul.lo.u32 %b, %b, %a;\n    xor.b32 %b, %b, %a;", "xor.b32 %b, %b, 1;"
LAUNCH = ["--grid", "1", "--block", "32", "--arg", "buffer:u32:32"]


def file(folder: Path, name: str, **kernels: str) -> str:
    path = folder / name
    texts = (KERNEL.replace("NAME", kernel).replace("CODE", code) for kernel, code in kernels.items())
    path.write_text(HEAD + "".join(texts), encoding="utf-8")
    return str(path)


def compared(capsys: Output, *arguments: str) -> tuple[int, dict[str, Any]]:
    status = main(["diff", *arguments, "--json"])
    return status, json.loads(capsys.readouterr().out)


def changed(found: dict[str, Any]) -> dict[tuple[str | None, str], tuple[float, float]]:
    """By design and quantity, what changes: before, after."""
    return {
        (one["design"], one["quantity"]): (one["before"], one["after"])
        for one in found["changes"]
        if one["before"] != one["after"]
    }


def test_without_launches_the_code_is_compared(tmp_path: Path, capsys: Output) -> None:
    """Two instructions more, each with two sources and one result; %a then lives beside %b and the pair %out."""
    before, after = file(tmp_path, "a.ptx", one=PLAIN), file(tmp_path, "b.ptx", one=MORE)
    status, found = compared(capsys, before, after)
    assert status == 0
    assert changed(found) == {
        (None, "live registers"): (3, 4),
        (None, "instructions"): (5, 7),
        (None, "static reads"): (5, 9),
        (None, "static writes"): (4, 6),
    }
    assert found["outputs_differ"] is None


@pytest.mark.slow
def test_with_a_launch_designs_count_and_outputs_are_compared(tmp_path: Path, capsys: Output) -> None:
    """One warp: reads and writes of the MRF are those of the code, and a cache of six entries needs none of them."""
    before, after = file(tmp_path, "a.ptx", one=PLAIN), file(tmp_path, "b.ptx", one=MORE)
    status, found = compared(capsys, before, after, *LAUNCH)
    assert status == 0
    assert changed(found)["mrf", "MRF accesses"] == (5 + 4, 9 + 6)
    assert changed(found)["rfc(entries=6)", "RFC accesses"] == (5 + 4, 9 + 6)
    assert ("rfc(entries=6)", "MRF accesses") not in changed(found)
    assert changed(found)[None, "warp-instructions"] == (5, 7)
    assert found["outputs_differ"] == ["argument 0"]


def test_the_status_follows_the_limit_and_the_chosen_quantities(tmp_path: Path, capsys: Output) -> None:
    before, after = file(tmp_path, "a.ptx", one=PLAIN), file(tmp_path, "b.ptx", one=MORE)
    status, found = compared(capsys, before, after, "--fail-above", "45%")
    assert status == 1
    fails = [one["quantity"] for one in found["changes"] if one["fails"]]
    assert fails == ["static reads", "static writes"]
    assert compared(capsys, before, after, "--fail-above", "45", "--fail-on", "instructions,registers")[0] == 0
    assert compared(capsys, after, before, "--fail-above", "0%")[0] == 0


def test_kernels_of_one_version_are_said(tmp_path: Path, capsys: Output) -> None:
    before = file(tmp_path, "a.ptx", one=PLAIN, gone=PLAIN)
    after = file(tmp_path, "b.ptx", one=OTHER, fresh=PLAIN)
    assert main(["diff", before, after]) == 0
    out = capsys.readouterr().out
    assert "removed: gone; added: fresh" in out
    assert "4 of 7 quantities do not change" in out


def test_several_kernels_that_run_have_a_sum(tmp_path: Path, capsys: Output) -> None:
    """A launch file runs both kernels of either version; the second kernel runs twice."""
    before = file(tmp_path, "a.ptx", one=PLAIN, two=PLAIN)
    after = file(tmp_path, "b.ptx", one=PLAIN, two=MORE)
    launch = '[[launches]]\nkernel = "{}"\ngrid = [1]\nblock = [32]\narguments = ["x"]\nrepeat = {}\n'
    text = 'source = "a.ptx"\n[sizes.small]\nn = 32\n[arrays.x]\ndtype = "uint32"\nshape = ["n"]\nfill = "zeros"\n'
    launches = tmp_path / "launches.toml"
    launches.write_text(text + launch.format("one", 1) + launch.format("two", 2), encoding="utf-8")
    status, found = compared(capsys, before, after, "--launches", str(launches), "--designs", "mrf")
    assert status == 0
    counts = {
        one["kernel"]: (one["before"], one["after"]) for one in found["changes"] if one["quantity"] == "MRF accesses"
    }
    assert counts == {"one": (9, 9), "two": (18, 30), "all kernels": (27, 39)}


def test_a_file_beside_a_workload_runs_with_its_launches(capsys: Output) -> None:
    folder = Path(__file__).parents[2] / "src" / "warpreg" / "workloads" / "cuda_sdk" / "vector_add"
    files = "vector-add", str(folder / "kernel.ptx")
    status, found = compared(capsys, *files, "--size", "tiny", "--designs", "mrf")
    assert status == 0
    assert changed(found) == {}
    assert found["outputs_differ"] == []
    assert {one["design"] for one in found["changes"]} == {None, "mrf"}


def test_more_of_occupancy_is_better() -> None:
    def change(quantity: str, before: float, after: float) -> float:
        return Change("k", "", quantity, before, after).worsening

    assert change("occupancy", 0.5, 0.25) == 0.5
    assert change("occupancy", 0.5, 0.75) == -0.5
    assert change("cycles", 100, 102) == 0.02
    assert change("local bytes", 0, 16) == math.inf
    assert change("local bytes", 0, 0) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.ptx", "missing.ptx"], "missing.ptx: No such file or directory"),
        (["a.ptx", "c.ptx"], "have no kernel of the same name: removed: one; added: other"),
        (["a.ptx", "b.ptx", "--cycles"], "--cycles requires launches"),
        (["a.ptx", "b.ptx", "--fail-above", "much"], "expected a percentage from 0 on"),
        (["a.ptx", "b.ptx", "--fail-on", "energy"], "--fail-on requires --fail-above"),
        (["a.ptx", "b.ptx", "--fail-above", "1", "--fail-on", "energy"], "no quantity of this comparison named"),
        (["a.ptx", "nw", "--size", "tiny"], "a.ptx with the launches of nw: no kernel in"),
        (["a.ptx", "b.ptx", "--launches", "nw", "--grid", "1"], "are for two kernel files without --launches"),
        (["a.ptx", "b.ptx", "--grid", "1"], "one takes 1 arguments"),
        (["a.ptx", "hotspt"], "did you mean|no workload named 'hotspt'"),
    ],
)
def test_bad_input_is_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, kernel in (("a.ptx", "one"), ("b.ptx", "one"), ("c.ptx", "other")):
        file(tmp_path, name, **{kernel: PLAIN})
    assert main(["diff", *arguments]) in (1, 2)
    captured = capsys.readouterr()
    assert any(part in captured.err for part in message.split("|"))
    assert captured.out == ""
