"""Nulls: the value expected without the effect never passes, or is counted separately."""

from __future__ import annotations

import pytest

from warpreg_papers import published
from warpreg_papers.published import Published, PublishedError
from warpreg_papers.reproduction import PAPERS
from warpreg_papers.summary import Summary, summed

RESULTS = {one.id: one for paper in PAPERS for one in published.results(paper)}


def result(**fields: object) -> Published:
    return Published(id="x", paper="p", where="§1", what="something", **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "end", "tolerance"),
    [
        ("rfc-6-mrf-reads-avoided", 0.5, 0.05),  # half of the way to 0 is 0.25
        ("rc-rsp-gpu-energy-rc", 0.943, 0.0285),  # a tenth is 0.0943, half of the way to 1 less
        ("rc-rsp-area-rsp", 0.036, 0.018),
        ("orf-limit-backward-branch", 0.05, 0.025),
        ("rfc-flush-cost", 0.1, 0.05),  # about: twice 0.05, but half of the way to 0
        ("rfc-lru-extra", 0.01, 0.005),  # of a range half of the way from its nearer end
        ("rfc-lru-extra", 0.02, 0.005),
        ("rfc-table5-mrf1-rfc1-shader", 0.86, 0.07),
        ("orf-encoding-5bit-net", 0.043, 0.029),  # no saving, less 0.015 that the bits cost
        ("orf-overhead-writes-sw", 0.1, 0.05),  # half of the way to the 0.4 of hardware control is 0.15
        ("rfc-chip-watts-saved", 3.3, 0.495),
        ("rc-rsp-rsp-size-optimum", 12, 1.8),
        ("orf-two-level-scheduler-slowdown-8", 0.0, 0.05),  # the null is what is printed
    ],
)
def test_the_tolerance_is_no_wider_than_half_of_the_way_to_the_null(name: str, end: float, tolerance: float) -> None:
    assert RESULTS[name].tolerance(end) == pytest.approx(tolerance)


@pytest.mark.parametrize(
    "name",
    [
        "rc-rsp-gpu-energy-rc",
        "rc-rsp-gpu-energy-rsp",
        "rc-rsp-gpu-energy-hybrid",
        "rc-rsp-area-rsp",
        "rc-rsp-area-hybrid",
        "orf-limit-backward-branch",
        "orf-encoding-1bit-chip",
        "rfc-chip-power-saving",
    ],
)
def test_what_once_passed_with_no_effect_at_all_does_so_no_more(name: str) -> None:
    """Their nulls lie within a tenth, or 0.05, of what is printed."""
    one = RESULTS[name]
    assert isinstance(one.null, float)
    assert one.value is not None
    assert abs(one.value - one.null) <= (0.1 * one.value if one.unit == "ratio" else 0.05)
    assert one.could_fail
    assert not one.within(one.null)


@pytest.mark.parametrize(
    ("name", "measured"),
    [("orf-limit-backward-branch", 0.004), ("rc-rsp-area-rsp", 0.0069), ("rc-rsp-area-hybrid", 0.0069)],
)
def test_hollow_passes_fail(name: str, measured: float) -> None:
    assert not RESULTS[name].within(measured)


@pytest.mark.parametrize(
    ("printed", "could_fail"),
    [
        ({"value": 0.5, "unit": "fraction", "null": 0.0}, True),
        ({"value": 0.0, "unit": "fraction", "null": 0.0}, False),
        ({"value": 0.7, "unit": "fraction", "bound": "max", "null": 0.0}, False),
        ({"value": 0.1, "unit": "fraction", "bound": "max", "null": 0.4}, True),
        ({"value": 0.7, "unit": "fraction", "bound": "min", "null": 0.0}, True),
        ({"range": (0.2, 0.4), "unit": "fraction", "null": 0.3}, False),
        ({"value": 0.5, "unit": "fraction"}, False),
        ({"text": "greedy wins", "null": "fails"}, True),
        ({"text": "either way", "null": "holds"}, False),
        ({"text": "greedy wins"}, False),
    ],
)
def test_a_result_could_fail_if_its_null_is_not_within(printed: dict[str, object], could_fail: bool) -> None:
    assert result(**printed).could_fail is could_fail


@pytest.mark.parametrize("paper", PAPERS)
def test_every_result_of_an_implemented_paper_states_its_null(paper: str) -> None:
    assert [one.id for one in published.results(paper) if one.null is None] == []


@pytest.mark.parametrize("paper", PAPERS)
def test_every_result_that_is_measured_states_what_it_is_about(paper: str) -> None:
    assert [one.id for one in published.results(paper) if not one.quoted and one.kind is None] == []


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"value": 0.5, "kind": "speed"}, "expected as kind code, accesses, energy, time, registers, hardware, found"),
        ({"value": 0.5, "null": "fails"}, "result odd of published.toml: expected as null a finite number"),
        ({"value": 0.5, "null": True}, "a finite number, found True"),
        ({"value": 0.5, "null": float("nan")}, "a finite number, found nan"),
        ({"range": [0.1, 0.2], "null": [0, 0]}, "a finite number"),
        ({"text": "wins", "null": 0}, '"fails" or "holds", for it is in words, found 0'),
        ({"text": "wins", "null": "never"}, "found 'never'"),
        ({"value": 0.5, "null_note": "why"}, "expected a null beside its null_note"),
    ],
)
def test_a_malformed_null_is_an_error_that_names_the_entry(
    entry: dict[str, object], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = {"id": "odd", "paper": "p", "where": "§1", "what": "something", "kind": "time", **entry}
    monkeypatch.setattr(published, "_document", lambda: {"result": [full], "tolerance": {}})
    with pytest.raises(PublishedError, match=r"result odd of published\.toml") as error:
        published.results("p")
    assert message in str(error.value)


def test_results_without_a_null_that_could_fail_are_counted_apart() -> None:
    rows: list[dict[str, bool | float | str | None]] = [
        {"measured": 0.5, "within": True, "could_fail": True},
        {"measured": 0.9, "within": False, "could_fail": True},
        {"measured": 0.0, "within": True, "could_fail": False},
        {"measured": None, "within": None, "could_fail": True},
        {"measured": None, "within": None, "could_fail": True, "status": "quoted"},
    ]
    found = summed("rfc", rows)
    assert found == Summary("rfc", results=5, measured=3, could_fail=2, within=1, quoted=1)
    assert str(found).startswith("5 results, 3 measured, 1 quoted; 2 of them")
    assert found.as_dict()["no_null"] == 1


def test_the_gain_of_liveness_is_relative_in_the_papers_own_numbers() -> None:
    """50% of reads, 43% and 59% of writes: at two reads a write (2 x 50 + 59) / (2 x 50 + 43) is 11.2% more."""
    gain = RESULTS["rfc-liveness-gain"]
    assert gain.unit == "fraction"
    assert gain.range is not None
    for reads_a_write, relative in ((2.0, 0.112), (1.6, 0.130)):
        without, with_it = (reads_a_write * 0.5 + writes for writes in (0.43, 0.59))
        assert with_it / without - 1 == pytest.approx(relative, abs=5e-4)
        assert gain.range[0] <= relative <= gain.range[1]
        assert (with_it - without) / (reads_a_write + 1) < 0.062
