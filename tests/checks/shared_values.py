"""Check designs that answer loads from registers: what is shared is what memory holds.

The design runs in time with a shadow memory of versions (`warpreg.designs.parts.load_sharing.shadow`).  A shared value
of another version is a fault if the SM itself has stored the word, or another SM whose store a fence, an atomic or the
end of a kernel orders before.  Every launch begins with an empty table, so that ends of kernels order everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from piecewise_numba.options import Mode
from warpreg.counting.capacity import RecordedLaunch
from warpreg.designs import load
from warpreg.designs.interface.state import named_leaves
from warpreg.designs.loading.composition import joined
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.designs.parts.load_sharing.shadow import ADDRESS, KIND, ORDERED, OWN, PC, WARP
from warpreg.gpu import Machine
from warpreg.ir.errors import WarpregError
from warpreg.timing.launch.simulate import TimedLaunch, timed

DESIGN = "larf"
HOW = {
    OWN: "that its own SM has stored since",
    ORDERED: "although the store of another SM is ordered before",
}


class SharedValueError(WarpregError):
    """A load was answered with a value that memory no longer holds."""


@dataclass(frozen=True, slots=True)
class SharedValues:
    """Loads that were answered from registers, and shared words that another SM had stored without order."""

    loads: int
    shared: int
    unordered: int


def check_shared_values(
    launches: Sequence[RecordedLaunch],
    machine: Machine,
    designs: Sequence[str] = (DESIGN,),
    sms: int | None = None,
    mode: Mode = "compiled",
    **parameters: Any,
) -> SharedValues:
    """Time launches with versions; ``parameters`` of `larf`, the first of the designs.

    Raises SharedValueError for the first fault, and for a launch that stores more words than are followed.
    """
    loaded = [load(name) for name in designs]
    given = {**parameters, "versions": True}
    names = {name: joined(loaded[0], name) if len(loaded) > 1 else name for name in given}
    chosen = ConfiguredDesign.of(loaded, {names[name]: value for name, value in given.items()})
    found = [_checked(timed(launch, machine, chosen, sms=sms, mode=mode)) for launch in launches]
    return SharedValues(
        sum(one.loads for one in found), sum(one.shared for one in found), sum(one.unordered for one in found)
    )


def _checked(run: TimedLaunch) -> SharedValues:
    events = run.result.counts.events
    faults = next(value for name, value in named_leaves(run.outside.state) if name.endswith("faults"))
    kernel = run.launch.kernel
    if faults[KIND]:
        instruction = list(kernel.instructions())[int(faults[PC])]
        raise SharedValueError(
            f"kernel {kernel.name}: warp {faults[WARP]} at pc {faults[PC]} '{instruction}' shares an old value of "
            f"address {faults[ADDRESS]:#x} {HOW[int(faults[KIND])]}"
        )
    if events["not_followed"]:
        raise SharedValueError(
            f"kernel {kernel.name}: {events['not_followed']} stored words are more than are followed"
        )
    shared = events["perfect"] + events["partial"]
    return SharedValues(events["global_loads"], shared, events["unordered_values"])
