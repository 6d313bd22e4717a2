"""A line of progress on the error stream, redrawn in place."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
from rich.text import Text

BAR = 20
"""Characters of the bar."""


class _Bar(ProgressColumn):
    """A bar, once it is known how much there is to do."""

    def __init__(self) -> None:
        super().__init__()
        self._bar = BarColumn(BAR)

    def render(self, task: Task) -> RenderableType:
        return Text("") if task.total is None else self._bar.render(task)


class _Words(ProgressColumn):
    """Words that change while nothing is reported, such as the time that is left."""

    def __init__(self, words: Callable[[], str]) -> None:
        super().__init__()
        self._words = words

    def render(self, task: Task) -> Text:
        return Text(self._words())


def spinner(words: Callable[[], str] = str) -> Progress:
    """A line for one task, with a bar and ``words`` if it is known how much there is to do; not started."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        _Bar(),
        _Words(words),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
