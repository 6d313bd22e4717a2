"""Labels of designs: they leave out what a parameter has of the machine, and that a design is switched on."""

from __future__ import annotations

from typing import Any

import pytest

from warpreg import gpu
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.row import Failure

MACHINE = gpu.load("titanx")


@pytest.mark.parametrize(
    ("design", "values", "label"),
    [
        ("mrf", {}, "mrf"),
        ("rfc", {}, "rfc(entries=6)"),
        ("corf", {}, "corf"),
        ("corf", {"banks": 7}, "corf(banks=7)"),
        ("corf", {"enabled": False}, "corf(enabled=False)"),
    ],
)
def test_a_label_has_the_first_number_and_what_is_set(design: str, values: dict[str, Any], label: str) -> None:
    choice = ConfiguredDesign.load(design, values, machine=MACHINE)
    failed = Failure("hotspot", "", choice.design.name, choice.parameters, choice.defaults(MACHINE))
    assert failed.label == label
