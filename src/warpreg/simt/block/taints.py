"""Taints: lanes in which a place need not hold what the compiler relies on, followed while a kernel runs.

The register file holds registers, and so may *places* above it, one at a time.  Beside the values a checked run keeps,
for each lane of a warp, which register each place holds now, and whether the register file's copy of a register is
stale.  An instruction that reads a register where it is not, in a lane that executes it, is a fault.  What a place
holds is known by name, never by value, so a read is wrong even where another value there happens to be equal.

A kernel without taints pays nothing for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from warpreg.simt.block.block_values import BlockValues
from warpreg.simt.llvm.emitter import I8, I32, I64, LANES, MASK, Value, lanes_of

EVERYONE = 0xFFFFFFFF
FILE = -1
"""Stands for the register file among places."""
NOTHING = 255
"""What a place holds that holds no register; registers are fewer."""
STALE_BYTES = 4


@dataclass(frozen=True, slots=True)
class TaintWrite:
    """An instruction gives ``register`` a new value, and puts it into ``places``, FILE among them or not."""

    register: int
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TaintEvent:
    """What happens at one instruction, in this order.

    With ``loses`` the places lose what they hold, in all lanes of the warp if ``everyone``, else in those that run the
    block; with ``trusts`` the register file holds all registers.  ``reads`` are (place, register) that the executing
    lanes read.  After the instruction those lanes have ``fills``, (place, register) each, and then ``writes``.
    """

    loses: bool = False
    trusts: bool = False
    everyone: bool = False
    reads: tuple[tuple[int, int], ...] = ()
    fills: tuple[tuple[int, int], ...] = ()
    writes: tuple[TaintWrite, ...] = ()


@dataclass(frozen=True)
class Taints:
    """``places`` above the register file as an error names them (``ORF 1``), and the events by pc."""

    places: tuple[str, ...]
    registers: int
    events: Mapping[int, TaintEvent]

    @property
    def bytes(self) -> int:
        """Room for the taints of a warp, a multiple of 64: a byte a lane and place, a mask a register."""
        return -(-(len(self.places) * LANES + self.registers * STALE_BYTES) // 64) * 64

    @cached_property
    def holders(self) -> Mapping[int, tuple[int, ...]]:
        """By register, the places that ever hold it."""
        found: dict[int, dict[int, None]] = {}
        for event in self.events.values():
            pairs = [*event.fills, *((place, write.register) for write in event.writes for place in write.places)]
            for place, register in pairs:
                if place != FILE:
                    found.setdefault(register, {})[place] = None
        return {register: tuple(places) for register, places in found.items()}

    def described(self, number: int) -> str:
        """What an error's record says: register and place, as `wanted` packs them."""
        place, register = number >> 16, number & 0xFFFF
        return f"R{register} from {self.places[place - 1] if place else 'the register file'}"


def wanted(place: int, register: int) -> int:
    """A read, as one number for an error's record."""
    return (place + 1) << 16 | register


@dataclass(frozen=True, slots=True)
class TaintCode:
    """Emits the events of one block; the taints lie ``offset`` bytes into a warp's register memory."""

    values: BlockValues
    taints: Taints
    offset: int

    def arrive(self, event: TaintEvent) -> None:
        """What happens before anything is read."""
        lanes = self.values.code.const(I32, EVERYONE) if event.everyone else self.values.mask
        if event.loses:
            for place in range(len(self.taints.places)):
                self._hold(place, NOTHING, lanes)
        if event.trusts:
            for register in range(self.taints.registers):
                self._set_stale(register, lanes, stale=False)

    def offenders(self, place: int, register: int, lanes: Value) -> Value:
        """The lanes of a mask for which the place does not hold the register."""
        if place == FILE:
            return self._stale(register).load(I32, align=STALE_BYTES) & lanes
        return (self._held(place) != register).bitcast(I32) & lanes

    def leave(self, event: TaintEvent, lanes: Value) -> None:
        """What the instruction does in the lanes that executed it."""
        for place, register in event.fills:
            self._hold(place, register, lanes)
        for write in event.writes:
            for place in self.taints.holders.get(write.register, ()):
                held = self._held(place)
                old = (held == write.register).bitcast(I32)
                self._hold(place, NOTHING, old & lanes)
            for place in write.places:
                if place != FILE:
                    self._hold(place, write.register, lanes)
            self._set_stale(write.register, lanes, stale=FILE not in write.places)

    def number(self, place: int, register: int) -> Value:
        """What an error's record holds of a read."""
        return self.values.code.const(I64, wanted(place, register))

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
