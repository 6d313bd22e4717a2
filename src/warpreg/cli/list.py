"""``warpreg list``: list workloads, designs, machines, technologies and opcodes.

The lists are kept in the cache until a file of the package changes, so a warm ``list`` imports no workload or design.
That of designs is made anew if other packages offer some.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from warpreg.cache import store
from warpreg.cache.sources import sources_state
from warpreg.cli import output
from warpreg.cli.options import json_option
from warpreg.ir.errors import UnknownNameError

Rows = list[dict[str, Any]]


def _workloads() -> Rows:
    from warpreg import workloads

    return [
        {
            "name": workload.name,
            "suite": workload.suite,
            "title": workload.title,
            "papers": ", ".join(workload.papers),
            "tags": ", ".join(workload.tags),
        }
        for workload in map(workloads.find, workloads.names())
    ]


def _measured_workloads() -> Rows:
    """The workloads with what was measured of each, by size."""
    from warpreg.workloads import table

    measured = table.measured()
    return [row | {"measured": measured.get(row["name"], {})} for row in _workloads()]


def _designs() -> Rows:
    from warpreg import designs

    return [
        {
            "name": design.name,
            "summary": design.summary,
            "slot": "+".join(design.declaration.slots),
            "levels": ", ".join(design.levels),
            "parameters": ", ".join(f"{spec.name}={spec.default} {spec.unit}".rstrip() for spec in design.parameters),
            "source": design.declaration.source,
        }
        for design in map(designs.load, designs.names())
    ]


def _machines() -> Rows:
    from warpreg import gpu

    return [
        {
            "name": machine.name,
            "title": machine.title,
            "SMs": machine.chip.sms,
            "warps per SM": machine.sm.warps,
            "register file (KiB)": machine.register_file.bytes // 1024,
        }
        for machine in map(gpu.load, gpu.names())
    ]


def _technologies() -> Rows:
    from warpreg import energy

    return [
        {
            "name": technology.name,
            "title": technology.title,
            "node (nm)": technology.process.node,
            "supply (V)": technology.process.voltage,
            "levels": ", ".join(technology.levels),
            "tables, logic": ", ".join((*technology.tables, *technology.logic)),
        }
        for technology in map(energy.load, energy.names())
    ]


def _opcodes() -> Rows:
    from warpreg.ir.opcodes import OPCODES

    return [{"name": row.name, "unit": row.unit.value, "types": row.types, "syntax": row.syntax} for row in OPCODES]


SUBJECTS: Mapping[str, Callable[[], Rows]] = {
    "workloads": _workloads,
    "designs": _designs,
    "machines": _machines,
    "technologies": _technologies,
    "opcodes": _opcodes,
}
DETAILED: Mapping[str, Callable[[], Rows]] = {**SUBJECTS, "workloads": _measured_workloads}
"""The subjects as JSON lists them."""
KIND = "lists"
INSTALLED = "warpreg.designs"
"""The entry points of designs in other packages, whose files `sources_state` does not know."""
BRIEF = ("workloads", "designs", "machines", "technologies")
"""The subjects listed by default."""


@click.command()
@click.argument("subject", required=False, metavar=f"[{'|'.join(SUBJECTS)}]")
@json_option
def command(subject: str | None, as_json: bool) -> None:
    """List workloads, designs, machines, technologies or opcodes. Default: all but the opcodes."""
    if subject is not None and subject not in SUBJECTS:
        raise click.UsageError(str(UnknownNameError("subject", subject, SUBJECTS)))
    chosen = (subject,) if subject else BRIEF
    found = {name: _rows(name, as_json) for name in chosen}
    if as_json:
        output.print_json(found[subject] if subject else found)
        return
    output.print_tables(output.table(rows, list(rows[0]), title=name.capitalize()) for name, rows in found.items())


def _rows(subject: str, detailed: bool) -> Rows:
    """The rows of a list, from the cache if the package has not changed."""
    key = store.key_of(subject, str(detailed), sources_state(), _installed_state() if subject == "designs" else "")
    kept = store.read(KIND, key)
    if kept is not None:
        rows: Rows = json.loads(kept)
        return rows
    rows = (DETAILED if detailed else SUBJECTS)[subject]()
    if not (subject == "designs" and _is_extended()):
        store.write(KIND, key, json.dumps(rows).encode())
    return rows


def _installed_state() -> str:
    """What changes when a package is installed or removed: the times of change of the folders with packages."""
    folders = (folder for folder in sys.path if folder and Path(folder).is_dir())
    return "\0".join(f"{folder} {Path(folder).stat().st_mtime_ns}" for folder in folders)


def _is_extended() -> bool:
    """Whether other packages offer designs."""
    from importlib.metadata import entry_points  # takes a tenth of this command's time

    return bool(entry_points(group=INSTALLED))
