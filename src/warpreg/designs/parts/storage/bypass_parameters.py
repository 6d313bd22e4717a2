"""Parameters that the designs with bypassing collectors share."""

from __future__ import annotations

from typing import Any, Protocol

from warpreg.designs.interface import parameter


def window_parameter() -> Any:
    """The parameter ``window``."""
    return parameter(
        3,
        unit="instructions",
        low=1,
        high=7,
        off=1,
        source="bow §3.3, §3.5.1: 2 to 7 studied, 3 chosen; 1 is the MRF alone",
    )


def entries_parameter() -> Any:
    """The parameter ``entries``."""
    return parameter(
        0,
        unit="registers per warp",
        low=0,
        high=64,
        source="bow §3.4.1, §3.4.3: 4 for each instruction of the window (0), or half of them (6)",
    )


def extended_parameter() -> Any:
    """The parameter ``extended``."""
    return parameter(True, source="bow §3.4.1: a read keeps a register, in the extended instruction window")


def eviction_parameter() -> Any:
    """The parameter ``eviction``."""
    return parameter(
        "before",
        choices=("before", "after"),
        source="bow Fig 3.6, Table 3.1: the oldest instruction leaves before the lookup; §3.4.1 says after it",
    )


def reading_parameter() -> Any:
    """The parameter ``reading``."""
    return parameter(
        0,
        unit="instructions of a warp",
        low=0,
        high=7,
        source="bow §3.4.1: independent instructions of a collector do not wait for each other; all of the window (0)",
    )


def ports_parameter() -> Any:
    """The parameter ``ports``."""
    return parameter(
        1,
        unit="operands from the register file in a cycle",
        low=0,
        high=7,
        source="bow §3.2, §3.4.1: a single port; 0: any number",
    )


class CollectorParameters(Protocol):
    """The parameters of a collector."""

    @property
    def window(self) -> int: ...
    @property
    def entries(self) -> int: ...
    @property
    def extended(self) -> bool: ...
    @property
    def eviction(self) -> str: ...
    @property
    def reading(self) -> int: ...
    @property
    def ports(self) -> int: ...
