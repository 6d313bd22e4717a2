"""A pytest plugin that runs every launch of the tests on the GPU of this machine too, from the same memory.

``WARPREG_MIRROR=FILE python -m pytest -p tests.differential.mirror tests/tensor`` appends a line of JSON to the file
for each test with launches: how many there were, how many left equal memory, and what differs.  What the tests
themselves expect of the executor's addresses does not hold.
"""

from __future__ import annotations

import functools
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import warpreg.simt
from warpreg.checks.gpu.paired_device import LaunchComparison, PairedDevice
from warpreg.checks.gpu.process import Gpu
from warpreg.simt import Launch
from warpreg.simt.launch.device import AS_COMPILED

FILE = "WARPREG_MIRROR"
PARAMETERS = ("record", "max_instructions", "stack_bytes", "heap_bytes")
EXAMPLES = 4


@dataclass
class Noted:
    """What the launches of a test left."""

    launches: int = 0
    equal: int = 0
    elements: int = 0
    differing: int = 0
    unoptimized: int = 0
    relative: float = 0.0
    examples: list[str] = field(default_factory=list)
    errors: dict[str, int] = field(default_factory=dict)

    def add(self, one: LaunchComparison) -> None:
        self.launches += 1
        self.equal += not one.error and not one.differing
        self.elements += one.elements
        self.differing += one.differing
        self.unoptimized += one.unoptimized
        self.relative = max(self.relative, one.relative)
        if one.error:
            self.errors[one.error] = self.errors.get(one.error, 0) + 1
        first = [difference.first for difference in one.differences if difference.differing]
        self.examples = (self.examples + first)[:EXAMPLES]


noted = Noted()


@functools.cache
def gpu() -> Gpu:
    """The GPU of this process."""
    return Gpu()


class Mirrored(PairedDevice):
    """The device of the tests."""

    def __init__(self, module: Any, options: Any = AS_COMPILED, *rest: Any, **named: Any) -> None:
        super().__init__(gpu(), module, options, **dict(zip(PARAMETERS, rest, strict=False)), **named)

    def launch(self, *arguments: Any, **named: Any) -> Launch:
        done = super().launch(*arguments, **named)
        noted.add(self.comparisons[-1])
        return done


warpreg.simt.Device = Mirrored  # type: ignore[misc]


def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Append what a test left."""
    if noted.launches:
        line = json.dumps({"test": item.nodeid, **noted.__dict__})
        with Path(os.environ[FILE]).open("a") as file:
            file.write(line + "\n")
    noted.__init__()  # type: ignore[misc]
