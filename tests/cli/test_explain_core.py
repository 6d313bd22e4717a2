"""``warpreg explain-core``: which functions a core consists of."""

from __future__ import annotations

import json

import pytest

from warpreg.cli import main

Output = pytest.CaptureFixture[str]


def test_rows_say_what_runs_where_and_why(capsys: Output) -> None:
    """The operand path of the machine, and the hook of the design at its own line."""
    assert main(["explain-core", "gtx480", "--design", "rfc", "--json"]) == 0
    rows = {row["port"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["ports.collect"]["function"] == "banked_path.collect"
    assert rows["ports.collect"]["why"] == "operands are read through collectors"
    assert rows["adapters.plan_reads"]["place"].startswith("designs/caches/rfc.py:")
    assert rows["operand_collector.wanted"]["why"] == "as written"


def test_only_what_is_replaced_is_shown_on_request(capsys: Output) -> None:
    """A table for each stage, without functions that run as they are written."""
    assert main(["explain-core", "gebhart-rfc", "--replaced"]) == 0
    out = capsys.readouterr().out
    assert "Operands are read, instructions are dispatched" in out
    assert "ideal_path.collect" in out
    assert "as written" not in out


def test_control_codes_are_a_property_of_the_kernel(capsys: Output) -> None:
    for options, wanted in (((), "ports.stall"), (("--control-codes",), "control_codes.stall")):
        assert main(["explain-core", "h100", "--json", *options]) == 0
        rows = {row["port"]: row["function"] for row in json.loads(capsys.readouterr().out)}
        assert rows["ports.stall"] == wanted


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gtx48",), "no machine named 'gtx48'; did you mean 'gtx480'?"),
        (("gtx480", "--design", "rfcc"), "no design named 'rfcc'"),
        (("h100", "--design", "bow"), "machine h100 has none, its operands are read in a window"),
    ],
)
def test_what_does_not_exist_is_refused(arguments: tuple[str, ...], message: str, capsys: Output) -> None:
    assert main(["explain-core", *arguments]) != 0
    assert message in capsys.readouterr().err
