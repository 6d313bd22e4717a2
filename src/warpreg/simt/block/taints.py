"""Taints: run-time tracking of lanes in which a place may not hold the register that the compiler expects there.

The register file holds all registers; a *place* above it holds one register at a time.  In addition to values, a
checked run tracks, for each lane of a warp, which register each place holds, and whether the register file's copy of a
register is stale.  It is a fault if an executing lane reads a register from a place that does not hold it.  The content
of a place is tracked by name, not by value, so a wrong read is detected even if the values happen to be equal.

A kernel without taints has no overhead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from warpreg.simt.block.block_values import BlockValues
from warpreg.simt.llvm.emitter import I8, I32, I64, LANES, MASK, Value, lanes_of

EVERYONE = 0xFFFFFFFF
FILE = -1
"""The number of the register file among places."""
NOTHING = 255
"""The content of an empty place; larger than any register number."""
STALE_BYTES = 4


@dataclass(frozen=True, slots=True)
class TaintWrite:
    """An instruction writes a new value of ``register`` to ``places``, which may include FILE."""

    register: int
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TaintEvent:
    """The effects of one instruction, in this order.

    ``loses``: the places lose their content, in all lanes of the warp if ``everyone``, else in those that run the
    block; ``trusts``: the register file holds all registers.  ``reads`` are (place, register) pairs that the executing
    lanes read.  After the instruction, ``fills``, (place, register) pairs, and then ``writes`` apply in those lanes.
    """

    loses: bool = False
    trusts: bool = False
    everyone: bool = False
    reads: tuple[tuple[int, int], ...] = ()
    fills: tuple[tuple[int, int], ...] = ()
    writes: tuple[TaintWrite, ...] = ()


@dataclass(frozen=True)
class Taints:
    """``places`` above the register file with their names in errors (``ORF 1``), and the events by pc."""

    places: tuple[str, ...]
    registers: int
    events: Mapping[int, TaintEvent]

    @property
    def bytes(self) -> int:
        """Bytes for the taints of a warp, a multiple of 64: one byte per lane and place, one mask per register."""
        return -(-(len(self.places) * LANES + self.registers * STALE_BYTES) // 64) * 64

    @cached_property
    def holders(self) -> Mapping[int, tuple[int, ...]]:
        """Places that hold each register at some time."""
        places_of: dict[int, dict[int, None]] = {}
        for event in self.events.values():
            pairs = [*event.fills, *((place, write.register) for write in event.writes for place in write.places)]
            for place, register in pairs:
                if place != FILE:
                    places_of.setdefault(register, {})[place] = None
        return {register: tuple(places) for register, places in places_of.items()}

    def described(self, number: int) -> str:
        """The read of an error record, packed by `packed_read`."""
        place, register = number >> 16, number & 0xFFFF
        name = self.places[place - 1] if place else "the register file"
        return f"reads R{register} from {name}, which need not hold it"

    def at(self, pc: int, values: BlockValues, offset: int) -> TaintCode | None:
        """What emits the event at a pc, if there is one."""
        event = self.events.get(pc)
        return TaintCode(values, self, offset, event) if event else None


def packed_read(place: int, register: int) -> int:
    """A read as one number for an error record."""
    return (place + 1) << 16 | register


@dataclass(frozen=True, slots=True)
class TaintCode:
    """Emits one event; the taints are ``offset`` bytes into a warp's register memory."""

    values: BlockValues
    taints: Taints
    offset: int
    event: TaintEvent

    def arrive(self) -> None:
        """Emit the effects before the reads."""
        event = self.event
        lanes = self.values.code.const(I32, EVERYONE) if event.everyone else self.values.mask
        if event.loses:
            for place in range(len(self.taints.places)):
                self._hold(place, NOTHING, lanes)
        if event.trusts:
            for register in range(self.taints.registers):
                self._set_stale(register, lanes, stale=False)

    def wrong_reads(self, lanes: Value) -> Iterator[tuple[Value, Value]]:
        """For each read, the lanes in which the place does not hold the register, and the number for an error
        record."""
        for place, register in self.event.reads:
            number = self.values.code.const(I64, packed_read(place, register))
            yield self._offenders(place, register, lanes), number

    def _offenders(self, place: int, register: int, lanes: Value) -> Value:
        if place == FILE:
            return self._stale(register).load(I32, align=STALE_BYTES) & lanes
        return (self._held(place) != register).bitcast(I32) & lanes

    def leave(self, lanes: Value) -> None:
        """Emit the effects of the instruction in the lanes that executed it."""
        for place, register in self.event.fills:
            self._hold(place, register, lanes)
        for write in self.event.writes:
            for place in self.taints.holders.get(write.register, ()):
                held = self._held(place)
                old = (held == write.register).bitcast(I32)
                self._hold(place, NOTHING, old & lanes)
            for place in write.places:
                if place != FILE:
                    self._hold(place, write.register, lanes)
            self._set_stale(write.register, lanes, stale=FILE not in write.places)

    def _place(self, place: int) -> Value:
        return self.values.registers + (self.offset + LANES * place)

    def _held(self, place: int) -> Value:
        return self._place(place).load(lanes_of(I8), align=LANES)

    def _hold(self, place: int, register: int, lanes: Value) -> None:
        value = self.values.code.const(lanes_of(I8), register)
        self._place(place).store(lanes.bitcast(MASK).select(value, self._held(place)), align=LANES)

    def _stale(self, register: int) -> Value:
        return self.values.registers + (self.offset + LANES * len(self.taints.places) + STALE_BYTES * register)

    def _set_stale(self, register: int, lanes: Value, stale: bool) -> None:
        place = self._stale(register)
        old = place.load(I32, align=STALE_BYTES)
        place.store(old | lanes if stale else old & ~lanes, align=STALE_BYTES)
