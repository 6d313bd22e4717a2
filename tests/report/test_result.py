"""The result row: elided accesses are net, energies are normalized to the plain MRF, provenance is complete."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from warpreg.evaluation.runs.row import LevelUse, Provenance, Row, geometric_mean

PROVENANCE = Provenance(
    kernel="k" * 12,
    machine="gebhart-rfc",
    machine_digest="m" * 64,
    technology="gebhart-40nm",
    technology_digest="t" * 64,
    design_digest="d" * 12,
    code="0.1.0+abc",
    options={"size": "tiny", "seed": 0},
)


def cached() -> Row:
    """100 reads, of which 40 are left to the MRF; 50 writes, of which 10 come back as evictions."""
    return Row(
        workload="vector-add",
        design="rfc",
        parameters={"entries": 6},
        warp_instructions=60,
        levels={"MRF": LevelUse(40, 10, 400, 100), "RFC": LevelUse(70, 50, 90, 10)},
        baseline=LevelUse(100, 50, 1500, 500),
        provenance=PROVENANCE,
    )


def test_what_is_elided_counts_write_backs_as_writes() -> None:
    row = cached()
    assert row.reads_elided == pytest.approx(1 - 40 / 100)
    assert row.writes_elided == pytest.approx(1 - 10 / 50)
    assert row.elided == pytest.approx(1 - (40 + 10) / (100 + 50))


def test_energy_is_arrays_and_wires_of_all_levels_over_the_plain_mrf() -> None:
    assert cached().energy_pj == 400 + 100 + 90 + 10
    assert cached().energy == pytest.approx(600 / 2000)


def test_the_label_names_design_and_parameters() -> None:
    assert cached().label == "rfc(entries=6)"
    changed = replace(cached(), parameters={"entries": 6, "lru": True, "partial": "merge"})
    told = replace(changed, defaults={"entries": 6, "lru": False, "partial": "merge"})
    assert told.label == "rfc(entries=6, lru=True)"


def test_the_flat_row_is_json_and_says_where_it_comes_from() -> None:
    flat = cached().as_dict()
    assert json.loads(json.dumps(flat)) == flat
    assert flat["rfc_reads"] == 70
    assert flat["mrf_wire_normalized"] == pytest.approx(100 / 2000)
    assert flat["provenance"] == {
        "kernel": "k" * 12,
        "machine": "gebhart-rfc@" + "m" * 12,
        "technology": "gebhart-40nm@" + "t" * 12,
        "design": "d" * 12,
        "code": "0.1.0+abc",
        "size": "tiny",
        "seed": 0,
    }


def test_geometric_mean() -> None:
    assert geometric_mean([2, 8]) == pytest.approx(4)
    assert geometric_mean([0, 8]) == 0
    assert math.isnan(geometric_mean([]))
