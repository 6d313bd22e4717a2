"""Turns the core, with what the designs and the memory model put in place of `calls`, into a function that runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, cast

import numpy as np

from warpreg.designs.errors import DesignError
from warpreg.jit.bare_arrays import WORDS, Numbers, bare, widths
from warpreg.jit.dependencies import Reach, rebuild
from warpreg.jit.entry_points import entry
from warpreg.jit.options import INLINED, OPTIONS, Mode
from warpreg.jit.type_keys import kind
from warpreg.replay.diagnostics import author_line, authors_files, brief, check_return_types
from warpreg.timing.core.columns.machine import STRUCTURE
from warpreg.timing.core.intrinsics import natives
from warpreg.timing.core.state import IN_FRONT
from warpreg.timing.memory import layout
from warpreg.timing.sm.cycle import run

Entry = Callable[..., int]
Shape = tuple[tuple[int, ...], tuple[int, ...], Numbers, Numbers]
"""Widths of the core's arrays, and of the memory system's; what of the machine and of the memory system is compiled."""
PACKAGE = "warpreg.timing."

_loaded: dict[Hashable, Entry] = {}
"""By what can differ from launch to launch: the core's functions as they are, hooks with all that they reach.  A design
that is loaded or composed anew brings new functions and classes, of which no core is loaded again that says the same.
"""


def _as_it_is(arrays: Any) -> Any:
    """In place of `bare` where array bounds are checked."""
    return arrays


@dataclass(frozen=True)
class CoreRecipe:
    """``text`` of a function ``entry`` that calls ``run``, and the ``names`` that it uses besides.

    ``hooks``: those that the core calls.  ``replaced``: what takes the place of which function of
    `warpreg.timing.core.ports`.  ``mode`` as in a replay.
    """

    text: str
    names: Mapping[str, Any] = field(default_factory=dict)
    hooks: Mapping[str, FunctionType] = field(default_factory=dict)
    replaced: Mapping[FunctionType, Any] = field(default_factory=dict)
    mode: Mode = "compiled"

    def build(self, arguments: tuple[Any, ...]) -> Entry:
        """The core's entry for arguments of these types, from the disk cache where it is there."""
        plain = cast(FunctionType, run)
        if self.mode == "interpreted":
            built = rebuild({"run": plain}, lambda function: function, self.replaced)
            namespace = {**self.names, **built, "bare_core": _as_it_is, "bare_memory": _as_it_is}
            exec(compile(self.text, "<timing entry>", "exec"), namespace)
            return cast(Entry, namespace["entry"])
        parts = tuple((one, instead if _is_own(instead) else None) for one, instead in self.replaced.items())
        fields = tuple((name, getattr(record, "_fields", ())) for name, record in self.names.items())
        core, memory = arguments[:2]
        machine, system = _numbers(core.machine, STRUCTURE), _numbers(memory.parameters, layout.STRUCTURE)
        shape = widths(core), widths(memory), machine, system
        key = self.text, self.mode, parts, fields, self._reach_outside(), kind(arguments), shape
        if key not in _loaded:
            _loaded[key] = self._from_disk(plain, arguments, shape)
        return _loaded[key]

    def _reach_outside(self) -> str:
        """Of hooks, and of what was written for them."""
        reach = Reach()
        for function in (*self.hooks.values(), *self.replaced.values()):
            if not _is_own(function):
                reach.function(function)
        return reach.digest

    def _from_disk(self, plain: FunctionType, arguments: tuple[Any, ...], shape: Shape) -> Entry:
        import numba

        typeof: Any = numba.typeof
        signature = tuple(typeof(argument) for argument in arguments)
        digest = self._digest(plain, signature, shape)
        build = partial(self._build, plain, signature, shape)
        return entry("entry", self.text, digest, signature, build, "timing")

    def _digest(self, plain: FunctionType, signature: tuple[Any, ...], shape: Shape) -> str:
        import llvmlite
        import llvmlite.binding
        import numba

        versions = (numba.__version__, llvmlite.__version__, np.__version__, sys.version)
        processor = (llvmlite.binding.get_host_cpu_name(), llvmlite.binding.get_host_cpu_features().flatten())
        reach = Reach(self.replaced)
        reach.text("key", repr((versions, processor, str(signature), shape, IN_FRONT, self.mode, self.text, OPTIONS)))
        for file in (natives.__code__.co_filename, WORDS, INLINED):
            reach.text("natives", Path(file).read_text(encoding="utf-8"))
        reach.function(plain)
        return reach.digest

    def _build(self, plain: FunctionType, signature: tuple[Any, ...], shape: Shape, module: ModuleType) -> Entry:
        from numba.core.errors import NumbaError

        from warpreg.jit.numba_internals import inlined, outermost

        options = OPTIONS | {"boundscheck": self.mode == "checked"}
        built = rebuild({"run": plain, **self.hooks}, inlined(options), {**natives(), **self.replaced})
        opened = [bare(shape[0], IN_FRONT, shape[2]), bare(shape[1], (), shape[3])]
        if self.mode == "checked":
            opened = 2 * [inlined(options)(_as_it_is)]
        vars(module).update(self.names, run=built.pop("run"), bare_core=opened[0], bare_memory=opened[1])
        try:
            compiled = cast(Entry, outermost(signature, options)(vars(module)["entry"]))
        except NumbaError as error:
            raise DesignError(self._blamed(error)) from error
        check_return_types(self.hooks, built)
        return compiled

    def _blamed(self, error: Exception) -> str:
        """What does not compile, in one line; with the author's file and line where numba names a file of his."""
        for name, hook in self.hooks.items():
            if any(Path(file).name in str(error) for file in authors_files(hook)):
                return f"{author_line(hook, error)}: hook {name}: {brief(error)}"
        return f"the timing core does not compile: {brief(error)}"


def _numbers(array: Any, structure: Sequence[int]) -> Numbers:
    return tuple(zip(structure, array[list(structure)].tolist(), strict=True))


def _is_own(function: FunctionType) -> bool:
    """Whether it stands in a module of the core's package."""
    module = sys.modules.get(function.__module__)
    return module.__name__.startswith(PACKAGE) and vars(module).get(function.__name__) is function if module else False
