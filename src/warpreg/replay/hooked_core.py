"""Turns a core's text and a design's hooks into a function: compiled, compiled with bounds checks, or interpreted."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from types import FunctionType, ModuleType
from typing import Any, cast

import numpy as np

from warpreg.designs.errors import DesignError
from warpreg.designs.interface.plan import Plan
from warpreg.designs.interface.program import Program
from warpreg.jit.dependencies import Reach, rebuild
from warpreg.jit.entry_points import entry
from warpreg.jit.options import INLINED, OPTIONS
from warpreg.jit.type_keys import kind
from warpreg.replay.diagnostics import brief, check_return_types, culprit, types_of
from warpreg.replay.path_core import ENTRY

Core = Callable[..., int]

_loaded: dict[Hashable, Core] = {}
"""Within a process one function object is one hook."""


@dataclass(frozen=True)
class Recipe:
    """What a core is made of: its text, the design's hooks by name, and its State class if it has one."""

    text: str
    hooks: Mapping[str, FunctionType]
    state: type | None
    checked: bool = False

    def digest(self, signature: tuple[Any, ...]) -> str:
        """Key of the compiled core: all text and values that it depends on, versions and processor included."""
        import llvmlite
        import llvmlite.binding
        import numba

        reach = Reach()
        versions = (numba.__version__, llvmlite.__version__, np.__version__, sys.version)
        processor = (llvmlite.binding.get_host_cpu_name(), llvmlite.binding.get_host_cpu_features().flatten())
        for label, value in (
            ("versions", versions),
            ("processor", processor),
            ("signature", signature),
            ("checked", self.checked),
        ):
            reach.text(label, str(value))
        reach.text("core", self.text)
        reach.text("inlined", INLINED.read_text(encoding="utf-8"))
        for record in (Program, Plan, *([self.state] if self.state else [])):
            reach.text(f"{record.__module__}.{record.__qualname__}", str(getattr(record, "_fields", "")))
        for name, function in sorted(self.hooks.items()):
            reach.text("hook", name)
            reach.function(function)
        return reach.digest


def interpreted_core(recipe: Recipe) -> Core:
    """The same text and hooks as plain Python."""
    namespace: dict[str, Any] = {"Program": Program, "Plan": Plan, "State": recipe.state, **recipe.hooks}
    exec(compile(recipe.text, "<core>", "exec"), namespace)
    return cast(Core, namespace[ENTRY])


def compiled_core(recipe: Recipe, arguments: tuple[Any, ...], hook_arguments: Mapping[str, tuple[Any, ...]]) -> Core:
    """The core compiled for arguments of these types, from the disk cache where it is there.

    ``hook_arguments`` gives for each hook values of the types that the core passes.  Raises DesignError with the
    author's file and line if a hook is outside the numba subset or its types do not fit.
    """
    key = recipe.text, tuple(recipe.hooks.items()), recipe.state, recipe.checked, kind(arguments)
    if key not in _loaded:
        signature = _signature(arguments)
        build = partial(_build, recipe, signature, hook_arguments)
        _loaded[key] = entry(ENTRY, recipe.text, recipe.digest(signature), signature, build, "core")
    return _loaded[key]


def _signature(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Numba types of the arguments; the path, the first, may be read-only."""
    import numba

    path = numba.types.Array(numba.types.uint32, 1, "C", readonly=True)
    return (path, *types_of(arguments[1:]))


def _build(
    recipe: Recipe, signature: tuple[Any, ...], hook_arguments: Mapping[str, tuple[Any, ...]], module: ModuleType
) -> Core:
    from numba.core.errors import NumbaError

    from warpreg.jit.numba_internals import inlined, outermost, selecting

    options = OPTIONS | {"boundscheck": recipe.checked}
    compiled = rebuild(recipe.hooks, inlined(options))
    vars(module).update(compiled, Program=Program, Plan=Plan, State=recipe.state)
    try:
        with selecting():
            core = cast(Core, outermost(signature, options)(getattr(module, ENTRY)))
    except NumbaError as error:
        raise DesignError(
            culprit(recipe.hooks, compiled, hook_arguments) or f"the replay core does not compile: {brief(error)}"
        ) from error
    check_return_types(recipe.hooks, compiled)
    return core
