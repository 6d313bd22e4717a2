"""What a core is compiled for under a machine and a design, and the functions that stand in it therefore.

Variants are found without registration: a module in one of the FOLDERS marks its own.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from types import FunctionType
from typing import Any

from piecewise_numba.rebuild import calls_out_of_line
from warpreg.designs.checking.running import called_from, has_checks
from warpreg.designs.interface.accounts import plans_results
from warpreg.designs.interface.hooks import authors_of_hook
from warpreg.designs.interface.own_memory import sends_to_memory
from warpreg.designs.interface.program import WAITS_FOR_ALL, Program
from warpreg.designs.interface.thread_blocks import knows_thread_blocks
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.designs.loading.fetch import banks_of, with_collectors
from warpreg.gpu import Machine
from warpreg.timing import hooks as of_hooks
from warpreg.timing import memory, sm, tracing
from warpreg.timing.core.conditions import CoreConfig
from warpreg.timing.core.port import HOOKS

FOLDERS = (sm, of_hooks, memory, tracing)
"""Folders whose modules mark ports and variants."""
for folder in FOLDERS:
    for module in pkgutil.iter_modules(folder.__path__, f"{folder.__name__}."):
        importlib.import_module(module.name)


def given_of(machine: Machine, hooks: Mapping[str, FunctionType], **asked: Any) -> CoreConfig:
    """What the core of a machine is compiled for under the hooks of a design; ``asked``: other `CoreConfig` fields."""
    called = tuple(called_hooks(hooks).values())
    authors = tuple(author for hook in called for author in authors_of_hook(hook))
    return CoreConfig(
        operand_path=machine.operand_path.kind,
        memory_model=machine.memory.memory.model,
        has_instruction_caches=machine.instruction_cache is not None,
        has_constant_caches=machine.constant_cache is not None,
        tracks_sources=machine.schedulers.tracks_sources or False,
        is_two_level=machine.schedulers.active_warps is not None,
        serves_instructions=machine.register_file.serves_instructions,
        hooks=frozenset(hooks),
        has_large_hooks=not has_checks(called) and calls_out_of_line(authors),
        knows_thread_blocks=knows_thread_blocks(hooks),
        sends_to_memory=sends_to_memory(hooks),
        plans_when_produced="produced" in hooks and plans_results(hooks["produced"]),
        **asked,
    )


def given_of_design(machine: Machine, chosen: ConfiguredDesign, **asked: Any) -> CoreConfig:
    """The same of a design before a kernel is known.  Raises DesignError for a design that the machine cannot have."""
    design, values = chosen.design, chosen.values
    collectors = design.collectors(values, machine)
    with_collectors(machine, collectors)
    return given_of(
        machine,
        design.hooks,
        widths=design.declaration.reads_values,
        lanes=design.declaration.lanes,
        main_levels=design.declaration.main_mask,
        banks=banks_of(design, values, machine),
        collectors=collectors,
        has_tables=bool(design.tables(values, machine)),
        has_paths=bool(design.paths(values, machine)),
        **asked,
    )


def called_hooks(hooks: Mapping[str, FunctionType]) -> dict[str, FunctionType]:
    """The hooks that the core calls, as it calls them."""
    return {name: called_from(hook) for name, hook in hooks.items() if name in HOOKS}


def waits_for_all(program: Program) -> bool:
    """Whether a warp waits for all its long-latency results at a suspension point of a kernel."""
    return bool((program.suspends == WAITS_FOR_ALL).any())
