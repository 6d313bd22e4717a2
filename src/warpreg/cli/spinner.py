"""A line of progress on the error stream."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn


def spinner(total: int | None = None) -> Progress:
    """A line for one task, with a bar if the number of its steps is known; not started."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        *([BarColumn(), TextColumn("{task.completed:.0f}/{task.total:.0f}")] if total else []),
        TimeElapsedColumn(),
        *([TextColumn("left:"), TimeRemainingColumn()] if total else []),
        console=Console(stderr=True),
        transient=True,
    )
