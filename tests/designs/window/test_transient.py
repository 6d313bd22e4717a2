"""Values that need no register, and the register demand without them (thesis, sections 3.4.2 and 3.4.3)."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.designs.kernels import at, kernel, op, pair, r
from tests.designs.window.figure36 import FIGURE_36
from tests.replay import naive
from tests.replay.naive_cache import in_path_order
from tests.replay.naive_window import Collector, NaiveWindow
from tests.replay.paths import Recorded
from tests.replay.schedules import schedules
from tests.replay.warp_runs import warp_runs

from warpreg.designs import load, program_table
from warpreg.designs.parts.window.demand import register_demand
from warpreg.designs.parts.window.destinations import destinations
from warpreg.designs.parts.window.transient import without_register
from warpreg.designs.parts.window.window import Window, WindowView
from warpreg.ir.kernel import Kernel


def free_registers(code: Kernel, entries: int, window: int = 3) -> list[int]:
    """The registers of the values that need none, in order of their definition."""
    program = program_table(code)
    bits = destinations(code, program, Window(window))
    free = without_register(code, program, Window(window), bits, entries)
    view = WindowView(code, program)
    return [
        register
        for pc in view.pcs
        for (_, register, _), value in zip(view.results(pc), view.written_values(pc), strict=True)
        if value in free
    ]


def test_figure_3_6() -> None:
    """All but r3 of line 2 and r1 of line 10.  What remains are the inputs r0, r8, r9, r3 and r1; r8 is dead when r1 of
    line 10 is written."""
    assert free_registers(FIGURE_36, 12) == [2, 1, 1, 1, 0, 0, 0, 2, 2, 4]
    program = program_table(FIGURE_36)
    bits = destinations(FIGURE_36, program, Window(3))
    assert register_demand(FIGURE_36, without_register(FIGURE_36, program, Window(3), bits, 12)) == 3


CROWDED = kernel(
    [
        op("mov.b32", r(1), 1),
        op("mad.lo.s32", r(5), r(2), r(3), r(4)),  # R2, R3, R4 and R5 enter after R1
        op("add.s32", r(6), r(1), r(5)),
        op("st.global.u32", at(pair(8)), r(6)),
    ]
)


def test_a_value_that_a_full_collector_may_evict_keeps_its_register() -> None:
    """Four registers enter between R1 and its read: with four entries R1 is evicted, with five it is the oldest."""
    assert 1 not in free_registers(CROWDED, 4)
    assert 1 in free_registers(CROWDED, 5)
    assert {5, 6} <= set(free_registers(CROWDED, 4))


def test_a_load_under_way_may_arrive_in_between() -> None:
    """R7 was loaded just before R1, so it may enter after R1, although its own window has not passed."""
    load_first = [op("ld.global.u32", r(7), at(pair(8))), *CROWDED.blocks[0].instructions]
    code = kernel([*load_first, op("st.global.u32", at(pair(8)), r(7))])
    late = kernel([load_first[0], op("mov.b32", r(9), r(7)), *load_first[1:], op("st.global.u32", at(pair(8)), r(7))])
    assert 1 in free_registers(code, 5)  # R7 is first read after its window: it never enters
    assert 1 not in free_registers(late, 5)
    assert 1 in free_registers(late, 7)


def test_the_words_of_a_pair_stay_aligned() -> None:
    """R0 dies first; the pair cannot take R0 and R1 while R1 lives, and stays at R2."""
    code = kernel([op("add.s32", r(1), r(0), 1), op("mov.b64", pair(2), 1), op("st.global.u32", at(pair(2)), r(1))])
    assert register_demand(code) == 4


class Watching(Collector):
    """Fails if a value without a register is evicted before its last read."""

    free: set[int]
    view: WindowView

    def __init__(self, window: NaiveWindow) -> None:
        super().__init__(window)
        self.holds: dict[int, int] = {}
        self.evicted: dict[int, int] = {}

    def issue(self, step: naive.Step) -> None:
        values = [v for v in self.view.values.read[step.pc] if self.view.read_values[step.pc] >> v & 1]
        for register, value in zip(step.reads, values, strict=True):
            assert self.evicted.get(register) != value, f"R{register} has been evicted"
        super().issue(step)

    def arrive(self, pc: int, registers: list[int], datapath: str) -> None:
        for register, value in zip(registers, self.view.written_values(pc), strict=True):
            self.holds[register] = value
            self.evicted.pop(register, None)
        super().arrive(pc, registers, datapath)

    def make_room(self) -> None:
        if len(self.entries) > self.all.entries:
            register = next(iter(self.entries))
            if self.entries[register].dirty and self.holds.get(register) in self.free:
                self.evicted[register] = self.holds[register]
        super().make_room()


@settings(max_examples=100, deadline=None)
@given(st.data(), warp_runs(), st.integers(2, 5), st.integers(4, 7))
def test_no_value_without_a_register_is_evicted(
    data: st.DataObject, run: tuple[Kernel, Recorded], window: int, entries: int
) -> None:
    """On any path and in any order of arrivals."""
    code, path = run
    design: Any = load("bow-wr")
    values = design.configure(window=window, entries=entries)
    program = design.compile(program_table(code), values, code)
    model = NaiveWindow(values, program, writes_back=True)
    bits = destinations(code, program, Window(window))
    free = without_register(code, program, Window(window), bits, entries)
    view = WindowView(code, program)
    model.collector = lambda: watching(model, free, view)
    arrivals = data.draw(st.booleans())
    schedule = data.draw(schedules(code, path)) if arrivals else None
    events = naive.events(code, path, schedule) if schedule else in_path_order(code, path, program, static=False)
    model.run(events, arrivals)


def watching(model: NaiveWindow, free: set[int], view: WindowView) -> Watching:
    found = Watching(model)
    found.free, found.view = free, view
    return found
