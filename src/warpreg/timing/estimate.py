"""Cycles of a run from some of its thread blocks on some of the SMs, and how far that may be off.

Thread blocks that an SM starts with and those that it ends with take longer than those between, so what a piece of a
launch adds is measured: a window is timed with a wave of thread blocks in front of it, and that wave alone; the
difference are the window's cycles.  Windows lie at equal distances (systematic sampling, as in SMARTS: Wunderlich et
al., ISCA 2003, section 3).  Their cycles over their warp-instructions are a ratio estimate, whose variance is that of
Cochran (Sampling Techniques, 3rd edition, 1977, sections 2.11 and 6.4, with the correction for finite populations);
launches are strata (section 5.4).  The interval is Student's.  It says how much windows differ; it knows nothing of
what is the same in all of them (caches that a wave does not fill), nor of SMs that end later than others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from warpreg.designs.design import Design
from warpreg.gpu import Machine, load
from warpreg.replay.compiled import Mode
from warpreg.timing.errors import TimingError
from warpreg.timing.result import TimingResult, joined
from warpreg.timing.sampling import Window
from warpreg.timing.share import share_of
from warpreg.timing.simulate import Chosen, RecordedLaunch, room_of, timed

CONFIDENCE = 0.95


class GriddedLaunch(RecordedLaunch, Protocol):
    """A launch that knows how many thread blocks and warp-instructions it had."""

    @property
    def grid(self) -> tuple[int, int, int]: ...

    @property
    def warp_instructions(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Sample:
    """``windows`` of ``blocks`` thread blocks each (as many as the SMs hold at a time if that is more, or None) of
    every launch, on ``sms`` SMs with their share of the memory system (None: on all).  Raises TimingError for what is
    no sample.
    """

    windows: int = 8
    blocks: int | None = None
    sms: int | None = None

    def __post_init__(self) -> None:
        if self.windows < 2:
            raise TimingError(
                f"a sample takes 2 windows or more, from one nothing is known of its error: {self.windows}"
            )
        if any(one is not None and one < 1 for one in (self.blocks, self.sms)):
            raise TimingError(f"a sample takes 1 thread block and 1 SM or more, found {self.blocks} and {self.sms}")


@dataclass(frozen=True, eq=False)
class Estimate:
    """``cycles`` of a whole run, give or take ``margin``: half the interval that holds the true value with a
    probability of 95%; 0 where all of it was timed.

    ``warp_instructions`` are those of the whole run; ``timed`` is what was timed, on its own SMs, the waves in front of
    windows included; ``windows`` are the sampled ones, ``whole_launches`` were timed as they are.
    """

    cycles: float
    margin: float
    warp_instructions: int
    windows: int
    whole_launches: int
    timed: TimingResult

    @property
    def ipc(self) -> float:
        """Warp-instructions a cycle of all SMs of the machine."""
        return self.warp_instructions / self.cycles if self.cycles else 0.0

    @property
    def is_sampled(self) -> bool:
        """Whether anything was left out."""
        return self.windows > 0

    def as_dict(self) -> dict[str, Any]:
        """For JSON; cycles as a range."""
        return {
            "cycles": self.cycles,
            "low": self.cycles - self.margin,
            "high": self.cycles + self.margin,
            "confidence": CONFIDENCE,
            "windows": self.windows,
            "whole_launches": self.whole_launches,
            "timed_warp_instructions": self.timed.warp_instructions,
            "sms": self.timed.sms,
        }


def whole(result: TimingResult, launches: int) -> Estimate:
    """The result of all that there was."""
    return Estimate(result.cycles, 0.0, result.warp_instructions, 0, launches, result)


@dataclass(frozen=True, slots=True)
class _Piece:
    """What one launch is estimated to take."""

    cycles: float
    variance: float
    results: tuple[TimingResult, ...]
    windows: int


def estimate(
    launches: Sequence[GriddedLaunch],
    machine: Machine | str,
    sample: Sample,
    *,
    designs: Sequence[Design | str] | Chosen = (),
    registers: int | None = None,
    mode: Mode = "compiled",
    **parameters: Any,
) -> Estimate:
    """The cycles of launches one after the other, from a sample of each; the rest as in `simulate`.

    A launch that is too small for the sample is timed whole, unless ``sample.sms`` says on fewer SMs than there are.
    Raises TimingError as `simulate` does, and for a sample of more SMs than the machine has.
    """
    described = load(machine) if isinstance(machine, str) else machine
    if not launches:
        raise TimingError("nothing to time: no launch")
    part = described if sample.sms is None else share_of(described, sample.sms)
    chosen = Chosen.of(designs, parameters)
    scale = part.chip.sms / described.chip.sms
    pieces = [_Sampled(launch, part, chosen, registers, mode).of(sample, scale) for launch in launches]
    sampled = [piece for piece in pieces if piece.windows]
    freedom = min((piece.windows for piece in sampled if piece.windows > 1), default=2) - 1
    return Estimate(
        cycles=math.fsum(piece.cycles for piece in pieces),
        margin=student(freedom) * math.sqrt(math.fsum(piece.variance for piece in pieces)),
        warp_instructions=sum(int(launch.warp_instructions) for launch in launches),
        windows=sum(piece.windows for piece in pieces),
        whole_launches=len(pieces) - len(sampled),
        timed=joined([result for piece in pieces for result in piece.results]),
    )


def student(freedom: int) -> float:
    """The quantile of Student's distribution that CONFIDENCE needs on both sides."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))


@dataclass(frozen=True, slots=True)
class _Sampled:
    launch: GriddedLaunch
    machine: Machine
    chosen: Chosen
    registers: int | None
    mode: Mode

    def of(self, sample: Sample, scale: float) -> _Piece:
        """``scale``: the share of the machine's SMs, and so of the launch's thread blocks, that these SMs have."""
        blocks = math.prod(self.launch.grid)
        own = math.ceil(blocks * scale)
        wave = room_of(self.launch, self.machine, self.chosen, self.registers).blocks * self.machine.chip.sms
        size = max(sample.blocks or wave, wave)
        if own < wave + size:
            wave, size = 0, own
        starts = list(places(blocks - wave, size, sample.windows))
        if scale == 1 and (wave == 0 or len(starts) * (2 * wave + size) >= blocks):
            result = self._timed(None)
            return _Piece(result.cycles, 0.0, (result,), 0)
        return self._estimated(starts, wave, size, blocks, scale)

    def _estimated(self, starts: Sequence[int], wave: int, size: int, blocks: int, scale: float) -> _Piece:
        """What the first wave takes, and what windows say of all that follows."""
        results: list[TimingResult] = []
        cycles, instructions = [], []
        for place in starts:
            both = self._timed(Window(wave + size, place))
            front = self._timed(Window(wave, place)) if wave else None
            results += [both] if front is None else [front, both]
            cycles.append(both.cycles - (front.cycles if front else 0))
            instructions.append(both.warp_instructions - (front.warp_instructions if front else 0))
        first = self._timed(Window(wave)) if wave else None
        rest = self.launch.warp_instructions * scale - (first.warp_instructions if first else 0)
        ratio, variance = ratio_of(cycles, instructions, (blocks - wave) // size)
        start = first.cycles if first else 0
        taken = (*results, *([first] if first else []))
        return _Piece(start + ratio * rest, variance * rest**2, taken, len(starts))

    def _timed(self, window: Window | None) -> TimingResult:
        return timed(self.launch, self.machine, self.chosen, self.registers, None, window, self.mode).result


def places(blocks: int, size: int, windows: int) -> Iterator[int]:
    """Where windows of ``size`` begin that lie in the middle of equal parts of ``blocks``, no more than there are."""
    many = max(1, min(windows, blocks // size))
    for i in range(many):
        yield (blocks - size) * (2 * i + 1) // (2 * many)


def ratio_of(cycles: Sequence[float], instructions: Sequence[float], population: int) -> tuple[float, float]:
    """Cycles of an instruction, and the variance of that, from windows of a population of so many."""
    y, x = np.array(cycles, float), np.array(instructions, float)
    ratio = float(y.sum() / x.sum())
    if len(y) < 2 or len(y) >= population:
        return ratio, 0.0
    scatter = float(((y - ratio * x) ** 2).sum()) / (len(y) - 1)
    return ratio, (1 - len(y) / population) * scatter / (len(y) * float(x.mean()) ** 2)
