"""Write the outputs that pages show anew: ``python -m warpreg.experiments.suite.shown_output [PAGE]...``.

A block of a page that begins with ``$ warpreg`` shows a command and the first paragraphs of its output.  The commands
run from the root of the project.  Times, speeds and the digest of the code may differ; a block that differs in nothing
else stays as it is.  With ``--check`` nothing is written, and the exit status is 1 if a block differs.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click

PAGES = ("README.md", "docs/tutorial/first-design.md")
BLOCK = re.compile(r"```\n\$ (?P<command>warpreg (?:[^\n]*\\\n)*[^\n]*)\n(?P<output>.*?)```", re.DOTALL)
CHANGES = re.compile(r"in [\d.]+ s \([\d,]+ million/s|\d+\.\d+\.\d+\+\w{12}")
"""Parts of an output that depend on the host or on the code."""
WRITTEN_BY_THE_READER = ("last_result.py",)
"""Files that a page has its reader write; commands with them are left out."""

Run = Callable[[str], str]


def in_shell(command: str) -> str:
    """The output of a command line; ``warpreg`` is that of this interpreter.  Raises ClickException if it fails."""
    places = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = os.environ | {"PATH": places}
    done = subprocess.run(command, shell=True, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise click.ClickException(f"{command}: {done.stderr.strip()}")
    return done.stdout


def refreshed(text: str, run: Run) -> str:
    """The page with the outputs of its commands now."""
    return BLOCK.sub(lambda block: _refreshed(block, run), text)


def differing(text: str, run: Run) -> Iterator[str]:
    """The commands whose output is not what the page shows."""
    for block in BLOCK.finditer(text):
        if _refreshed(block, run) != block[0]:
            yield block["command"]


def _refreshed(block: re.Match[str], run: Run) -> str:
    command, shown = block["command"], block["output"]
    if not shown.strip() or any(name in command for name in WRITTEN_BY_THE_READER):
        return block[0]
    output = _stripped(run(command))
    now = "\n\n".join(output.split("\n\n")[: shown.strip().count("\n\n") + 1])
    if CHANGES.sub("", now) == CHANGES.sub("", _stripped(shown)):
        return block[0]
    return f"```\n$ {command}\n{now}\n```"


def _stripped(output: str) -> str:
    return "\n".join(line.rstrip() for line in output.splitlines()).strip("\n")


@click.command()
@click.argument("pages", nargs=-1)
@click.option("--check", is_flag=True, help="Only compare, write nothing.")
def main(pages: tuple[str, ...], check: bool) -> None:
    """Write the outputs that pages show anew. Default: all pages with outputs."""
    stale = False
    for name in pages or PAGES:
        path = Path(name)
        text = path.read_text(encoding="utf-8")
        if check:
            for command in differing(text, in_shell):
                click.echo(f"{name}: {command}")
                stale = True
        else:
            path.write_text(refreshed(text, in_shell), encoding="utf-8")
    sys.exit(1 if stale else 0)


if __name__ == "__main__":
    main()
