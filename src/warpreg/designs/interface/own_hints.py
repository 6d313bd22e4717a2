"""Hint columns of a design's own: the checked result of its ``hints`` function, as hooks see it."""

from __future__ import annotations

from typing import Any

import numpy as np

from piecewise_numba.records import record_type
from warpreg.designs.errors import DesignError
from warpreg.designs.interface.program import Program

ELEMENTS = ("bool", *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)), "float32", "float64")
"""Types of an element."""


def own_hints(design: str, hints: Any, program: Program) -> Any:
    """The columns as a record.  Raises DesignError, which names the column, for anything that hooks cannot index by pc,
    source operand, result operand or block.
    """
    names = getattr(hints, "_fields", ())
    if not isinstance(hints, tuple) or not names:
        raise DesignError(f"{design}: hints returned a {type(hints).__name__}, expected a NamedTuple of arrays")
    rows = rows_of(program)
    for name, column in zip(names, hints, strict=True):
        if not isinstance(column, np.ndarray) or column.ndim == 0:
            raise DesignError(f"{design}: hints.{name} is a {type(column).__name__}, expected an array")
        if str(column.dtype) not in ELEMENTS:
            expected = "bool, integers of 8 to 64 bits, float32 or float64"
            raise DesignError(f"{design}: hints.{name} has elements of type {column.dtype}, expected {expected}")
        if len(column) not in rows.values():
            expected = ", ".join(f"{count} ({what})" for what, count in rows.items())
            raise DesignError(f"{design}: hints.{name} has {len(column)} rows, expected one of {expected}")
    return record_type("Hints", tuple(names))(*(np.require(column, requirements=("C", "W")) for column in hints))


def rows_of(program: Program) -> dict[str, int]:
    """The rows that a column may have, by what they stand for."""
    return {
        "pcs": program.unit.size,
        "source operands": program.source.size,
        "result operands": program.result.size,
        "blocks": program.first_pc.size - 1,
    }


def writable(program: Program) -> Program:
    """The program with arrays as hooks are compiled for them: contiguous and writable, numbers as Python's."""
    given = program._replace(hints=0)
    columns: Any = (np.require(c, requirements=("C", "W")) if isinstance(c, np.ndarray) else int(c) for c in given)
    return Program(*columns)._replace(hints=program.hints)
