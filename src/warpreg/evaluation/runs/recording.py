"""What a run must record for the designs that it is evaluated with."""

from __future__ import annotations

from collections.abc import Iterable

from warpreg.designs.interface.declaration import Declaration
from warpreg.simt import Record


def needed_record(declared: Iterable[Declaration], addresses: bool) -> Record:
    """The path, and what of the values these designs read; cycles need ``addresses`` too."""
    every = list(declared)
    widths, patterns = (any(getattr(one, word) for one in every) for word in ("widths", "patterns"))
    return Record(path=True, addresses=addresses, widths=widths, patterns=patterns)
