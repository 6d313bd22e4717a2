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
from warpreg.designs.parts.storage.bypass_parameters import CollectorParameters
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
    """What a warp's window of recent instructions holds."""

    bits: NDArray[np.uint8]
    """By result: its destination."""
    writes_back: bool
    """Results wait in the collector; else they are also written to the register file at once."""
    extended: bool
    """A read keeps a register in the window."""
    looks_up_first: bool
    """The oldest instruction leaves after the lookup."""
    window: int
    """In instructions."""
    entries: int
    """Registers that the collector holds."""
    clock: NDArray[np.int32]
    """By warp: the instructions issued."""
    used: NDArray[np.int32]
    """By warp: entries in use."""
    serial: NDArray[np.int32]
    """By warp: the entries made so far."""
    flags: NDArray[np.uint8]
    """By warp [register]."""
    touched: NDArray[np.int32]
    """By warp [register]: the instruction that last touched it."""
    entered: NDArray[np.int32]
    """By warp [register]: the number with which its entry was made."""
    lanes: NDArray[np.uint32]
    """By warp [register]: those that the entry holds."""
    issued: NDArray[np.int32]
    """By warp [register]: when its outstanding result was issued."""
    coming: NDArray[np.uint32]
    """By warp [register]: the lanes of that result."""
    ring: NDArray[np.uint16]
    """By warp [instruction, place]: the registers touched by each of the last instructions."""
    ring_size: NDArray[np.int32]
    """By warp [instruction]: how many of them."""


def empty_state(
    design: str, program: Program, bits: NDArray[np.uint8], parameters: CollectorParameters, *, writes_back: bool
) -> State:
    """An empty collector for each warp.

    Raises DesignError if a collector cannot hold the sources of an instruction.
    """
    return State(
        bits=bits,
        writes_back=writes_back,
        extended=parameters.extended,
        looks_up_first=parameters.eviction == "after",
        window=parameters.window,
        entries=collector_entries(design, program, parameters.window, parameters.entries),
        **empty_collector(program, parameters.window),
    )


def structures(parameters: CollectorParameters) -> tuple[Structure, ...]:
    """The register file, and the collector of a warp, in place of a plain one of three entries (section 3.2).

    Technologies that do not print it take flip-flops beside each lane, at the distance of a register file cache, with a
    port for each source.
    """
    size = 0 if parameters.window == OFF else parameters.entries or 4 * parameters.window
    collector = Structure(
        "BOC",
        entries=size,
        array=ArraySpec("flip-flop", words=max(1, size), word_bits=32, read_ports=3, write_ports=1),
        private_mm=0.2,
        shared_mm=0.4,
        per="warp",
        replaces_bytes=PLAIN_BYTES if size else 0,
        yields=True,
    )
    return Structure("MRF"), collector


def hardware(parameters: CollectorParameters) -> tuple[Logic, ...]:
    """The crossbar, arbiters and bus of an SM (section 3.5.1); a technology without them charges wires instead."""
    return () if parameters.window == OFF else (Logic("network", optional=True),)


def collectors(parameters: CollectorParameters) -> Collectors | None:
    """A collector for each warp slot, which holds the instructions of the window; None without a window."""
    window = parameters.window
    if window == OFF:
        return None
    return Collectors(
        entries=parameters.entries or 4 * window,
        instructions=window,
        reading=min(parameters.reading or window, window),
        operand_ports=parameters.ports,
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
