"""Cycles of recorded launches on a machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from warpreg.designs.residency import Launch as Shape
from warpreg.designs.residency import Room, room, unshared
from warpreg.gpu import Machine, load
from warpreg.ir.kernel import Kernel
from warpreg.replay.compiled import Mode
from warpreg.timing import memory
from warpreg.timing.engine import Engine
from warpreg.timing.errors import TimingError
from warpreg.timing.feed import feed
from warpreg.timing.result import TimingResult, joined, result_of
from warpreg.timing.sampling import Window


class RecordedLaunch(Protocol):
    """One launch of a kernel, run or read from a trace."""

    @property
    def kernel(self) -> Kernel: ...

    @property
    def block(self) -> tuple[int, int, int]: ...

    @property
    def shared_bytes(self) -> int: ...

    @property
    def trace(self) -> Any: ...


def simulate(
    launches: Sequence[RecordedLaunch],
    machine: Machine | str,
    *,
    registers: int | None = None,
    sms: int | None = None,
    window: Window | None = None,
    mode: Mode = "compiled",
) -> TimingResult:
    """Time launches one after the other, each with empty caches; their paths and addresses must have been recorded.

    ``registers``: occupancy as if a thread demanded so many; ``sms``: on so many of the machine's SMs; ``window``: only
    these thread blocks of each launch.  Raises TimingError for a launch that does not fit an SM or was not recorded,
    and for a window that no launch has thread blocks in.
    """
    described = load(machine) if isinstance(machine, str) else machine
    if not launches:
        raise TimingError("nothing to time: no launch")
    found = joined([_one(launch, described, registers, sms, window, mode) for launch in launches])
    if window is not None and not found.warp_instructions:
        raise TimingError(f"nothing to time: no launch has {window.first + 1} thread blocks")
    return found


def _one(
    launch: RecordedLaunch,
    machine: Machine,
    registers: int | None,
    sms: int | None,
    window: Window | None,
    mode: Mode,
) -> TimingResult:
    place = room_of(launch, machine, registers)
    if launch.trace is None:
        raise TimingError(f"kernel {launch.kernel.name}: the run has no trace; record it with addresses")
    threads = _threads(launch)
    system = memory.for_machine(machine, sms, place.blocks * launch.shared_bytes)
    blocks = feed(launch.trace, launch.kernel, banks=machine.shared_memory.banks)
    engine = Engine(
        launch.kernel,
        machine,
        blocks if window is None else window.of(blocks),
        system,
        resident=place.blocks,
        block_warps=-(-threads // machine.sm.threads_per_warp),
        mode=mode,
    )
    engine.run()
    return result_of(machine, engine.core, engine.cycles, memory.counters(system))


def room_of(launch: RecordedLaunch, machine: Machine, registers: int | None = None) -> Room:
    """What an SM has for a launch.  Raises TimingError if not even one thread block fits."""
    demanded = launch.kernel.register_demand if registers is None else registers
    found = room(machine, unshared(machine, demanded), Shape(_threads(launch), launch.shared_bytes), demanded)
    if found.blocks == 0:
        raise TimingError(
            f"kernel {launch.kernel.name}: a thread block does not fit an SM of {machine.name}: {found.limiter} "
            f"({_threads(launch)} threads of {demanded} registers, {launch.shared_bytes} bytes of shared memory)"
        )
    return found


def _threads(launch: RecordedLaunch) -> int:
    x, y, z = launch.block
    return x * y * z
