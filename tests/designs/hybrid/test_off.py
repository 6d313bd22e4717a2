"""The CMOS-TFET register files when they are disabled: what leaks is the plain register file."""

from __future__ import annotations

import pytest

from warpreg.designs import load


@pytest.mark.parametrize("name", ["mem-ra", "cmos-ra", "ideal-mem-ra", "drowsy"])
def test_a_disabled_design_has_no_second_part_and_no_gates(name: str) -> None:
    design = load(name)
    first, second = design.structures(design.configure(enabled=False))
    assert (first.powered, second.powered) == (None, None)
    assert first.registers in (None, 512)
    assert (second.registers, second.replaces_bytes) == (0, 0)
