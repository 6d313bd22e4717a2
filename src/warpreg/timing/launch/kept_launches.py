"""Finished launches of a long timed run, kept on disk so that a run that was stopped goes on behind them.

What is kept is a prefix of the run: the results of its first launches, and the second-level cache as the last of them
has left it, which the next one starts with.  Its key covers all that the run depends on: the recorded paths, addresses
and widths of every launch, machine, design and code.  So the result of a run that goes on is that of one that was never
stopped, byte for byte.  A launch that was under way is timed again from its start.
"""

from __future__ import annotations

import contextlib
import hashlib
import multiprocessing
import pickle
import sys
import sysconfig
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import zstandard

import piecewise_numba
import warpreg
from warpreg.cache import store
from warpreg.cache.identity import spelled
from warpreg.cache.sources import sources_digest
from warpreg.counting.capacity import RecordedLaunch
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.designs.loading.loader import is_packaged
from warpreg.gpu import Machine
from warpreg.ir.errors import WarpregWarning
from warpreg.ir.kernel import Kernel
from warpreg.timing.memory.between_launches import SecondLevelState
from warpreg.timing.results.result import TimingResult
from warpreg.trace.file import Trace

KIND = "launches"
LEAST_INSTRUCTIONS = 2_000_000
"""Warp-instructions of a run whose launches are worth a key: a few seconds."""
INTERVAL_S = 10.0
"""Seconds of timing after which finished launches are kept."""
SHARE = 20
"""The same in times that keeping them takes, so that it costs at most a twentieth."""
WITHOUT = ("cli", "report", "evaluation", "checks", "gpu_kit", "workloads")
"""Packages that the cycles of recorded launches do not depend on."""


class KeptLaunchesNote(WarpregWarning):
    """Launches of an earlier run are used, or are kept for a later one."""


@dataclass(slots=True)
class KeptLaunches:
    """The first launches of a run: ``results`` by number, and the state ``between`` launches after the last of them."""

    key: str | None
    between: SecondLevelState | None
    results: dict[int, TimingResult] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic
    _written: int = 0
    _since: float = 0.0
    _interval_s: float = 0.0

    @staticmethod
    def find(key: str | None, between: SecondLevelState | None, wanted: int) -> KeptLaunches:
        """What an earlier run has kept under a key; nothing without a key.  ``wanted`` are launches of the run."""
        found = KeptLaunches(key, between)
        found._since, found._interval_s = found.clock(), INTERVAL_S
        content = None if key is None else store.read(KIND, key)
        with contextlib.suppress(zstandard.ZstdError, pickle.UnpicklingError, EOFError, AttributeError, TypeError):
            if content is not None:
                found.results, state = pickle.loads(zstandard.decompress(content))
                if found.between is not None:
                    found.between.contents, found.between.launches = state
                found._written = len(found.results)
                _tell(f"{len(found.results):,} of {wanted:,} launches were timed by an earlier run and are used")
        return found

    def add(self, number: int, result: TimingResult) -> None:
        """Take the result of the next launch, and keep it if the last time is long enough ago."""
        self.results[number] = result
        if self.key is not None and self.clock() - self._since >= self._interval_s:
            self._write()

    @contextlib.contextmanager
    def kept_if_stopped(self, wanted: int) -> Iterator[None]:
        """Keep what is finished if an error or Ctrl-C ends the block."""
        try:
            yield
        except BaseException:
            if self.key is not None and len(self.results) > self._written:
                self._write()
            if self._written:
                _tell(f"{self._written:,} of {wanted:,} launches are kept; the same command goes on behind them")
            raise

    def _write(self) -> None:
        assert self.key is not None
        began = self.clock()
        state = None if self.between is None else (self.between.contents, self.between.launches)
        content = pickle.dumps((self.results, state), protocol=pickle.HIGHEST_PROTOCOL)
        if store.write(KIND, self.key, zstandard.ZstdCompressor(level=1).compress(content)):
            self._written = len(self.results)
        self._since = self.clock()
        self._interval_s = max(INTERVAL_S, SHARE * (self._since - began))


def key_of(
    launches: Sequence[RecordedLaunch], machine: Machine, chosen: ConfiguredDesign, options: dict[str, Any]
) -> str | None:
    """The key of a run with these ``options`` of `simulate`; None for one that is too short, whose launches are no
    trace files, or whose design was not loaded by name or path.
    """
    instructions = sum(int(launch.warp_instructions) for launch in launches)
    if instructions < LEAST_INSTRUCTIONS or not chosen.source:
        return None
    if not all(isinstance(launch.trace, Trace) for launch in launches):
        return None
    kernels = {kernel: _of_kernel(kernel) for kernel in dict.fromkeys(launch.kernel for launch in launches)}
    parts = [f"{kernels[launch.kernel]} {_of_launch(launch)}" for launch in launches]
    design = [chosen.design.name, chosen.source, chosen.design.digest, chosen.parameters, chosen.design.is_checked]
    modules = "" if is_packaged(chosen.source) else _own_modules(chosen.design.path)
    return store.key_of(sources_digest(WITHOUT), spelled((machine, design, options)), modules, *parts)


def _of_kernel(kernel: Kernel) -> str:
    """A digest of the whole code with its control codes, as the cycles of machine code depend on these."""
    every = {one.name: getattr(kernel, one.name) for one in fields(kernel)}
    numbers = {name: value for name, value in every.items() if isinstance(value, int | str)}
    code = (kernel.parameters, kernel.blocks, kernel.placements, kernel.block_addresses)
    return hashlib.sha256(f"{sorted(numbers.items())} {code!r}".encode()).hexdigest()


def _of_launch(launch: RecordedLaunch) -> str:
    trace: Trace = launch.trace
    recorded = hashlib.sha256(trace.path_digest.encode())
    for chunks in (trace.address_chunks(), trace.width_chunks()):
        for chunk in chunks:
            recorded.update(chunk.data)
        recorded.update(b"\0end")
    shape = launch.grid, launch.block, launch.shared_bytes, int(launch.warp_instructions)
    return f"{shape} {recorded.hexdigest()}"


def _own_modules(design: Path) -> str:
    """A digest of the user's modules that are loaded, which a design file may have imported, and of those in the folder
    of the design.
    """
    paths = sysconfig.get_paths()
    others = [Path(paths[name]) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    others += [Path(str(package.__file__)).parent for package in (warpreg, piecewise_numba)]
    named = ((name, getattr(module, "__file__", None)) for name, module in sys.modules.items() if name != "__main__")
    files = sorted({Path(file) for _, file in named if file})
    own = [one for one in files if one.parent == design.parent or not any(one.is_relative_to(path) for path in others)]
    digest = hashlib.sha256()
    for path in own:
        with contextlib.suppress(OSError):
            digest.update(f"{path}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _tell(text: str) -> None:
    """Say it where the user sees it as a line: not in worker processes."""
    if multiprocessing.parent_process() is None:
        warnings.warn(text, KeptLaunchesNote, stacklevel=2)
