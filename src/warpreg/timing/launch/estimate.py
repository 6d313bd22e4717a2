"""Estimate the cycles of a run from some of its thread blocks on some of the SMs, with an error range.

The first and last thread blocks of an SM take longer than those between.  Therefore a window is timed after as many
waves of thread blocks as may fill the second-level cache, and these waves are also timed alone; the difference is the
cycles of the window.  Windows lie at equal distances (systematic sampling, as in SMARTS: Wunderlich et al., ISCA 2003,
section 3).  The ratio estimate is their cycles divided by their warp-instructions, with the variance of Cochran
(Sampling Techniques, 3rd edition, 1977, sections 2.11 and 6.4, with the correction for finite populations if all SMs
are timed); launches are strata (section 5.4).

The interval is Student's.  It is widened by the change of one window if twice as many thread blocks precede it, which
covers errors common to all windows (caches, warps in step).  It does not cover SMs that end later than others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from piecewise_numba.options import Mode
from warpreg.counting.capacity import RecordedLaunch
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.designs.loading.design import Design
from warpreg.gpu import Machine, load
from warpreg.gpu.memory import LINE_BYTES
from warpreg.ir.work_observer import Work, observed_work, reached
from warpreg.sass.listing import Copy
from warpreg.timing.errors import TimingError
from warpreg.timing.launch.partition import share_of
from warpreg.timing.launch.sampling import Window
from warpreg.timing.launch.simulate import room_of, timed
from warpreg.timing.memory.between_launches import SecondLevelState
from warpreg.timing.results.result import TimingResult, joined

CONFIDENCE = 0.95
MAX_WAVES = 8
"""Waves in front of a window, at most."""


class GriddedLaunch(RecordedLaunch, Protocol):
    """A launch with known numbers of thread blocks and warp-instructions."""

    @property
    def grid(self) -> tuple[int, int, int]: ...

    @property
    def warp_instructions(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Sample:
    """``windows`` of ``blocks`` thread blocks of every launch (at least and by default as many as the SMs hold at a
    time), on ``sms`` SMs with their share of the memory system (None: all).  Raises TimingError for invalid numbers.
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
    """``cycles`` of a whole run, +- ``margin``: half the width of the 95% confidence interval; 0 if all of it was
    timed.

    ``warp_instructions`` are those of the whole run.  ``timed`` is the result of the timed part on its SMs, waves in
    front of windows included; ``windows`` is the number of sampled windows, ``whole_launches`` that of launches timed
    completely.
    """

    cycles: float
    margin: float
    warp_instructions: int
    windows: int
    whole_launches: int
    timed: TimingResult

    @property
    def ipc(self) -> float:
        """Warp-instructions per cycle of all SMs of the machine."""
        return self.warp_instructions / self.cycles if self.cycles else 0.0

    @property
    def is_sampled(self) -> bool:
        """Whether any part was not timed."""
        return self.windows > 0

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON; cycles as a range."""
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
    """The exact result as an estimate without error."""
    return Estimate(result.cycles, 0.0, result.warp_instructions, 0, launches, result)


@dataclass(frozen=True, slots=True)
class _Piece:
    """The estimate of one launch."""

    cycles: float
    variance: float
    drift: float
    results: tuple[TimingResult, ...]
    windows: int


@dataclass(frozen=True, slots=True)
class _WindowSample:
    """Cycles and instructions of a window, from two timings of which only the second includes it."""

    cycles: int
    instructions: int
    results: tuple[TimingResult, ...]

    @property
    def ratio(self) -> float:
        return self.cycles / max(1, self.instructions)


def estimate(
    launches: Sequence[GriddedLaunch],
    machine: Machine | str,
    sample: Sample,
    *,
    designs: Sequence[Design | str] | ConfiguredDesign = (),
    registers: int | None = None,
    mode: Mode = "compiled",
    cold: bool = False,
    copies: Sequence[Copy] = (),
    threads: int | None = None,
    **parameters: Any,
) -> Estimate:
    """Estimate the cycles of launches in sequence from a sample of each; other parameters as in `simulate`.

    All timings of a launch begin with the second-level cache as the last timing of the launch before left it.
    A launch that is not larger than its sample is timed completely, unless ``sample.sms`` selects a part of the SMs.
    Raises TimingError as `simulate` does, and for a sample of more SMs than the machine has.
    """
    described = load(machine) if isinstance(machine, str) else machine
    if not launches:
        raise TimingError("nothing to time: no launch")
    part = described if sample.sms is None else share_of(described, sample.sms)
    chosen = ConfiguredDesign.of(designs, parameters)
    scale = part.chip.sms / described.chip.sms
    pieces = []
    between = None if cold else SecondLevelState(copies)
    for place, launch in enumerate(launches, 1):
        sampling = _LaunchSampler(launch, part, chosen, registers, mode, between, threads)
        reached(Work(place - 1, len(launches), "launches", f"launch {place:,} of {len(launches):,}"))
        with observed_work(None):  # the windows of a launch are of any size
            pieces.append(sampling.of(sample, scale))
        between = sampling.left
    sampled = [piece for piece in pieces if piece.windows]
    timed_part = joined([result for piece in pieces for result in piece.results])
    own = timed_part.kernel_instructions
    growth = timed_part.warp_instructions / own if own else 1.0
    freedom = min((piece.windows for piece in sampled if piece.windows > 1), default=2) - 1
    return Estimate(
        cycles=math.fsum(piece.cycles for piece in pieces),
        margin=student(freedom) * math.sqrt(math.fsum(piece.variance for piece in pieces))
        + math.fsum(piece.drift for piece in pieces),
        warp_instructions=round(growth * sum(int(launch.warp_instructions) for launch in launches)),
        windows=sum(piece.windows for piece in pieces),
        whole_launches=len(pieces) - len(sampled),
        timed=timed_part,
    )


def student(freedom: int) -> float:
    """The two-sided quantile of Student's distribution for CONFIDENCE."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))


@dataclass(slots=True)
class _LaunchSampler:
    """Timings of one launch; ``left`` is the state of the second-level cache after the last of them."""

    launch: GriddedLaunch
    machine: Machine
    chosen: ConfiguredDesign
    registers: int | None
    mode: Mode
    between: SecondLevelState | None
    threads: int | None = None
    left: SecondLevelState | None = None

    def of(self, sample: Sample, scale: float) -> _Piece:
        """The estimate; ``scale`` is the share of the machine's SMs, and so of the launch's thread blocks, that are
        timed.
        """
        blocks = math.prod(self.launch.grid)
        own = math.ceil(blocks * scale)
        wave = room_of(self.launch, self.machine, self.chosen, self.registers).blocks * self.machine.chip.sms
        size = max(sample.blocks or wave, wave)
        if own < wave + size:
            return self._in_pieces(own, blocks, sample.windows) if scale < 1 else self._whole()
        front = wave * min(self._waves_that_fill(wave), (own - size) // wave)
        windows = len(list(places(blocks - front, size, sample.windows)))
        if scale == 1 and windows * (2 * front + size) + 4 * front + size >= blocks:
            return self._whole()
        return self._estimated(sample.windows, front, size, blocks, scale)

    def _waves_that_fill(self, wave: int) -> int:
        """Waves until the second-level cache can be full, if every transaction accesses a different line."""
        l2 = self.machine.memory.l2
        if l2 is None:
            return 1
        lines = self._timed(Window(wave)).transactions
        return min(MAX_WAVES, max(1, math.ceil(l2.slices * l2.bytes / LINE_BYTES / max(1, lines))))

    def _whole(self) -> _Piece:
        result = self._timed(None)
        return _Piece(result.cycles, 0.0, 0.0, (result,), 0)

    def _in_pieces(self, size: int, blocks: int, windows: int) -> _Piece:
        """Mean of several parts of one or two waves, timed from the start: these SMs run no more of the launch than one
        part.
        """
        results = [self._timed(Window(size, place)) for place in places(blocks, size, windows)]
        cycles = [result.cycles for result in results]
        variance = float(np.var(cycles, ddof=1)) / len(cycles) if len(cycles) > 1 else 0.0
        return _Piece(float(np.mean(cycles)), variance, 0.0, tuple(results), len(cycles))

    def _estimated(self, windows: int, front: int, size: int, blocks: int, scale: float) -> _Piece:
        """Cycles of the thread blocks in front of windows, plus the ratio of the windows times all other instructions.
        At least the cycles of the first thread blocks of the launch, some of which may overlap all others.
        """
        starts = list(places(blocks - front, size, windows))
        pieces = [self._behind(front, size, place + front) for place in starts]
        cycles, instructions = [piece.cycles for piece in pieces], [piece.instructions for piece in pieces]
        first = self._timed(Window(front))
        begin = float(np.mean([piece.results[0].cycles for piece in pieces]))
        begun = float(np.mean([piece.results[0].kernel_instructions for piece in pieces]))
        rest = self.launch.warp_instructions * scale - begun
        population = (blocks - front) // size if scale == 1 else None
        ratio, variance = ratio_of(cycles, instructions, population)
        taken = [result for piece in pieces for result in piece.results]
        middle = len(starts) // 2
        drift = 0.0
        if starts[middle] >= front:
            behind_more = self._behind(2 * front, size, starts[middle] + front)
            drift = abs(behind_more.ratio - pieces[middle].ratio)
            taken += behind_more.results
        whole = max(first.cycles, begin + ratio * rest)
        return _Piece(whole, variance * rest**2, drift * rest, (*taken, first), len(starts))

    def _behind(self, front: int, size: int, place: int) -> _WindowSample:
        """Cycles that thread blocks from ``place`` on add after the ``front`` thread blocks before them."""
        both, before = self._timed(Window(front + size, place - front)), self._timed(Window(front, place - front))
        added = both.cycles - before.cycles, both.kernel_instructions - before.kernel_instructions
        return _WindowSample(*added, (before, both))

    def _timed(self, window: Window | None) -> TimingResult:
        self.left = None if self.between is None else self.between.copy()
        taken = timed(
            self.launch,
            self.machine,
            self.chosen,
            self.registers,
            None,
            window,
            self.mode,
            False,
            self.left,
            self.threads,
        )
        return taken.result


def places(blocks: int, size: int, windows: int) -> Iterator[int]:
    """First thread blocks of windows of ``size`` in the middle of equal parts of ``blocks``; at most as many as fit."""
    many = max(1, min(windows, blocks // size))
    for i in range(many):
        yield (blocks - size) * (2 * i + 1) // (2 * many)


def ratio_of(cycles: Sequence[float], instructions: Sequence[float], population: int | None) -> tuple[float, float]:
    """Cycles per instruction and its variance, from windows of a population of this size (None: infinite)."""
    y, x = np.array(cycles, float), np.array(instructions, float)
    ratio = float(y.sum() / x.sum())
    left_out = 1 - len(y) / population if population else 1.0
    if len(y) < 2 or left_out <= 0:
        return ratio, 0.0
    scatter = float(((y - ratio * x) ** 2).sum()) / (len(y) - 1)
    return ratio, left_out * scatter / (len(y) * float(x.mean()) ** 2)
