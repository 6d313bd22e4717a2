"""Follows values through the levels of a design while its hooks run in a replay, as plain Python.

After a write, the value of a register is in the levels that it was written to and nowhere else.  A move or an extra
write of the register puts it into another level, and so does a read if the design has collectors of its own; a copy
that a read makes elsewhere costs a write, so it has to be said.  A read of
a level that does not hold the value would give an old one: the write was lost.  A move that names no register cannot be
followed; what is read afterwards where it may have gone is counted apart.

Writes change the active lanes alone; under a guard it is not known which of them, so they may also keep the old value.
A read is wrong if the level holds the value of none of its active lanes, nor does one that an extra read of the same
instruction names: designs may take lanes that a level lacks from another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, cast

from piecewise_numba.fault_record import RECORD
from piecewise_numba.rebuild import as_it_is, rebuild
from warpreg.designs.checking import words
from warpreg.designs.interface import plan_functions as functions
from warpreg.designs.interface.hooks import HOOKS
from warpreg.designs.interface.paths import SOURCE, TARGET, transfer
from warpreg.designs.interface.plan import CYCLES, ELSEWHERE, IN_BANKS, LATER, LEVEL, READ, UNSET, WRITE
from warpreg.designs.interface.program import Program, result_operands, source_operands
from warpreg.ir.kernel import Kernel

ALL_LANES = 0xFFFFFFFF
MRF: Mapping[int, int] = {0: ALL_LANES}
"""By level, the lanes that it holds of a register: at the start of a warp."""
Place = tuple[int, int]
"""A warp and a register of it."""


@dataclass(frozen=True, slots=True)
class WrongRead:
    """A read of a level that does not hold the last value of a register.  ``history`` is what became of that value
    since it was written, by pc; ``was_read``: it was read before, and the level may have kept it then.
    """

    pc: int
    warp: int
    register: int
    level: str
    held: str
    history: tuple[tuple[int, str], ...]
    was_read: bool = False

    def __str__(self) -> str:
        return (
            f"pc {self.pc} of warp {self.warp} reads register {self.register} from {self.level}, "
            f"and its last value is in {self.held}{self.advice}"
        )

    @property
    def advice(self) -> str:
        """What the design may have left out."""
        if not self.was_read:
            return ""
        call = f"extra(plan, {self.level}, WRITE, register)"
        return f"; if an earlier read has copied it to {self.level}, say so there: {call}"


@dataclass
class Tracker:
    """What is known of the values of one run of the code ``kernel``."""

    kernel: Kernel
    program: Program
    levels: tuple[str, ...]
    is_planning_reads: bool
    is_planning_writes: bool
    keeps_reads: bool = False
    """Levels above the MRF may keep what is read."""
    reads: int = 0
    writes: int = 0
    not_followed: int = 0
    read_nowhere: int = 0
    """Sources that no level serves, so nothing says where their values come from."""
    wrong: WrongRead | None = None
    """The first read of an old value."""
    reads_in: str = "plan_write"
    """The hook with which sources are read that no hook plans: the first at issue."""
    pc: int = -1
    """The instruction that the last hook was called for; -1: none yet."""
    _hook: str = ""
    _pcs: dict[int, int] = field(default_factory=dict)
    _places: dict[Place, dict[int, int]] = field(default_factory=dict)
    _history: dict[Place, list[tuple[int, str]]] = field(default_factory=dict)
    _read: set[Place] = field(default_factory=set)
    _late: dict[Place, WrongRead] = field(default_factory=dict)
    _completed: set[Place] = field(default_factory=set)
    _written: set[int] = field(default_factory=set)
    _anonymous: dict[int, set[int]] = field(default_factory=dict)

    def read(self, plan: Any, operand: int, level: int, *more: Any, **named: Any) -> None:
        """A source is read, unless an earlier design of a composition serves it."""
        if functions.is_served(plan, operand):
            return
        level = of_composition(plan, level)
        place, lanes = (plan.warp, int(self.program.source[operand])), int(plan.mask)
        holders = self._holders(place)
        self.reads += 1
        if holders.get(int(level), 0) & lanes or not lanes or place in self._completed:
            self._read.add(place)
            if self.keeps_reads:
                self._places[place] = {**dict.fromkeys(range(1, len(self.levels)), ALL_LANES), 0: holders.get(0, 0)}
        elif level in self._anonymous.get(plan.warp, ()):
            self.not_followed += 1
        elif place not in self._late:
            held = " and ".join(self.levels[one] for one in sorted(holders) if holders[one] & lanes) or "no level"
            history = tuple(self._history.get(place, ()))
            was_read = level > 0 and place in self._read
            self._late[place] = WrongRead(self.pc, int(place[0]), place[1], self.levels[level], held, history, was_read)

    def write(self, plan: Any, operand: int, level: int, *more: Any, **named: Any) -> None:
        """A result is written, unless an earlier design of a composition has written it elsewhere only."""
        if is_written(plan, operand):
            return
        level = of_composition(plan, level)
        place = plan.warp, int(self.program.result[operand])
        if operand not in self._written:
            self._overwritten(place, int(plan.mask))
        self._written.add(operand)
        self._hold(place, int(level), int(plan.mask))
        self._note(place, f"written to {self.levels[level]}")
        self.writes += 1

    def nowhere(self, plan: Any, operand: int) -> None:
        """A result is written nowhere yet, or a source is served by no level."""
        if RECORD[words.FIRST_SOURCE] >= 0:
            self.read_nowhere += not functions.is_served(plan, operand)
        if RECORD[words.FIRST_RESULT] >= 0:
            place = plan.warp, int(self.program.result[operand])
            self._overwritten(place, int(plan.mask))
            self._note(place, "written nowhere")

    def move(
        self, plan: Any, source: int, target: int, register: int = UNSET, warp: int = UNSET, amount: int = 1
    ) -> None:
        """A value is in another level too."""
        source, target = of_composition(plan, source), of_composition(plan, target)
        if amount and register < 0:
            self._anonymous.setdefault(plan.warp if warp < 0 else warp, set()).add(int(target))
        elif amount:
            self._moved((plan.warp if warp < 0 else warp, int(register)), int(source), int(target))

    def transfer(self, plan: Any, path: int, register: int, warp: int = UNSET, bank: int = UNSET) -> None:
        """A value is at the other end of a path too; in a replay, transfers are complete at once."""
        source, target = plan.paths[plan.first_path + path, [SOURCE, TARGET]].tolist()
        self._moved((plan.warp if warp < 0 else warp, int(register)), source, target)

    def _moved(self, place: Place, source: int, target: int) -> None:
        if lanes := self._holders(place).get(source, 0):
            self._hold(place, target, lanes)
            self._note(place, f"moved from {self.levels[source]} to {self.levels[target]}")

    def extra(self, plan: Any, level: int, action: int, register: int, warp: int = UNSET, **named: Any) -> None:
        """A value is put into a level, or lanes of it are read there."""
        level = of_composition(plan, level)
        place = (plan.warp if warp < 0 else warp), int(register)
        if action == READ and self._holders(place).get(int(level), 0) & int(plan.mask):
            self._completed.add(place)
            self._late.pop(place, None)
        elif action == WRITE:
            self._hold(place, int(level), ALL_LANES)
            self._note(place, f"put into {self.levels[level]}")

    def _holders(self, place: Place) -> Mapping[int, int]:
        return self._places.get(place, MRF)

    def _hold(self, place: Place, level: int, lanes: int) -> None:
        """A level gets lanes of the value."""
        self._places[place] = {**self._holders(place), level: self._holders(place).get(level, 0) | lanes}

    def _overwritten(self, place: Place, lanes: int) -> None:
        """The value of these lanes is old everywhere."""
        if self.program.guarded[self.pc]:
            return
        self._places[place] = {level: held & ~lanes for level, held in self._holders(place).items()}
        if lanes == ALL_LANES:
            self._history[place] = []
            self._read.discard(place)

    def _note(self, place: Place, what: str) -> None:
        """Remember what becomes of a value; hooks without a pc come after the last instruction of its warp."""
        pc = self.pc if "pc" in HOOKS[self._hook].parameters else self._pcs.get(place[0], 0)
        when = "" if "pc" in HOOKS[self._hook].parameters else f" ({self._hook})"
        self._history.setdefault(place, []).append((pc, f"R{place[1]} {what}{when}"))

    def begins(self, name: str, warp_or_sm: int, pc: int | None) -> None:
        """A hook is called."""
        self._hook = name
        if pc is not None:
            self.pc = self._pcs[warp_or_sm] = pc

    def starts(self, warp: int) -> None:
        """A fresh warp, whose registers are in the MRF."""
        self._places = {place: held for place, held in self._places.items() if place[0] != warp}
        self._history = {place: notes for place, notes in self._history.items() if place[0] != warp}
        self._read = {place for place in self._read if place[0] != warp}
        self._anonymous.pop(warp, None)

    def issues(self, name: str, pc: int, plan: Any) -> None:
        """An instruction is planned; what no hook plans is in the MRF."""
        self._written.clear()
        if name == self.reads_in and not self.is_planning_reads:
            for operand in source_operands(self.program, pc):
                self.read(plan, operand, 0)

    def planned(self, name: str, pc: int, plan: Any) -> None:
        """Its sources are planned; nothing else reads them."""
        if self.wrong is None:
            self.wrong = next(iter(self._late.values()), None)
        self._late.clear()
        self._completed.clear()
        if name == "plan_reads" and not self.is_planning_writes:
            for operand in result_operands(self.program, pc):
                self.write(plan, operand, 0)


def of_composition(plan: Any, level: int) -> int:
    """The number in the composition of a level of the design that plans."""
    return level + int(plan.first_level) if level > 0 else 0


def is_written(plan: Any, operand: int) -> bool:
    """Whether an earlier design of a composition has planned a result, and not for the register file."""
    if plan.turn != LATER:
        return False
    row = plan.results[operand - plan.first_result]
    is_elsewhere = row[ELSEWHERE, LEVEL] != UNSET or row[ELSEWHERE, CYCLES] != UNSET
    return bool(row[IN_BANKS, LEVEL] > 0 or (row[IN_BANKS, LEVEL] == UNSET and is_elsewhere))


def followed(hooks: Mapping[str, FunctionType], tracker: Tracker) -> dict[str, FunctionType]:
    """Checked hooks that tell the tracker what they do, for an interpreted replay."""
    told_of = (*(getattr(functions, name) for name in ("read", "write", "nowhere", "move", "extra")), transfer)
    spies = {function: _spy(function, tracker) for function in told_of}
    told = rebuild(hooks, as_it_is, spies, natives=False)
    found = {name: _around(name, hook, tracker) for name, hook in told.items()}
    tracker.reads_in = "plan_write" if "plan_write" in hooks else "issued"
    for name in ("warp_start", tracker.reads_in):
        if name not in found:
            found[name] = _around(name, _nothing, tracker)
    return found


def _spy(original: Any, tracker: Tracker) -> FunctionType:
    """The plan function, which tells the tracker first."""
    plain = FunctionType(original.__code__, original.__globals__, original.__name__, original.__defaults__)
    tell = getattr(tracker, original.__name__)

    def spy(plan: Any, *given: Any, **named: Any) -> None:
        tell(plan, *given, **named)
        plain(plan, *given, **named)

    return cast(FunctionType, spy)


def _around(name: str, hook: Any, tracker: Tracker) -> FunctionType:
    parameters = HOOKS[name].parameters

    def told(state: Any, program: Any, *rest: Any) -> Any:
        tracker.begins(name, int(rest[0]), int(rest[1]) if "pc" in parameters else None)
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


def _nothing(state: Any, program: Any, *rest: Any) -> None:
    """A hook that the design does not define."""
