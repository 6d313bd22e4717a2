"""The SM of a machine file in the terms of the reference."""

from __future__ import annotations

from tests.timing.reference.machine import (
    Banks,
    Barrier,
    CollectorSet,
    Constants,
    Fetch,
    Opcode,
    Pipe,
    Sm,
    TwoLevel,
    Window,
)

from warpreg.gpu.caches import ConstantCaches, InstructionCaches
from warpreg.gpu.machine import Machine, Schedulers


def sm_of(machine: Machine) -> Sm:
    """All that concerns one SM."""
    schedulers = machine.schedulers
    return Sm(
        slots=machine.sm.warps,
        schedulers=schedulers.count,
        issue_width=schedulers.issue_width,
        policy=schedulers.policy,
        two_level=_two_level(schedulers) if schedulers.policy == "two-level" else None,
        banks=_banks(machine) if machine.operand_path.kind != "ideal" else None,
        pipes={
            name: Pipe(pipe.units, pipe.latency or 0, pipe.initiation, pipe.private, pipe.queue or 0, pipe.lead or 0)
            for name, pipe in machine.pipes.items()
        },
        worker=dict(machine.worker),
        dispatch_cycles=machine.operand_path.dispatch_cycles,
        queue=machine.load_store.entries,
        shared_latency=machine.latency.shared,
        constant_latency=machine.latency.constant,
        texture_latency=machine.latency.texture,
        waits_for_all=schedulers.blocks_warps,
        window=_window(machine) if machine.operand_path.kind == "window" else None,
        send_interval=machine.load_store.interval or 0,
        follows_control=schedulers.follows_control_codes,
        barrier=Barrier(machine.barrier.interval, machine.barrier.latency) if machine.barrier else Barrier(),
        opcodes={name: Opcode(own.pipe, own.latency, own.initiation) for name, own in machine.opcodes.items()},
        constants=_constants(machine.constant_cache) if machine.constant_cache else None,
        tracks_sources=schedulers.tracks_sources or False,
        fetch=_fetch(machine.instruction_cache) if machine.instruction_cache else None,
    )


def _constants(own: ConstantCaches) -> Constants:
    return Constants(
        line=own.line_bytes,
        l0=(own.l0_bytes // (own.line_bytes * own.l0_ways), own.l0_ways),
        l1=(own.l1_bytes // (own.line_bytes * own.l1_ways), own.l1_ways),
        l1_latency=own.l1_latency,
        l2_latency=own.l2_latency,
        patience=own.patience,
    )


def _fetch(own: InstructionCaches) -> Fetch:
    return Fetch(
        line=own.line_bytes // 16,
        l0=(own.l0_bytes // (own.line_bytes * own.l0_ways), own.l0_ways),
        l1=(own.l1_bytes // (own.line_bytes * own.l1_ways), own.l1_ways),
        l1_latency=own.l1_latency,
        l2_latency=own.l2_latency,
        ahead=own.prefetch,
        buffer=own.buffer,
        jump=own.jump or 0,
    )


def _window(machine: Machine) -> Window:
    return Window(machine.operand_path.read_cycles or 0, machine.register_file.bank_read_ports)


def _two_level(schedulers: Schedulers) -> TwoLevel:
    return TwoLevel(
        active_warps=schedulers.active_warps or 0,
        inner=schedulers.inner or "",
        suspend=schedulers.suspend or "",
        stall_threshold=schedulers.stall_threshold or 0,
        swap_cycles=schedulers.swap_cycles or 0,
    )


def _banks(machine: Machine) -> Banks:
    file = machine.register_file
    return Banks(
        count=file.banks,
        single_ported=file.is_single_ported,
        steps=file.steps_per_cycle,
        operand_ports=machine.operand_path.operand_ports,
        mapping=file.mapping,
        per_scheduler=file.private_banks,
        slices=file.slices or 1,
        row_addresses=file.row_addresses or 1,
        whole_instructions=file.serves_instructions,
        sets=tuple(
            CollectorSet(one.pipes, one.collectors, one.in_ports, one.private) for one in machine.collectors.values()
        ),
    )
