"""Shows what is being compiled, on the error stream if that is a terminal, once compiling has taken two seconds.

Compilations of one command count together.  Where a command shows its steps already (`output.steps`), the kernel and
the compiler pass stand in the place of the step.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Protocol

from warpreg.ir.compile_observer import observed

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE_S = 2.0
"""Seconds of compiling before it is shown."""


class Display(Protocol):
    """A place on the terminal for one text."""

    def show(self, text: str) -> None:
        """Show a text, in place of an earlier one."""
        ...

    def hide(self) -> None:
        """Remove the text."""
        ...


class Timer(Protocol):
    """`threading.Timer`."""

    daemon: bool

    def start(self) -> None: ...

    def cancel(self) -> None: ...

    def join(self) -> None: ...


class CompileProgress:
    """A `CompileObserver` that shows the kernel and the pass; ``timer`` and ``clock`` as in `threading` and `time`."""

    def __init__(
        self,
        display: Display,
        timer: Callable[[float, Callable[[], None]], Timer] = threading.Timer,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._display, self._new_timer, self._clock = display, timer, clock
        self._left_s = PATIENCE_S
        self._kernel = self._text = ""
        self._began = 0.0
        self._timer: Timer | None = None
        self._is_shown = False
        self._lock = threading.Lock()

    def begin(self, kernel: str) -> None:
        """Start to count, or show the kernel at once if other compilations have taken long."""
        self._kernel, self._text = kernel, f"compiling {kernel}"
        self._began = self._clock()
        if self._left_s <= 0:
            self._show()
            return
        self._timer = self._new_timer(self._left_s, self._show)
        self._timer.daemon = True
        self._timer.start()

    def step(self, name: str) -> None:
        """Add the pass, ``FoldConstants`` as ``fold-constants``."""
        from warpreg.codegen.watch import kebab  # imported by now

        with self._lock:
            self._text = f"compiling {self._kernel}: {kebab(name)}"
            if self._is_shown:
                self._display.show(self._text)

    def end(self) -> None:
        """Stop to count, and hide what is shown."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
            self._timer = None
        self._left_s -= self._clock() - self._began
        if self._is_shown:
            self._is_shown = False
            self._display.hide()

    def _show(self) -> None:
        with self._lock:
            self._is_shown = True
            self._display.show(self._text)


class Line:
    """A line of the error stream with a spinner and the time."""

    def __init__(self) -> None:
        self._progress: Progress | None = None

    def show(self, text: str) -> None:
        from warpreg.cli.spinner import spinner

        if self._progress is None:
            self._progress = spinner()
            self._progress.add_task(text, total=None)
            self._progress.start()
        else:
            self._progress.update(self._progress.task_ids[0], description=text)

    def hide(self) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None


def shown() -> AbstractContextManager[None]:
    """Show what is compiled inside, if the error stream is a terminal."""
    return observed(CompileProgress(Line())) if sys.stderr.isatty() else nullcontext()
