"""Progress of a command: a line on the error stream if that is a terminal, plain lines for the others that ask for it,
and the log of the command, which ``warpreg watch`` shows.

Every command that may take long runs inside `steps`.  Parts of a step, such as the warp-instructions of a launch, come
from `warpreg.ir.work_observer`, the kernel that is compiled from `warpreg.ir.compile_observer`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.markup import escape

from warpreg.cache import jobs
from warpreg.cli.compile_progress import CompileProgress
from warpreg.ir.compile_observer import observed
from warpreg.ir.work_observer import Work, observed_work
from warpreg.report.pace import Pace

if TYPE_CHECKING:
    from rich.progress import Progress

ROW = ("workload", "design", "machine", "elided", "energy_normalized", "cycles", "speed")
"""Values of a result that are logged."""
PATIENCE_S = 1.0
"""Delay before progress is shown."""
PLAIN_S = 60.0
"""Seconds between plain lines."""


class Steps:
    """Progress through steps of which there are ``total``, counted in ``unit``."""

    def __init__(self, total: int | None = None, unit: str = "") -> None:
        self.unit = unit
        self.pace, self._part = Pace(), Pace()
        self.pace.begin(total or 0)
        self._doing = self._place = self._work_unit = ""
        self._progress: Progress | None = None
        self._log = jobs.current()
        self._log_pace()

    def begin(self, description: str) -> None:
        """Describe the current step."""
        self._doing, self._place = description, ""
        self._part.begin(0)
        self._log_pace()
        self._describe(description)

    def reached(self, work: Work) -> None:
        """Report what is done of the current step."""
        if (work.total, work.unit) != (self._part.total, self._work_unit) or work.done < self._part.done:
            self._part.begin(work.total, work.done)
        self._part.done, self._place, self._work_unit = work.done, work.place, work.unit
        self._log_pace()
        self._describe(self.description)

    def show(self, text: str) -> None:
        """Show a part of the current step in its place; the kernel that is compiled."""
        self._describe(text)

    def hide(self) -> None:
        """Show the current step again."""
        self._describe(self.description)

    def done(self, number: int = 1) -> None:
        """Count steps as finished."""
        self.pace.advance(number)
        self._log_pace()
        self._describe(self.description)

    def tell(self, text: str) -> None:
        """Count a step as finished and tell of it: on the terminal in its line, else as a line of its own."""
        self.done()
        if self._progress is not None:
            self.begin(text)
        elif text:
            click.echo(text, err=True)

    def found(self, number: int = 1) -> None:
        """Count steps that were finished before this command, which do not count in the rate."""
        self.pace.find(number)
        self._log_pace()
        self._describe(self.description)

    def row(self, values: Mapping[str, Any]) -> None:
        """Note the figures of a result."""
        kept = {name: values[name] for name in ROW if values.get(name) is not None}
        self._log.add("rows", [kept])

    def failed(self, what: str, why: str) -> None:
        """Note what has failed, if there is a reason why."""
        if why:
            self._log.add("failures", [{"what": what, "why": why}])

    def _log_pace(self) -> None:
        shown, unit = (self.pace, self.unit) if self._counts_steps else (self._part, self._work_unit)
        self._log.update(step=self.description, pace=shown.as_dict(), unit=unit)

    @property
    def description(self) -> str:
        """The current step and the place in it; its percentage, where `words` has those of all steps."""
        inside = f" {self._part.done / self._part.total:.0%}" if self._counts_steps and self._part.total else ""
        return ", ".join(filter(None, (f"{self._doing}{inside}", self._place)))

    @property
    def words(self) -> str:
        """How much is done, how fast, and when it ends; of the current step, if there is only one."""
        return self.pace.words(self.unit) if self._counts_steps else self._part.words(self._work_unit)

    @property
    def _counts_steps(self) -> bool:
        return self.pace.total > 1

    def _describe(self, description: str) -> None:
        if self._progress is not None:
            shown = self.pace if self._counts_steps else self._part
            self._progress.update(
                self._progress.task_ids[0],
                description=escape(description),
                completed=shown.done,
                total=shown.total or None,
            )

    @contextmanager
    def drawn(self) -> Iterator[None]:
        """Draw a line on the terminal after a second."""
        from warpreg.cli.spinner import spinner

        self._progress = spinner(lambda: self.words)
        self._progress.add_task("", total=None)
        self._describe(self.description)
        timer = threading.Timer(PATIENCE_S, self._progress.start)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()
            self._progress.stop()

    @contextmanager
    def printed(self, every_s: float = PLAIN_S) -> Iterator[None]:
        """Print a plain line on the error stream each minute."""
        ended = threading.Event()

        def print_lines() -> None:
            while not ended.wait(every_s):
                click.echo(f"warpreg: {', '.join(filter(None, (self.description, self.words)))}", err=True)

        thread = threading.Thread(target=print_lines, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


@contextmanager
def steps(total: int | None = None, unit: str = "") -> Iterator[Steps]:
    """Progress over ``total`` steps, or over what is reported of the work inside, if their number is not known."""
    shown = Steps(total, unit)
    with ExitStack() as stack:
        if _can_redraw():
            stack.enter_context(shown.drawn())
            stack.enter_context(observed(CompileProgress(shown)))
        elif _wants_lines():
            stack.enter_context(shown.printed())
        stack.enter_context(observed_work(shown.reached))
        yield shown


def _can_redraw() -> bool:
    """Whether the error stream is a terminal with lines that can be redrawn; FORCE_COLOR does not make a file one."""
    return sys.stderr.isatty() and not Console(stderr=True).is_dumb_terminal


def _wants_lines() -> bool:
    """Whether the user wants progress where no line can be redrawn: ``warpreg --progress``."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.find_root().params.get("progress"))
