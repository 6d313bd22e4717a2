"""The machine as a row of numbers for the core."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import numpy as np

from warpreg.gpu import Machine
from warpreg.gpu.caches import ConstantCaches, InstructionCaches
from warpreg.gpu.pipes import CTRL, PIPES
from warpreg.gpu.scheduling import PRIORITIES, SUSPENDS
from warpreg.timing.core import typed
from warpreg.timing.core.columns import machine
from warpreg.timing.core.typed import SET_SIZE, Words
from warpreg.timing.errors import TimingError
from warpreg.timing.feed.kernel_table import own_banks

MIN_WHEEL = 128
INSTRUCTION_BYTES = 16
"""Of an instruction since Volta; code that is not machine code counts as if it were as long."""


def machine_words(
    gpu: Machine, sm_count: int, resident: int, block_warps: int, added_banks: int = 0, added_stages: int = 0
) -> Words[typed.Machine]:
    """The row of a machine whose SMs hold ``resident`` thread blocks of ``block_warps`` warps, with ``added_banks``
    after those of the register file, and ``added_stages`` in front of its operand fetch.

    Raises TimingError for more warps, banks, collectors or thread blocks per SM than a set holds.
    """
    m = cast("Words[typed.Machine]", np.zeros(machine.COUNT, np.int64))
    m[machine.SMS], m[machine.SLOTS] = sm_count, gpu.sm.warps
    m[machine.BLOCKS], m[machine.BLOCK_WARPS] = resident, block_warps
    m[machine.DISPATCH_CYCLES], m[machine.QUEUE] = gpu.operand_path.dispatch_cycles, gpu.load_store.entries
    m[machine.SHARED_LATENCY], m[machine.CONSTANT_LATENCY] = gpu.latency.shared, gpu.latency.constant
    m[machine.CTRL_LATENCY] = (gpu.pipes[gpu.worker[PIPES[CTRL]]].latency or 0) + added_stages
    m[machine.WHEEL] = wheel_size(gpu, added_stages)
    m[machine.UNITS] = sum(copies(gpu, pipe.private) for pipe in gpu.pipes.values())
    _schedule(m, gpu)
    m[machine.INTERVAL] = gpu.load_store.interval or 0
    if gpu.barrier is not None:
        m[machine.BARRIER_INTERVAL], m[machine.BARRIER_LATENCY] = gpu.barrier.interval, gpu.barrier.latency
    if gpu.instruction_cache is not None:
        _fetch(m, gpu.instruction_cache, added_stages)
    if gpu.constant_cache is not None:
        _read_constants(m, gpu.constant_cache)
    m[machine.IDEAL] = gpu.operand_path.kind == "ideal"
    m[machine.BANKS], m[machine.OWN_BANKS] = 1, own_banks(gpu)
    if not m[machine.IDEAL]:
        _read_operands(m, gpu)
        m[machine.BANKS] += added_banks
    for what, found in _sets(m):
        if found > SET_SIZE:
            raise TimingError(f"machine {gpu.name}: {what} of an SM: expected at most {SET_SIZE}, found {found}")
    return m


def _schedule(m: Words[typed.Machine], gpu: Machine) -> None:
    schedulers = gpu.schedulers
    m[machine.SCHEDULERS], m[machine.WIDTH] = schedulers.count, schedulers.issue_width
    m[machine.POLICY] = PRIORITIES.index(schedulers.inner or schedulers.policy)
    m[machine.ACTIVE_WARPS] = schedulers.active_warps or 0
    m[machine.SUSPEND] = SUSPENDS.index(schedulers.suspend) if schedulers.suspend else 0
    m[machine.STALL_THRESHOLD], m[machine.SWAP_CYCLES] = schedulers.stall_threshold or 0, schedulers.swap_cycles or 0


def _read_operands(m: Words[typed.Machine], gpu: Machine) -> None:
    """Set the columns of banks and collectors."""
    file = gpu.register_file
    m[machine.BANKS], m[machine.STEPS] = file.banks, file.steps_per_cycle
    m[machine.SINGLE_PORTED] = file.is_single_ported
    m[machine.WHOLE_INSTRUCTIONS] = file.serves_instructions
    m[machine.OPERAND_PORTS] = gpu.operand_path.operand_ports
    m[machine.READ_CYCLES], m[machine.READ_PORTS] = gpu.operand_path.read_cycles or 0, file.bank_read_ports
    m[machine.BY_REGISTER], m[machine.BY_SLOT] = file.mapping != "warp", file.mapping != "register"
    m[machine.COLLECTORS] = sum(one.collectors * copies(gpu, one.private) for one in gpu.collectors.values())
    m[machine.GROUPS] = sum(copies(gpu, one.private) for one in gpu.collectors.values())


def _fetch(m: Words[typed.Machine], own: InstructionCaches, added_stages: int) -> None:
    m[machine.LINE_SHIFT] = max(0, (own.line_bytes // INSTRUCTION_BYTES).bit_length() - 1)
    m[machine.L0_WAYS], m[machine.L0_SETS] = own.l0_ways, own.l0_bytes // (own.line_bytes * own.l0_ways)
    m[machine.L1_WAYS], m[machine.L1_SETS] = own.l1_ways, own.l1_bytes // (own.line_bytes * own.l1_ways)
    m[machine.L1_CODE_LATENCY], m[machine.L2_CODE_LATENCY] = own.l1_latency, own.l2_latency
    m[machine.STREAM_LINES], m[machine.BUFFER] = own.prefetch, own.buffer
    m[machine.JUMP] = (own.jump or 0) + added_stages


def _read_constants(m: Words[typed.Machine], own: ConstantCaches) -> None:
    m[machine.L0_CONSTANT_WAYS] = own.l0_ways
    m[machine.L0_CONSTANT_SETS] = own.l0_bytes // (own.line_bytes * own.l0_ways)
    m[machine.L1_CONSTANT_WAYS] = own.l1_ways
    m[machine.L1_CONSTANT_SETS] = own.l1_bytes // (own.line_bytes * own.l1_ways)
    m[machine.L1_CONSTANT_LATENCY], m[machine.L2_CONSTANT_LATENCY] = own.l1_latency, own.l2_latency
    m[machine.CONSTANT_PATIENCE] = own.patience


def _sets(m: Words[typed.Machine]) -> Iterator[tuple[str, int]]:
    """Components that the core keeps in sets, and their number per SM."""
    yield "warps", m[machine.SLOTS]
    yield "banks", m[machine.BANKS]
    yield "collectors", m[machine.COLLECTORS]
    yield "blocks", m[machine.BLOCKS]


def wheel_size(gpu: Machine, added_stages: int = 0) -> int:
    """Number of buckets for every latency of the SM with the stages of a design, a power of two."""
    latencies = [pipe.latency or 0 for pipe in gpu.pipes.values()]
    longest = (
        max(*latencies, gpu.latency.shared, gpu.latency.constant) + gpu.operand_path.dispatch_cycles + added_stages
    )
    return max(MIN_WHEEL, 1 << (longest + 2).bit_length())


def copies(gpu: Machine, private: bool) -> int:
    """Copies per SM of a component that may be private to a scheduler."""
    return gpu.schedulers.count if private else 1
