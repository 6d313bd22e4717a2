"""Storage of the tables of §5.6.4."""

from __future__ import annotations

import pandas as pd

from warpreg import gpu
from warpreg.designs import load
from warpreg.designs.interface import Table
from warpreg_papers import published
from warpreg_papers.larf.designs import LIMITED, PASCAL


def table_kb() -> dict[str, float]:
    """KB of an SM by table."""
    design = load(LIMITED.design)
    hardware = design.hardware(design.configure(**dict(LIMITED.values)), gpu.load(PASCAL))
    return {one.name: one.entries * one.bits / 8 / 1024 for one in hardware if isinstance(one, Table)}


def storage() -> pd.DataFrame:
    """Both tables as built, beside the printed sizes of 1 KB each (§5.6.4)."""
    printed = {
        "address-mapping": published.parameter("larf-table-size"),
        "renaming": published.parameter("larf-renaming-table-size"),
    }
    rows = [
        {"table": name, "size": what, "KB": value}
        for name, built in table_kb().items()
        for what, value in (("entries x bits", built), ("printed", float(printed[name])))
    ]
    return pd.DataFrame(rows, columns=["table", "size", "KB"])
