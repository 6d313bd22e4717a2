"""Result rows in the store: data (JSON) under a hash of everything that they depend on (`evaluation.sweep.batch`)."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from warpreg.cache import store
from warpreg.evaluation.runs.parts import Part
from warpreg.evaluation.runs.residency import Residency
from warpreg.evaluation.runs.row import Cycles, LevelUse, Provenance, Row


def keep(key: str, row: Row) -> Row:
    """Store a row; returns what `kept` will return."""
    content = json.dumps(dataclasses.asdict(row), default=_plain, allow_nan=False, separators=(",", ":"))
    store.write(store.RESULTS, key, content.encode())
    return of_data(json.loads(content))


def kept(key: str) -> Row | None:
    """The stored row with this key; None if there is none, or a damaged one."""
    content = store.read(store.RESULTS, key)
    try:
        return None if content is None else of_data(json.loads(content))
    except (KeyError, TypeError, ValueError):
        return None


def of_data(data: dict[str, Any]) -> Row:
    """The row of which ``data`` are the fields, in the types of JSON."""
    parts = {
        "levels": {name: LevelUse(**level) for name, level in data["levels"].items()},
        "baseline": LevelUse(**data["baseline"]),
        "provenance": Provenance(**data["provenance"]),
        "residency": tuple(Residency(**one) for one in data["residency"]),
        "timing": None if data["timing"] is None else Cycles(**data["timing"]),
        "parts": tuple(Part(**one) for one in data["parts"]),
        "main": tuple(data["main"]),
        "ends_pj": tuple((own, whole) for own, whole in data["ends_pj"]),
    }
    return Row(**{**data, **parts})


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)
