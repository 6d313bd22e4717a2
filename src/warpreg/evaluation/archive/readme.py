"""The files of an archive that say how to use it: README, Makefile, and the checklist of artefact evaluations."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from warpreg.evaluation.runs.design_means import FIGURES, design_means

PUBLISHED = ("id", "published", "measured", "unit", "within")
"""Columns of a reproduction."""
NUMBER = ("name", "value")
"""Columns of the numbers of a run."""
CHOSEN = ("options",)
"""Parts of a run that are no results."""
MOST_NUMBERS = 30
MAKEFILE = """\
# make setup: install the code of this archive into .venv; make check: measure again and compare.
PYTHON ?= python3
WARPREG ?= .venv/bin/warpreg

.PHONY: setup check
setup:
\t$(PYTHON) -m venv .venv
\t.venv/bin/python -m pip install --quiet --requirement requirements.txt wheels/*.whl

check:
\t$(WARPREG) archive --check .
"""
CHECKLIST = """\
# What an artefact evaluation asks

| question | where the answer is |
|---|---|
| Available: is all of it here? | code (`wheels/`), inputs, expected results, and this text are in one file; what is \
downloaded are libraries of the Python package index in the versions of `requirements.txt` |
| Functional: does it run, and is it documented? | `make setup` and `make check`; `README.md` |
| Complete: is every result here? | `expected.json` has all that the command prints; `manifest.json` names the command |
| Reusable: can others build on it? | `warpreg` is a command and a Python library with documentation; change an \
input and run the command again |
| Reproduced: are the results those that are claimed? | `make check` measures from nothing and says so |
"""


def readme(manifest: Mapping[str, Any], expected: Any, inputs: Sequence[str]) -> str:
    """The README as Markdown."""
    libraries = "\n".join(f"- {name} {number}" for name, number in manifest["libraries"].items())
    return f"""\
# {manifest["name"]}

Results of Warpreg {manifest["warpreg"]}, a laboratory for GPU register files, with the code, the inputs and the command
that measure them. The command is

    {shlex.join(["warpreg", *manifest["command"]])}

## Check the results

    make setup        # Python 3.11 to 3.14, network access for the libraries; another one: make setup PYTHON=python3.12
    make check        # measures everything again with an empty cache, and compares

`make check` prints `reproduced`, or it prints the differences and `not reproduced` and fails. Text, counts and cycles
must be equal. Other numbers may differ by {manifest["relative_tolerance"]:g} of their value: energies and means are
sums of products, whose last digits may depend on the vectors of the processor. With equal libraries on the same
processor they are equal, too.

## Expected results

{_expected(expected)}

All of them are in `expected.json`.

## Time and hardware

{_measured(manifest["measured"])}

No GPU is needed. The results do not depend on the machine.

## Software

- Python {manifest["python"]} on {manifest["platform"]}
{libraries}

`requirements.txt` names the versions that `make setup` installs; the code of Warpreg itself is in `wheels/`.

## Files

{_listed(inputs)}

`manifest.json` has the command and the SHA-256 of every file. `CHECKLIST.md` answers what artefact evaluations ask.
"""


def _expected(expected: Any) -> str:
    if isinstance(expected, dict) and _are_rows(expected.get("results")):
        published = [one for one in expected["results"] if one.get("measured") is not None]
        return f"Published and measured values:\n\n{_table(PUBLISHED, published)}"
    rows = [one for one in expected if "design" in one and "error" not in one] if _are_rows(expected) else []
    if isinstance(expected, dict):
        return f"Numbers, by their names in `expected.json`:\n\n{_table(NUMBER, [*_numbers(expected)][:MOST_NUMBERS])}"
    if not rows:
        return "No design has a result; `expected.json` has the reasons."
    means = design_means(_with_parameters(rows))
    columns = ["design", "results", *(name for name in FIGURES if any(name in one for one in means))]
    table = _table(columns, means)
    failed = len(expected) - len(rows)
    told = f"\n\n{failed} results are failures; `expected.json` has the reasons." if failed else ""
    return f"Means of each design over its results:\n\n{table}{told}"


def _numbers(values: Mapping[str, Any], place: str = "") -> Iterator[dict[str, Any]]:
    """The numbers of a result and of its parts, those of the whole first."""
    for name, value in values.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield {"name": f"{place}{name}", "value": value}
    for name, value in values.items():
        if isinstance(value, dict) and name not in CHOSEN:
            yield from _numbers(value, f"{place}{name}.")


def _table(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    lines = [columns, ["---"] * len(columns), *([_cell(one.get(name, "")) for name in columns] for one in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _with_parameters(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows with the parameters that differ between rows of one design in its name."""
    values: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        for name, value in row.get("parameters", {}).items():
            values.setdefault((row["design"], name), set()).add(str(value))
    labelled = []
    for row in rows:
        varying = (f"{n}={v}" for n, v in row.get("parameters", {}).items() if len(values[row["design"], n]) > 1)
        told = ", ".join(varying)
        labelled.append({**row, "design": f"{row['design']}({told})" if told else row["design"]})
    return labelled


def _are_rows(expected: Any) -> bool:
    return isinstance(expected, list) and all(isinstance(one, dict) for one in expected)


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _measured(measured: Mapping[str, Any] | None) -> str:
    if measured is None:
        return "Not measured when this archive was written."
    return (
        f"{measured['seconds']:,} s with an empty cache, compilation included, on {measured['processor']} with"
        f" {measured['processors']} processors and {measured['memory_gib']} GiB of memory, under {measured['system']}."
    )


def _listed(inputs: Sequence[str]) -> str:
    return "\n".join(f"- `{name}`" for name in inputs) or "The command needs no file: its inputs are part of Warpreg."
