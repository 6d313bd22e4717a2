"""The functions of a memory model replace the core's ports of the same names."""

from __future__ import annotations

import pytest
from tests.timing.memory.systems import CACHED, CONTENTION, FIXED

from warpreg.gpu.memory import MemorySystem
from warpreg.timing import memory
from warpreg.timing.core import ports


@pytest.mark.parametrize("system", [FIXED, CACHED, CONTENTION])
def test_a_model_fills_every_port(system: MemorySystem) -> None:
    found = memory.functions(memory.build(system, 1, 1000.0, 100, 150))
    for port in ports.MEMORY:
        function = getattr(found, port.__name__)
        assert function.__module__.startswith("warpreg.timing.memory.")
        assert function.__name__ == port.__name__
