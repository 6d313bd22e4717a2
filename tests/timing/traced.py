"""Traces of launches written by hand, on the interpreted core."""

from __future__ import annotations

from tests.timing.both_cores import fast, machine_with_memory
from tests.timing.launches import Launched
from tests.timing.reference.machine import Sm

from warpreg.designs import load
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.timing.launch.tracing import FOREVER, TracedLaunch, TraceOfRun
from warpreg.timing.tracing.recorder import Recorder

ROOM = 1 << 16


def traced(
    launched: Launched, sm: Sm, design: str = "mrf", begin: int = 0, end: int | None = None, **parameters: int
) -> TraceOfRun:
    """The trace of a launch on one SM, whose memory answers after 20 cycles."""
    chosen = ConfiguredDesign.of([design], parameters)
    machine = machine_with_memory(sm, 20, 1)
    recorder = Recorder(begin, FOREVER if end is None else end, ROOM)
    own = load(design)
    found = fast(launched, machine, 1, 8, "interpreted", False, own, None, 1, recorder, **parameters)
    assert found.events is not None
    cycles = found.result.cycles
    launch = TracedLaunch(launched.kernel, found.outside.program, 0, cycles, launched.kernel.register_demand)
    return TraceOfRun(begin, end or cycles, found.events, (launch,), found.result, machine, chosen)
