"""Parameters of a design: fields of a frozen dataclass, each with a unit, a range and a source."""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_type_hints

from warpreg.designs.errors import ParameterError
from warpreg.gpu.machine import Machine
from warpreg.ir.errors import UnknownNameError

Value = int | float | bool | str


@dataclass(frozen=True)
class NoParameters:
    """For a design without parameters."""


@dataclass(frozen=True, slots=True)
class ParameterSpec:
    """One declared parameter."""

    name: str
    type: type
    default: Value
    unit: str
    low: float | None
    """The least value, inclusive."""
    high: float | None
    """The largest value, inclusive."""
    choices: tuple[str, ...]
    """The values of a text parameter."""
    off: Value | None
    """A design whose parameters all have the value that they declare here, if any, is the plain register file; None for
    a parameter without effect on that.
    """
    machine: str
    """What of a machine the parameter equals unless it is set; empty without."""
    source: str
    """A paper and section, or an assumption with its reason."""


def parameter(
    default: Value,
    *,
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    off: Value | None = None,
    machine: str = "",
    source: str,
) -> Any:
    """A field of a design's ``Parameters`` class; ``source`` is a paper and section, or ``assumed:`` and the reason.

    ``off`` is the value that switches the design off; with several such parameters, all of them together do.
    ``machine`` names an attribute of `Machine`, ``register_file.banks``: on a machine, that is the value unless another
    one is set.
    """
    declared = {"unit": unit, "low": low, "high": high, "choices": choices, "off": off, "machine": machine}
    return field(default=default, metadata=declared | {"source": source})


@functools.lru_cache(maxsize=256)
def specs(parameters: type) -> tuple[ParameterSpec, ...]:
    """The declared parameters of a class whose fields are made by ``parameter``."""
    types = get_type_hints(parameters)
    return tuple(_spec(declared, types[declared.name]) for declared in dataclasses.fields(parameters))


def _spec(declared: dataclasses.Field[Any], kind: type) -> ParameterSpec:
    default: Any = declared.default
    return ParameterSpec(name=declared.name, type=kind, default=default, **declared.metadata)


def configure(design: str, parameters: type, values: Mapping[str, Value]) -> Any:
    """An instance of ``parameters`` with ``values`` overriding the defaults; text is parsed as the declared type.

    Raises UnknownNameError for an undeclared name and ParameterError for a value outside its type or range.
    """
    known = {spec.name: spec for spec in specs(parameters)}
    for name in values:
        if name not in known:
            raise UnknownNameError(f"parameter of {design}", name, known)
    return parameters(**{name: _checked(design, known[name], value) for name, value in values.items()})


def of_machine(parameters: type, machine: Machine) -> Mapping[str, Value]:
    """The values of the parameters that describe a machine."""
    return {spec.name: operator.attrgetter(spec.machine)(machine) for spec in specs(parameters) if spec.machine}


def _checked(design: str, spec: ParameterSpec, value: Value) -> Value:
    converted = _converted(spec, value)
    if converted is None or not _in_range(spec, converted):
        raise ParameterError(f"{design}: parameter {spec.name} expects {expectation(spec)}, found {value!r}")
    return converted


def _converted(spec: ParameterSpec, value: Value) -> Value | None:
    if isinstance(value, str) and spec.type is not str:
        return _from_text(spec.type, value)
    if spec.type is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value if type(value) is spec.type else None


def _from_text(kind: type, text: str) -> Value | None:
    if kind is bool:
        return {"true": True, "false": False}.get(text.lower())
    try:
        return int(text) if kind is int else float(text)
    except ValueError:
        return None


def _in_range(spec: ParameterSpec, value: Value) -> bool:
    if isinstance(value, str):
        return not spec.choices or value in spec.choices
    return (spec.low is None or value >= spec.low) and (spec.high is None or value <= spec.high)


def expectation(spec: ParameterSpec) -> str:
    """The values that a parameter can have, in words."""
    if spec.choices:
        return " or ".join(repr(choice) for choice in spec.choices)
    low = "" if spec.low is None else f" from {spec.low:g}"
    high = "" if spec.high is None else f" {'up ' if spec.low is None else ''}to {spec.high:g}"
    unit = f" ({spec.unit})" if spec.unit else ""
    return f"{spec.type.__name__}{low}{high}{unit}"
