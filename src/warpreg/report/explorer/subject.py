"""What an explorer shows, and what its page asks for."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from warpreg.evaluation.runs.run import ADDRESS_BITS, RANGES, CompileChoice
from warpreg.ir.errors import UnknownNameError, WarpregError
from warpreg.machine_code.assembler import ARCHITECTURES

OWN = "warpreg"
"""The code of Warpreg's compiler; the other codes are architectures of ``ptxas``."""
CODES = (OWN, *ARCHITECTURES)
CUDA, PTX = "cuda", "ptx"
MAX_DESIGNS = 8
"""Designs that are shown at once."""


class EditError(WarpregError):
    """A request of a page that is not one."""


@dataclass(frozen=True)
class Subject:
    """A source: its file name, language (`CUDA` or `PTX`) and text as it was opened.

    ``choice`` has the options of the command line.  ``codes`` can be made on this machine.  ``kernels`` are the names
    to show, all if empty; ``instances`` are kernel templates to instantiate; ``headers`` are the user's that the source
    includes.  ``designs`` are all that the page may choose, ``chosen`` those that it begins with, with their values.
    """

    name: str
    language: str
    text: str
    choice: CompileChoice
    codes: tuple[str, ...] = (OWN,)
    kernels: tuple[str, ...] = ()
    instances: tuple[str, ...] = ()
    headers: Mapping[str, bytes] = field(default_factory=dict)
    designs: tuple[str, ...] = ()
    chosen: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Edit:
    """A text to compile, with the options of Warpreg's compiler and the codes to make.

    The ``designs``, with values of their parameters, are asked about one of the codes, the ``shown`` one.
    """

    text: str
    choice: CompileChoice
    codes: tuple[str, ...]
    shown: str
    designs: Mapping[str, Mapping[str, str]]


def read_edit(body: bytes, subject: Subject) -> tuple[str, Edit]:
    """The name of the page that asks, and what it asks for.

    The page chooses from what the subject offers, and nothing else reaches a compiler.  Raises EditError,
    UnknownNameError.
    """
    try:
        given = json.loads(body)
    except ValueError as error:
        raise EditError(f"expected JSON: {error}") from error
    page, text = _expect(given, "page", str), _expect(given, "text", str)
    choice = dataclasses.replace(
        subject.choice,
        max_registers=_registers(given),
        schedule=_expect(given, "schedule", bool),
        address_bits=_expect(given, "address_bits", int),
    )
    if choice.address_bits not in ADDRESS_BITS:
        raise EditError(f"address_bits: expected 32 or 64, found {choice.address_bits}")
    shown = _expect(given, "shown", str)
    if shown not in subject.codes:
        raise UnknownNameError("code", shown, subject.codes)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return page, Edit(text, choice, subject.codes, shown, _designs(given, subject))


def _registers(given: Any) -> int | None:
    if given.get("max_registers") is None:
        return None
    limit: int = _expect(given, "max_registers", int)
    low, high = RANGES["max_registers"]
    if not low <= limit <= high:
        raise EditError(f"max_registers: expected {low} to {high}, found {limit}")
    return limit


def _designs(given: Any, subject: Subject) -> dict[str, dict[str, str]]:
    designs: dict[str, Any] = _expect(given, "designs", dict)
    if len(designs) > MAX_DESIGNS:
        raise EditError(f"designs: expected at most {MAX_DESIGNS}, found {len(designs)}")
    for name, values in designs.items():
        if name not in subject.designs:
            raise UnknownNameError("design", name, subject.designs)
        if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
            raise EditError(f"designs: expected texts by parameter for {name}")
    return designs


def _expect(given: Any, name: str, kind: type) -> Any:
    value = given.get(name) if isinstance(given, dict) else None
    if type(value) is not kind:
        raise EditError(f"{name}: expected {kind.__name__}, found {value!r:.40}")
    return value
