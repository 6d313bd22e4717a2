"""The fast core beside the reference: a launch timed by both, which must agree in cycles, causes and instructions."""

from __future__ import annotations

from dataclasses import replace

from tests.timing.launches import Launched
from tests.timing.machine_files import machine_of
from tests.timing.reference.machine import Sm
from tests.timing.reference.package_memory import PackageMemory
from tests.timing.vocabulary import Timed, timed

from warpreg.designs import program_table
from warpreg.gpu import Machine
from warpreg.gpu.memory import MemorySystem, Model
from warpreg.replay.compiled import Mode
from warpreg.timing import memory
from warpreg.timing.engine import Engine
from warpreg.timing.outside import Behaviour, Outside
from warpreg.timing.result import TimingResult, result_of

LINE_BYTES = 128
ROOM = 1024


def machine_with_memory(sm: Sm, latency: int, interval: int, sms: int = 1, resident: int = 8) -> Machine:
    """A machine of which an SM has a line's worth of memory bandwidth every ``interval`` cycles."""
    machine = machine_of(sm, sms, resident)
    fixed = MemorySystem(Model("fixed", LINE_BYTES, ROOM, bytes_per_cycle=LINE_BYTES / interval))
    return replace(machine, memory=fixed, latency=replace(machine.latency, dram=latency, texture=latency))


def agreed(launched: Launched, sm: Sm, latency: int = 20, interval: int = 1, sms: int = 1, resident: int = 8) -> Timed:
    """What both cores make of a launch."""
    machine = machine_with_memory(sm, latency, interval, sms, resident)
    slow = timed(launched, sm, PackageMemory(machine, sms), sms, resident)
    compare(slow, fast(launched, machine, sms, resident))
    return slow


def fast(
    launched: Launched, machine: Machine, sms: int, resident: int, mode: Mode = "interpreted", every_cycle: bool = False
) -> TimingResult:
    """What the fast core makes of it."""
    system = memory.for_machine(machine, sms)
    engine = Engine(
        launched.kernel,
        machine,
        launched.batches(),
        Outside(Behaviour(program_table(launched.kernel)), machine, system),
        resident=resident,
        block_warps=len(launched.blocks[0]),
        mode=mode,
        every_cycle=every_cycle,
    )
    engine.run()
    return result_of(machine, engine.core, engine.cycles, memory.counters(system))


def compare(slow: Timed, quick: TimingResult) -> None:
    """Both are one model."""
    causes = {cause: cycles for cause, cycles in quick.stall_account.items() if cycles}
    assert (quick.cycles, causes) == (slow.cycles, {c: n for c, n in slow.stalls.counts.items() if n})
    assert quick.warp_instructions == len(slow.outcome.issues)
