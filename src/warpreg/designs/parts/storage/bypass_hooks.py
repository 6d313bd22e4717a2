"""State and hooks of the designs with bypassing collectors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.interface import (
    MRF,
    Collectors,
    Logic,
    Plan,
    Program,
    Structure,
    hook,
    read,
    result_operands,
    source_operands,
    write,
)
from warpreg.designs.parts.storage.bypass_window import (
    collector_entries,
    empty_collector,
    enter_result,
    note_entries,
    read_sources,
)
from warpreg.energy.array import ArraySpec

OFF = 1
"""The window in which nothing is forwarded."""
PLAIN_BYTES = 3 * 128
"""The storage of a plain collector: three warp-registers (section 3.2)."""


class State(NamedTuple):
    """Kernel-wide: ``bits`` [result], the destination of each result; switches, ``window`` in instructions, and
    ``entries``.

    Per warp: ``clock``, the instructions issued; ``used`` entries; ``serial``, the entries made so far; by register
    ``flags``, the instruction that last ``touched`` it, the number with which its entry was ``entered``, the ``lanes``
    that the entry holds, when its outstanding result was ``issued`` and the lanes ``coming`` with it; ``ring``
    [instruction, place], the registers touched by each of the last instructions, ``ring_size`` of them.
    """

    bits: NDArray[np.uint8]
    writes_back: bool
    extended: bool
    looks_up_first: bool
    window: int
    entries: int
    clock: NDArray[np.int32]
    used: NDArray[np.int32]
    serial: NDArray[np.int32]
    flags: NDArray[np.uint8]
    touched: NDArray[np.int32]
    entered: NDArray[np.int32]
    lanes: NDArray[np.uint32]
    issued: NDArray[np.int32]
    coming: NDArray[np.uint32]
    ring: NDArray[np.uint16]
    ring_size: NDArray[np.int32]


def empty_state(
    design: str,
    program: Program,
    bits: NDArray[np.uint8],
    *,
    window: int,
    entries: int,
    extended: bool,
    eviction: str,
    writes_back: bool,
) -> State:
    """An empty collector for each warp; the arguments are parameters of the designs.

    Raises DesignError if a collector cannot hold the sources of an instruction.
    """
    return State(
        bits=bits,
        writes_back=writes_back,
        extended=extended,
        looks_up_first=eviction == "after",
        window=window,
        entries=collector_entries(design, program, window, entries),
        **empty_collector(program, window),
    )


def collector_storage(window: int, entries: int) -> Structure:
    """The collector of a warp, in place of a plain one of three entries (section 3.2).

    Technologies that do not print it take flip-flops beside each lane, at the distance of a register file cache, with a
    port for each source.
    """
    size = 0 if window == OFF else entries or 4 * window
    return Structure(
        "BOC",
        entries=size,
        array=ArraySpec("flip-flop", words=max(1, size), word_bits=32, read_ports=3, write_ports=1),
        private_mm=0.2,
        shared_mm=0.4,
        per="warp",
        replaces_bytes=PLAIN_BYTES if size else 0,
        yields=True,
    )


def collector_network(window: int) -> tuple[Logic, ...]:
    """The crossbar, arbiters and bus of an SM (section 3.5.1); a technology without them charges wires instead."""
    return () if window == OFF else (Logic("network", optional=True),)


def warp_collectors(window: int, entries: int, reading: int, ports: int) -> Collectors | None:
    """The collector of each warp slot, None without a window."""
    if window == OFF:
        return None
    size = entries or 4 * window
    return Collectors(
        entries=size,
        instructions=window,
        reading=min(reading or window, window),
        operand_ports=ports,
        dispatch="round-robin",
    )


@hook
def plan_reads(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """Forward what the window holds, and reserve the results."""
    if state.window > OFF:
        read_sources(state, program, warp, pc, plan)
    else:
        for operand in source_operands(program, pc):
            read(plan, operand, MRF)


@hook
def produced(state: State, program: Program, warp: int, pc: int, plan: Plan) -> None:
    """The results enter."""
    for operand in result_operands(program, pc):
        if state.window > OFF:
            enter_result(state, program, warp, operand, plan)
        else:
            write(plan, operand, MRF)


@hook
def warp_end(state: State, program: Program, warp: int, plan: Plan) -> None:
    """What the collector holds is dropped."""
    before = state.used[warp]
    state.used[warp] = 0
    note_entries(state, warp, before, plan)
