"""Kernel arguments, variables and extents in the syntax of the command line (`warpreg.workloads.value_text`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from warpreg.simt import Structure
from warpreg.workloads.value_text import ValueReader, ValueTextError


@dataclass(frozen=True)
class Argument:
    """A kernel argument, or the value of a variable: ``text`` is as written."""

    text: str
    value: Any

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays that a launch may change, by their place: empty, or ``.2`` in a structure."""
        if isinstance(self.value, Structure):
            return {place: one for place, one in self.value.values() if isinstance(one, np.ndarray)}
        return {"": self.value} if isinstance(self.value, np.ndarray) else {}


@dataclass(frozen=True)
class SymbolValue(Argument):
    """The value of a variable; an array in it is its contents, or what it points to."""

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """As of an argument; what a pointer points to has no place."""
        arrays = super().arrays
        return {"": arrays[".0"]} if self.text.startswith("buffer:") else arrays


def parse_argument(text: str, generator: np.random.Generator) -> Argument:
    """The argument that ``text`` describes; ``random`` fills draw from ``generator``.  Raises click.BadParameter."""
    try:
        return Argument(text, ValueReader(generator).argument(text))
    except ValueTextError as error:
        raise click.BadParameter(str(error)) from error


def parse_symbols(texts: tuple[str, ...], generator: np.random.Generator) -> dict[str, SymbolValue]:
    """The variables of ``--symbol NAME=SPEC`` by name.  Raises click.BadParameter, also for a name given twice."""
    symbols: dict[str, SymbolValue] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not name or not value:
            raise click.BadParameter(f"--symbol {text}: expected NAME=SPEC, such as coefficients=f32:1,2,3")
        if name in symbols:
            raise click.BadParameter(f"--symbol {text}: expected each variable once, found '{name}' twice")
        try:
            symbols[name] = SymbolValue(value, ValueReader(generator).contents(value))
        except ValueTextError as error:
            raise click.BadParameter(f"--symbol {name}: {error}") from error
    return symbols


def parse_extent(text: str) -> tuple[int, ...]:
    """``"4"``, ``"4,2"`` or ``"4x2x1"`` as one to three positive integers.  Raises click.BadParameter."""
    try:
        extent = tuple(int(part) for part in text.replace("x", ",").split(","))
    except ValueError:
        extent = ()
    if not 1 <= len(extent) <= 3 or min(extent) < 1:
        raise click.BadParameter(f"'{text}': expected one to three positive numbers such as 128 or 16x16")
    return extent
