"""A built-in workload with dimensions of the caller's: ``matrix-mul:m=128:n=128`` has these in every size."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from warpreg.ir.errors import UnknownNameError, WarpregError
from warpreg.workloads.workload import Workload

SEPARATOR = ":"


class DimensionError(WarpregError):
    """A dimension that is not a whole number of 1 or more."""


def with_dimensions(workload: Workload, given: str) -> Workload:
    """The workload with the dimensions ``NAME=NUMBER:NAME=NUMBER`` in place of its own; its name ends in them.

    Raises UnknownNameError for a dimension that it does not have, and DimensionError.  Inputs that the kernels cannot
    handle are found by the check of their outputs.
    """
    numbers = dict(_parsed(workload, one) for one in given.split(SEPARATOR))
    sizes = {name: {**size, **numbers} for name, size in workload.sizes.items()}
    return dataclasses.replace(workload, name=f"{workload.name}{SEPARATOR}{given}", sizes=sizes)


def _parsed(workload: Workload, text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    known: Mapping[str, int] = next(iter(workload.sizes.values()))
    if name not in known:
        raise UnknownNameError(f"dimension of workload '{workload.name}'", name, known)
    if not number.isdecimal() or int(number) < 1:
        raise DimensionError(
            f"workload '{workload.name}': dimension {name} expects a whole number of 1 or more, found '{number}'"
        )
    return name, int(number)
