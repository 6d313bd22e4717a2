"""Drives a core over the chunks of a path and keeps what it counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import FunctionType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from warpreg.designs.plan import Plan, details
from warpreg.designs.program import REPLAY_SLOTS, Program
from warpreg.designs.state import Extent, Field, allocate
from warpreg.replay import core
from warpreg.replay.compiled import Mode, Recipe, compiled_core, interpreted_core, typical_arguments
from warpreg.replay.errors import ReplayError

Chunk = NDArray[np.uint32]


class Walker:
    """One replay: ``walk`` a path, then read what was counted.

    ``visits`` int64[blocks] counts block visits; ``accesses`` int64[levels, 2, 2], ``moves`` int64[levels, levels] and
    ``events`` int64[events] are what hooks planned.
    """

    def __init__(
        self,
        program: Program,
        hooks: Mapping[str, FunctionType],
        state: tuple[Any, ...],
        *,
        levels: int,
        events: int,
        name: str,
        mode: Mode = "compiled",
    ) -> None:
        self.visits = np.zeros(program.first_pc.size - 1, np.int64)
        self.accesses = np.zeros((levels, 2, 2), np.int64)
        self.moves = np.zeros((levels, levels), np.int64)
        self.events = np.zeros(events, np.int64)
        self._details = details(0, 0, 0, 0, 0)
        self._progress = np.zeros(core.PROGRESS, np.int64)
        fields = allocate(name, state, Extent(REPLAY_SLOTS))
        self._arguments = self._all_arguments(program, fields)
        rows = [field.name for field in fields if field.reset]
        hooks = {hook: hooks[hook] for hook in core.HOOKS if hook in hooks}
        core_text = core.core_text([field.name for field in fields], rows, sorted(hooks))
        recipe = Recipe(core_text, hooks, type(state) if fields else None, mode == "checked")
        if mode == "interpreted":
            self._walk = interpreted_core(recipe)
        else:
            typical = self._hook_arguments(program, state, fields)
            self._walk = compiled_core(recipe, (np.zeros(0, np.uint32), *self._arguments), typical)

    def feed(self, chunk: Chunk) -> None:
        """Replay one chunk.  Raises ReplayError for words that are no path of this kernel."""
        status = self._walk(np.ascontiguousarray(chunk, np.uint32), *self._arguments)
        if status != core.OK:
            raise ReplayError(self._refusal(status, chunk))

    def walk(self, chunks: Iterable[Chunk]) -> None:
        """Replay a whole path, and end its last thread block."""
        for chunk in chunks:
            self.feed(chunk)
        self.feed(np.array([3, 0], np.uint32))

    def _all_arguments(self, program: Program, fields: tuple[Field, ...]) -> tuple[Any, ...]:
        warps = np.zeros(REPLAY_SLOTS, np.uint32), np.zeros(REPLAY_SLOTS, np.uint8)
        fixed = (
            self._progress,
            *warps,
            self.visits,
            self.accesses.reshape(-1),
            self.moves,
            self.events,
            *self._details,
        )
        columns = [np.require(c, requirements=("C", "W")) if isinstance(c, np.ndarray) else c for c in program]
        resets = (array for field in fields for array in field.reset)
        return (*fixed, *columns, *(field.value for field in fields), *resets)

    def _hook_arguments(
        self, program: Program, state: tuple[Any, ...], fields: tuple[Field, ...]
    ) -> dict[str, tuple[Any, ...]]:
        """For each hook values of the types that the core passes."""
        kind: Any = type(state)
        whole = kind(*(field.value for field in fields)) if fields else 0
        mask, datapath = cast(int, np.uint32(0)), cast(int, np.uint8(0))
        counts = (self.accesses.reshape(-1), self.moves, self.events)
        scalars = (mask, datapath, 0, 0, 0, 0, 0, 0, 0, 0)
        plan = Plan._make((*counts, *scalars, *self._details, 0, 0, 0, 0))
        return typical_arguments({"state": whole, "program": program, "plan": plan})

    def _refusal(self, status: int, chunk: Chunk) -> str:
        position = int(self._progress[core.POSITION])
        word = int(chunk[position])
        where = f"path word {position} of a chunk ({word:#010x})"
        return {
            core.CUT: f"{where}: the record is cut off at the end of the chunk",
            core.BAD_BLOCK: f"{where}: visits block {word >> 2}, the kernel has {self.visits.size}",
            core.BAD_WARP: f"{where}: switches to warp {word >> 2}, a thread block has at most {REPLAY_SLOTS}",
            core.BAD_THREAD_BLOCK: f"{where}: starts a thread block with a payload, expected none",
        }[status]
