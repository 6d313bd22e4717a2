"""The functions of a memory model replace the core's ports of the same names."""

from __future__ import annotations

import pytest
from tests.timing.memory.systems import CACHED, CONTENTION, FIXED

from warpreg.gpu.memory import MemorySystem
from warpreg.timing import memory
from warpreg.timing.core import ports


@pytest.mark.parametrize("system", [FIXED, CACHED, CONTENTION])
def test_a_model_fills_every_port(system: MemorySystem) -> None:
    found = memory.in_place_of_ports(memory.build(system, 1, 1000.0, 100, 150))
    assert set(found) == set(ports.MEMORY)
    assert {port.__name__ for port in found} == {function.__name__ for function in found.values()}


def test_a_misspelt_name_is_refused() -> None:
    given = {port.__name__: port for port in ports.MEMORY}
    given["retries"] = given.pop("retry")
    with pytest.raises(TypeError, match=r"unknown: \['retries'\], missing: \['retry'\]"):
        memory.port_functions(given)


def test_a_missing_function_is_refused() -> None:
    given = {port.__name__: port for port in ports.MEMORY[1:]}
    with pytest.raises(TypeError, match=r"missing: \['accepts'\]"):
        memory.port_functions(given)
