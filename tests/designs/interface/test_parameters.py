"""Parameters: typed, with ranges, from Python values or from text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from warpreg import gpu
from warpreg.designs import ParameterError
from warpreg.designs.interface import parameter
from warpreg.designs.interface.parameters import Value, configure, of_machine, specs


@dataclass(frozen=True)
class Parameters:
    entries: int = parameter(6, unit="entries per thread", low=0, high=16, source="rfc §5.1")
    threshold: float = parameter(0.5, high=1, source="assumed: a test")
    victim: str = parameter("fifo", choices=("fifo", "lru"), source="assumed: a test")
    elide: bool = parameter(False, source="assumed: a test")


@dataclass(frozen=True)
class OfMachine:
    physical: int = parameter(1024, machine="warp_registers", source="assumed: a test")
    banks: int = parameter(4, machine="register_file.banks", source="assumed: a test")
    entries: int = parameter(6, source="assumed: a test")


def configured(**values: Value) -> Any:
    return configure("demo", Parameters, values)


def test_defaults_are_what_the_file_says() -> None:
    assert configured() == Parameters(entries=6, threshold=0.5, victim="fifo", elide=False)


def test_text_is_read_as_the_declared_type() -> None:
    found = configured(entries="3", threshold="0.25", victim="lru", elide="true")
    assert found == Parameters(entries=3, threshold=0.25, victim="lru", elide=True)


def test_a_whole_number_is_a_fraction_too() -> None:
    assert configured(threshold=1).threshold == 1.0


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("entries", -1, "int from 0 to 16 (entries per thread), found -1"),
        ("entries", "six", "int from 0 to 16 (entries per thread), found 'six'"),
        ("entries", 2.5, "int from 0 to 16 (entries per thread), found 2.5"),
        ("entries", True, "int from 0 to 16 (entries per thread), found True"),
        ("threshold", 2, "float up to 1, found 2"),
        ("threshold", "nan", "float up to 1, found 'nan'"),
        ("victim", "random", "'fifo' or 'lru', found 'random'"),
        ("elide", "maybe", "bool, found 'maybe'"),
    ],
)
def test_a_value_outside_the_declaration_is_refused(name: str, value: Value, expected: str) -> None:
    with pytest.raises(ParameterError) as error:
        configured(**{name: value})
    assert str(error.value) == f"demo: parameter {name} expects {expected}"


def test_each_parameter_says_its_unit_range_and_source() -> None:
    entries = specs(Parameters)[0]
    assert (entries.unit, entries.low, entries.high, entries.source) == ("entries per thread", 0, 16, "rfc §5.1")


def test_parameters_that_describe_a_machine_have_its_values() -> None:
    machine = gpu.load("v100")
    expected = {"physical": machine.warp_registers, "banks": machine.register_file.banks}
    assert of_machine(OfMachine, machine) == expected
