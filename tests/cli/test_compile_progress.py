"""Progress of compiling: what is shown, after how much time, and where nothing is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from tests.codegen.texts import REGISTERS

from warpreg import ptx
from warpreg.cli import compile_progress, output
from warpreg.cli.compile_progress import CompileProgress
from warpreg.codegen import translate, watch
from warpreg.codegen.options import CompileOptions
from warpreg.ir.compile_observer import compile_step, compiling, observed
from warpreg.ir.errors import WarpregError


@dataclass
class Screen:
    """A display that notes each text, and None where it is hidden."""

    texts: list[str | None] = field(default_factory=list)

    def show(self, text: str) -> None:
        self.texts.append(text)

    def hide(self) -> None:
        self.texts.append(None)


@dataclass
class Clock:
    """Time that passes where a test says so, with timers that then expire."""

    now: float = 0.0
    timers: list[Timer] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    def timer(self, seconds: float, function: Callable[[], None]) -> Timer:
        return Timer(self, self.now + seconds, function)

    def passes(self, seconds: float) -> None:
        self.now += seconds
        for timer in [one for one in self.timers if one.expires <= self.now]:
            self.timers.remove(timer)
            timer.function()


@dataclass
class Timer:
    clock: Clock
    expires: float
    function: Callable[[], None]
    daemon: bool = False

    def start(self) -> None:
        self.clock.timers.append(self)

    def cancel(self) -> None:
        if self in self.clock.timers:
            self.clock.timers.remove(self)

    def join(self) -> None:
        assert self not in self.clock.timers


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def screen() -> Screen:
    return Screen()


@pytest.fixture
def progress(screen: Screen, clock: Clock) -> CompileProgress:
    return CompileProgress(screen, clock.timer, clock)


def test_a_kernel_is_shown_after_two_seconds_with_its_pass(
    progress: CompileProgress, screen: Screen, clock: Clock
) -> None:
    with observed(progress), compiling("gemm"):
        compile_step("FoldConstants")
        clock.passes(1.9)
        assert screen.texts == []
        clock.passes(0.1)
        assert screen.texts == ["compiling gemm: fold-constants"]
        compile_step("native code")
    assert screen.texts[1:] == ["compiling gemm: native code", None]


def test_short_compilations_show_nothing(progress: CompileProgress, screen: Screen, clock: Clock) -> None:
    with observed(progress), compiling("short"):
        clock.passes(1)
    clock.passes(10)
    assert screen.texts == []


def test_compilations_count_together_and_time_between_them_does_not(
    progress: CompileProgress, screen: Screen, clock: Clock
) -> None:
    """1.5 s of the first kernel and 0.5 s of the second make two; a third one is shown from its begin."""
    with observed(progress):
        with compiling("first"):
            clock.passes(1.5)
        clock.passes(60)
        with compiling("second"):
            clock.passes(0.4)
            assert screen.texts == []
            clock.passes(0.1)
        with compiling("third"):
            pass
    assert screen.texts == ["compiling second", None, "compiling third", None]


def test_a_failure_hides_it(progress: CompileProgress, screen: Screen, clock: Clock) -> None:
    with observed(progress), pytest.raises(WarpregError), compiling("bad"):
        clock.passes(3)
        raise WarpregError("no")
    assert screen.texts == ["compiling bad", None]
    with compiling("later"):
        clock.passes(9)
    assert len(screen.texts) == 2


PTX = f".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{{{REGISTERS}mov.u32 %r1, 1; ret;}}\n"


class Noted:
    """An observer that notes what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def begin(self, kernel: str) -> None:
        self.told.append(f"begin {kernel}")

    def step(self, name: str) -> None:
        self.told.append(name)

    def end(self) -> None:
        self.told.append("end")


def test_the_compiler_reports_the_kernel_and_each_pass() -> None:
    noted = Noted()
    with observed(noted):
        translate(ptx.parse(PTX), "k", CompileOptions(level="allocated-ptx"))
    assert noted.told == ["begin k", "SplitValues", "ScheduleInstructions", "AllocateRegisters", "verify", "end"]


def test_nothing_is_shown_while_the_text_of_a_pass_is_printed() -> None:
    noted = Noted()
    with observed(noted):
        for _ in watch.snapshots(ptx.parse(PTX), "k", CompileOptions(level="ptx")):
            assert noted.told[-1] == "end"
    assert "NumberRegisters" in noted.told


def test_a_step_of_a_command_shows_the_kernel_in_its_place_and_then_itself_again() -> None:
    told: list[str] = []

    class Told(output.Steps):
        def _describe(self, description: str) -> None:
            told.append(description)

    steps = Told()
    steps.begin("running gemm.ptx")
    progress = CompileProgress(steps, (clock := Clock()).timer, clock)
    with observed(progress), compiling("gemm"):
        clock.passes(2)
    assert told == ["running gemm.ptx", "compiling gemm", "running gemm.ptx"]


@pytest.mark.parametrize("is_terminal", [False, True])
def test_only_terminals_show_it(is_terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line observes the compiler if its error stream is a terminal, and else not at all."""
    begun: list[str] = []
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal)
    monkeypatch.setattr(CompileProgress, "begin", lambda self, kernel: begun.append(kernel))
    monkeypatch.setattr(CompileProgress, "end", lambda self: None)
    with compile_progress.shown(), compiling("k"):
        pass
    assert begun == (["k"] if is_terminal else [])
