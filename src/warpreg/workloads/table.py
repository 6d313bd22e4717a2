"""The table of workloads: measurements of each at each size, stored in ``table.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("table.json")

Table = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Workload -> size -> column -> value."""


@cache
def measured() -> Table:
    """The whole table; empty before the first measurement."""
    rows: Table = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}
    return rows


def write(table: Table) -> None:
    """Replace the file; rows in alphabetical order, so that the same measurements give the same bytes."""
    FILE.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    measured.cache_clear()
