"""The figure of a comparison: energy by workload and design, and the speed of a timed one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from warpreg.evaluation.runs.row import Row
from warpreg.report.charts import picture
from warpreg.report.figure import WORKLOAD, Axis, Figure
from warpreg.report.figures import save_as
from warpreg.report.style import SERIES_COLOURS

DESIGN = Axis("design", "")
VALUE = "of the plain register file"
Measure = Callable[[Row], float]


def draw(rows: Sequence[Row], path: Path) -> Path:
    """Draw rows and write the picture; returns the path.  Raises PictureError for an unknown format.

    Designs that are too many for colours of their own have a place each, with a colour for each workload, or if these
    are too many as well, the mean over workloads.
    """
    panels: dict[str, Measure] = {"energy": lambda row: row.energy}
    if all(row.timing is not None for row in rows):
        panels["speed"] = _speed
    value = VALUE if rows[0].whole_pj is None else f"of {rows[0].normalized_to}"
    values = [
        {"workload": row.workload, "design": row.label, "panel": panel, value: measure(row)}
        for panel, measure in panels.items()
        for row in rows
    ]
    used, frame = rows[0].provenance, pd.DataFrame(values)
    along, series = WORKLOAD, "design"
    if frame["design"].nunique() > len(SERIES_COLOURS):
        along, series = DESIGN, "workload" if frame["workload"].nunique() <= len(SERIES_COLOURS) else ""
    figure = Figure(
        "comparison",
        used.machine,
        f"energies of {used.technology}",
        lambda study: pd.DataFrame(),
        "bars",
        along,
        Axis(value, value),
        series=series,
        panels="panel" if len(panels) > 1 else "",
        mean="geometric",
    )
    return save_as(picture(figure, frame, {}), path)


def _speed(row: Row) -> float:
    assert row.timing is not None
    return row.timing.speed or 1.0
