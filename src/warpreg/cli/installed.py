"""What other packages add to the command line (entry points), and what is said where one is not installed."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

import click

from warpreg.ir.errors import WarpregError

COMMANDS = "warpreg.commands"
"""Entry points of commands: a `click.Command` under its name."""
REPRODUCTIONS = "warpreg.reproductions"
"""Entry points of reproductions in a report: a function of paper and size."""
BROUGHT = ("reproduce", "bench")
"""Commands that other packages bring along; `warpreg.cli` has what remains of one without its package."""
PAPERS = "the papers are not installed: pip install 'warpreg[papers]'"


class NotInstalledError(WarpregError):
    """A part of the command line whose package is not installed."""


def installed(group: str, name: str) -> Any | None:
    """The object of an entry point; None without one."""
    points = entry_points(group=group, name=name)
    return next(iter(points)).load() if points else None


def absent(name: str, message: str) -> click.Command:
    """A command that fails with a message, whatever its arguments are."""

    def fail(arguments: tuple[str, ...]) -> None:
        raise NotInstalledError(message)

    anything = {"ignore_unknown_options": True, "help_option_names": []}
    rest = click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED)
    return click.Command(name, callback=fail, params=[rest], context_settings=anything)
