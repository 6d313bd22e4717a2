"""The stall account over workloads: shares of occupied slots, and unaccounted cycles, without timing."""

from __future__ import annotations

from warpreg.evaluation.runs.run import AS_COMPILED
from warpreg.evaluation.studies.study import Study
from warpreg.timing import CAUSES
from warpreg_workbench.suite.stall_account import Account, Accounted, table


def account(unaccounted: int = 0, **causes: int) -> Account:
    return Account({cause: causes.get(cause, 0) for cause in CAUSES}, unaccounted)


def test_shares_are_of_slots_that_hold_a_warp() -> None:
    shares = account(issued=10, memory=30, empty=60).shares
    assert shares["issued"] == 0.25
    assert shares["memory"] == 0.75
    assert "empty" not in shares


def test_the_table_has_means_and_the_worst_of_what_has_no_cause() -> None:
    """`memory` is 50% and 90%: 70 in the mean; `other` 0 and 10%; `sfu` is nowhere and has no column."""
    found = {"a": account(issued=50, memory=50), "b": account(2, memory=90, other=10, empty=100)}
    text = table(Study("tiny", AS_COMPILED, {Accounted("gtx480"): found}), ["gtx480"])
    assert text.splitlines() == [
        "| machine | workloads | unaccounted | `other` | issued | memory | other |",
        "|---|---:|---:|---:|---:|---:|---:|",
        "| gtx480 | 2 | 2 | 10.0% | 25.0 | 70.0 | 5.0 |",
    ]
