"""Follows values through the levels of a design while its hooks run in a replay, as plain Python.

After a write, the value of a register is in the levels that it was written to and nowhere else.  A move or an extra
write of the register puts it into another level.  A read of a level that does not hold the value would give an old one:
the write was lost.  A move that names no register cannot be followed; what is read afterwards where it may have gone is
counted apart.  Lanes are not told apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, cast

from warpreg.designs.checking import words
from warpreg.designs.interface import plan_functions as functions
from warpreg.designs.interface.hooks import HOOKS
from warpreg.designs.interface.plan import UNSET, WRITE
from warpreg.designs.interface.program import Program, result_operands, source_operands
from warpreg.jit.fault_record import RECORD
from warpreg.jit.rebuild import as_it_is, rebuild

MRF = frozenset({0})


@dataclass
class Tracker:
    """What is known of the values of one run; ``wrong`` is the first read of an old value, in words."""

    program: Program
    levels: tuple[str, ...]
    is_planning_reads: bool
    is_planning_writes: bool
    reads: int = 0
    writes: int = 0
    not_followed: int = 0
    wrong: str = ""
    _places: dict[tuple[int, int], frozenset[int]] = field(default_factory=dict)
    _written: set[int] = field(default_factory=set)
    _anonymous: dict[int, set[int]] = field(default_factory=dict)

    def read(self, plan: Any, operand: int, level: int, *more: Any, **named: Any) -> None:
        """A source is read."""
        register = int(self.program.source[operand])
        self.reads += 1
        if level in self._places.get((plan.warp, register), MRF):
            return
        if level in self._anonymous.get(plan.warp, ()):
            self.not_followed += 1
        elif not self.wrong:
            places = self._places.get((plan.warp, register), MRF)
            held = " and ".join(self.levels[one] for one in sorted(places)) or "no level"
            self.wrong = (
                f"pc {RECORD[words.PC]} of warp {plan.warp} reads register {register} from {self.levels[level]}, "
                f"and its last value is in {held}"
            )

    def write(self, plan: Any, operand: int, level: int, *more: Any, **named: Any) -> None:
        """A result is written."""
        place = plan.warp, int(self.program.result[operand])
        before = self._places.get(place, MRF) if operand in self._written else frozenset()
        self._written.add(operand)
        self._places[place] = before | {int(level)}
        self.writes += 1

    def nowhere(self, plan: Any, operand: int) -> None:
        """A result is written nowhere yet."""
        if RECORD[words.FIRST_RESULT] >= 0:
            self._places[plan.warp, int(self.program.result[operand])] = frozenset()

    def move(
        self, plan: Any, source: int, target: int, register: int = UNSET, warp: int = UNSET, amount: int = 1
    ) -> None:
        """A value is in another level too."""
        if amount and register < 0:
            self._anonymous.setdefault(plan.warp if warp < 0 else warp, set()).add(int(target))
        elif amount:
            place = (plan.warp if warp < 0 else warp), int(register)
            if source in self._places.get(place, MRF):
                self._places[place] = self._places.get(place, MRF) | {int(target)}

    def extra(self, plan: Any, level: int, action: int, register: int, warp: int = UNSET, **named: Any) -> None:
        """A value is put into a level."""
        if action == WRITE:
            place = (plan.warp if warp < 0 else warp), int(register)
            self._places[place] = self._places.get(place, MRF) | {int(level)}

    def starts(self, warp: int) -> None:
        """A fresh warp, whose registers are in the MRF."""
        self._places = {place: held for place, held in self._places.items() if place[0] != warp}
        self._anonymous.pop(warp, None)

    def issues(self, name: str, pc: int, plan: Any) -> None:
        """An instruction is planned; what no hook plans is in the MRF."""
        self._written.clear()
        if name == "plan_write" and not self.is_planning_reads:
            for operand in source_operands(self.program, pc):
                self.read(plan, operand, 0)

    def planned(self, name: str, pc: int, plan: Any) -> None:
        """Its sources are planned."""
        if name == "plan_reads" and not self.is_planning_writes:
            for operand in result_operands(self.program, pc):
                self.write(plan, operand, 0)


def followed(hooks: Mapping[str, FunctionType], tracker: Tracker) -> dict[str, FunctionType]:
    """Checked hooks that tell the tracker what they do, for an interpreted replay."""
    spies = {getattr(functions, name): _spy(name, tracker) for name in ("read", "write", "nowhere", "move", "extra")}
    told = rebuild(hooks, as_it_is, spies, natives=False)
    found = {name: _around(name, hook, tracker) for name, hook in told.items()}
    if "warp_start" not in found:
        found["warp_start"] = _around("warp_start", _nothing, tracker)
    return found


def _spy(name: str, tracker: Tracker) -> FunctionType:
    """The plan function, which tells the tracker first."""
    original = getattr(functions, name)
    plain = FunctionType(original.__code__, original.__globals__, name, original.__defaults__)
    tell = getattr(tracker, name)

    def spy(plan: Any, *given: Any, **named: Any) -> None:
        tell(plan, *given, **named)
        plain(plan, *given, **named)

    return cast(FunctionType, spy)


def _around(name: str, hook: Any, tracker: Tracker) -> FunctionType:
    parameters = HOOKS[name].parameters

    def told(state: Any, program: Any, *rest: Any) -> Any:
        if name == "warp_start":
            tracker.starts(int(rest[0]))
        if "pc" in parameters:
            tracker.issues(name, rest[1], rest[-1])
        answer = hook(state, program, *rest)
        if "pc" in parameters:
            tracker.planned(name, rest[1], rest[-1])
        return answer

    vars(told).update(vars(hook))
    return cast(FunctionType, told)


def _nothing(state: Any, program: Any, warp: int, plan: Any) -> None:
    """A hook that the design does not define."""
