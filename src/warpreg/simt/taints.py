"""Taints: lanes in which a place need not hold what the compiler relies on, followed while a kernel runs.

A taint is a bit for each lane of a warp beside the values, never a value.  What taints stand for is the caller's: each
has a name, and events at instructions set and clear it, or require that no executing lane has it set, which is a fault.
A kernel without taints pays nothing for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warpreg.simt.emitter import I32, I64, Value
from warpreg.simt.values import BlockValues

EVERYONE = 0xFFFFFFFF
TAINT_BYTES = 4


@dataclass(frozen=True, slots=True)
class TaintEvent:
    """What happens to taints, by number, at one instruction.

    First those in ``lost`` are set and those in ``trusted`` cleared, in all lanes of the warp if ``everyone``, else in
    those that run the block; then those in ``required`` must be clear; once the instruction has executed, its lanes set
    those in ``stale`` and clear those in ``held``, in this order.
    """

    lost: tuple[int, ...] = ()
    trusted: tuple[int, ...] = ()
    everyone: bool = False
    required: tuple[int, ...] = ()
    stale: tuple[int, ...] = ()
    held: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Taints:
    """``names`` of the taints, as an error tells them (``R5 in ORF 1``), and the events by pc."""

    names: tuple[str, ...]
    events: Mapping[int, TaintEvent]

    @property
    def bytes(self) -> int:
        """Room for the taints of a warp, a multiple of 64."""
        return -(-len(self.names) * TAINT_BYTES // 64) * 64


@dataclass(frozen=True, slots=True)
class TaintCode:
    """Emits the events of one block; the taints lie ``offset`` bytes into a warp's register memory, as i32 masks."""

    values: BlockValues
    offset: int

    def arrive(self, event: TaintEvent) -> None:
        """What happens before anything is required."""
        lanes = self.values.code.const(I32, EVERYONE) if event.everyone else self.values.mask
        self._set(event.lost, lanes)
        self._clear(event.trusted, lanes)

    def offenders(self, taint: int, lanes: Value) -> Value:
        """The lanes of a mask in which the taint is set."""
        return self._place(taint).load(I32, align=TAINT_BYTES) & lanes

    def leave(self, event: TaintEvent, lanes: Value) -> None:
        """What the instruction does in the lanes that executed it."""
        self._set(event.stale, lanes)
        self._clear(event.held, lanes)

    def number(self, taint: int) -> Value:
        """What an error's record holds of a taint."""
        return self.values.code.const(I64, taint)

    def _place(self, taint: int) -> Value:
        return self.values.registers + (self.offset + TAINT_BYTES * taint)

    def _set(self, taints: tuple[int, ...], lanes: Value) -> None:
        for taint in taints:
            place = self._place(taint)
            place.store(place.load(I32, align=TAINT_BYTES) | lanes, align=TAINT_BYTES)

    def _clear(self, taints: tuple[int, ...], lanes: Value) -> None:
        for taint in taints:
            place = self._place(taint)
            place.store(place.load(I32, align=TAINT_BYTES) & ~lanes, align=TAINT_BYTES)
