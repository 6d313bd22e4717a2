"""A machine of the package with the SM of the reference, derived from one of the machine files of the package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tests.timing.reference.machine import PIPES, Banks, Barrier, Constants, Fetch, Sm, Window

from warpreg.gpu import machine as gpu
from warpreg.gpu import units
from warpreg.gpu.caches import ConstantCaches, InstructionCaches
from warpreg.gpu.opcodes import OpcodeTiming
from warpreg.gpu.pipes import UNTIMED


def machine_of(sm: Sm, sms: int = 1, resident: int = 8) -> gpu.Machine:
    """The machine; what the SM does not say is that of `gtx480`."""
    base = gpu.load("gtx480")
    working = [name for name in PIPES if sm.worker.get(name, name) == name]
    return replace(
        base,
        name="drawn",
        chip=replace(base.chip, sms=sms),
        sm=replace(base.sm, warps=sm.slots, threads=32 * sm.slots, blocks=resident, threads_per_block=32 * sm.slots),
        schedulers=replace(
            _schedulers(sm),
            scoreboard="all" if sm.waits_for_all else None,
            tracks_sources=sm.tracks_sources or None,
            dependences="control" if sm.follows_control else None,
        ),
        operand_path=units.OperandPath(
            "window" if sm.window else "banks" if sm.banks else "ideal",
            sm.dispatch_cycles,
            sm.banks.operand_ports if sm.banks else 0,
            sm.window.cycles if sm.window else None,
        ),
        collectors=_places(sm, working) if sm.window else _collectors(sm.banks, working) if sm.banks else {},
        register_file=_register_file(base.register_file, sm.banks, sm.window) if sm.banks else base.register_file,
        pipes={name: _pipe(sm, name) for name in working},
        worker={name: sm.worker.get(name, name) for name in PIPES},
        load_store=units.LoadStoreUnit(sm.queue, sm.send_interval or None),
        latency=replace(base.latency, shared=sm.shared_latency, constant=sm.constant_latency),
        barrier=units.Barrier(sm.barrier.interval, sm.barrier.latency) if sm.barrier != Barrier() else None,
        instruction_cache=_instruction_caches(sm.fetch) if sm.fetch else None,
        opcodes={name: OpcodeTiming(own.pipe, own.latency, own.initiation) for name, own in sm.opcodes.items()},
        constant_cache=_constant_caches(sm.constants) if sm.constants else None,
        digest=repr((sm, sms, resident)),
    )


def _schedulers(sm: Sm) -> gpu.Schedulers:
    if sm.two_level is None:
        return gpu.Schedulers(sm.schedulers, sm.issue_width, sm.policy)
    rules = sm.two_level
    threshold = rules.stall_threshold if rules.suspend == "stall" else None
    own = (rules.active_warps, rules.inner, rules.suspend, threshold, rules.swap_cycles)
    return gpu.Schedulers(sm.schedulers, sm.issue_width, "two-level", *own)


def _constant_caches(own: Constants) -> ConstantCaches:
    sizes = (own.line * own.l0[0] * own.l0[1], own.l0[1], own.line * own.l1[0] * own.l1[1], own.l1[1])
    return ConstantCaches(own.line, *sizes, own.l1_latency, own.l2_latency, own.patience)


def _instruction_caches(own: Fetch) -> InstructionCaches:
    line = 16 * own.line
    sizes = (line * own.l0[0] * own.l0[1], own.l0[1], line * own.l1[0] * own.l1[1], own.l1[1])
    return InstructionCaches(line, *sizes, own.l1_latency, own.l2_latency, own.ahead, own.buffer, own.jump or None)


def _pipe(sm: Sm, name: str) -> units.Pipe:
    pipe = sm.pipes[name]
    own = (pipe.units, pipe.per_scheduler, pipe.initiation, None if name in UNTIMED else pipe.latency)
    return units.Pipe(*own, pipe.queue or None, pipe.lead or None) if sm.window else units.Pipe(*own)


def _places(sm: Sm, working: list[str]) -> Mapping[str, units.CollectorSet]:
    return units.read_places({name: _pipe(sm, name) for name in working})


def _collectors(banks: Banks, working: list[str]) -> dict[str, units.CollectorSet]:
    return {
        f"set{number}": units.CollectorSet(
            one.collectors, one.in_ports, one.per_scheduler, tuple(p for p in one.pipes if p in working and p != "ctrl")
        )
        for number, one in enumerate(banks.sets)
    }


def _register_file(base: gpu.RegisterFile, banks: Banks, window: Window | None) -> gpu.RegisterFile:
    return replace(
        base,
        banks=banks.count,
        private_banks=banks.per_scheduler,
        mapping=banks.mapping,
        steps_per_cycle=banks.steps,
        slices=banks.slices,
        row_addresses=banks.row_addresses,
        access="instruction" if banks.whole_instructions else None,
        bank_read_ports=window.ports if window else 0 if banks.single_ported else 1,
        bank_write_ports=0 if banks.single_ported else 1,
        bank_shared_ports=1 if banks.single_ported else 0,
    )
