"""Sphinx extension: write the reference of every command and option from the commands themselves.

The text is ``generated/commands.md``, which ``reference/cli.md`` includes.  It is written before each build and is not
checked in.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warpreg.cli.app import COMMANDS, command

if TYPE_CHECKING:
    from sphinx.application import Sphinx

VERBATIM = "\b"
"""Marks a paragraph of a help text that is printed as it stands."""


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the text when the builder starts."""
    app.connect("builder-inited", write_commands)
    return {"parallel_read_safe": True}


def write_commands(app: Sphinx) -> None:
    """All commands in the order of ``warpreg --help``."""
    path = Path(app.srcdir) / "generated" / "commands.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(line for name in COMMANDS for line in section(name)) + "\n", encoding="utf-8")


def section(name: str) -> Iterator[str]:
    """The section of one command as lines of Markdown: help text, usage, options."""
    group = click.Context(command, info_name="warpreg")
    found = command.get_command(group, name)
    assert found is not None
    context = click.Context(found, info_name=name, parent=group)
    yield f"## warpreg {name}\n"
    yield from _help(found)
    yield "```text"
    yield f"warpreg {name} {' '.join(found.collect_usage_pieces(context))}"
    yield "```\n"
    yield from ("| option | effect |", "|---|---|")
    for option in found.get_params(context):
        if isinstance(option, click.Option) and (record := option.get_help_record(context)):
            yield f"| `{_cell(record[0])}` | {_cell(_in_round_brackets(record[1]))} |"
    yield ""


def _help(found: click.Command) -> Iterator[str]:
    """The paragraphs of the help text; verbatim ones as code."""
    for paragraph in inspect.cleandoc(found.help or "").split("\n\n"):
        lines = paragraph.splitlines()
        yield "\n".join(["```text", *lines[1:], "```\n"]) if lines[0] == VERBATIM else f"{paragraph}\n"


def _in_round_brackets(text: str) -> str:
    """The default and the range of an option, which click puts in square brackets at the end."""
    return re.sub(r"\s*\[([^\]]*)\]$", r" (\1)", text)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
