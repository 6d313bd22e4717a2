"""Write the outputs that pages show anew: ``python -m warpreg_workbench.suite.shown_output [PAGE]...``.

A block of a page that begins with ``$ warpreg`` shows a command and the first paragraphs of its output.  The commands
run in a folder with the files that the page has its reader write (`page_blocks`) and the examples.  Times, speeds and
the digest of the code may differ; a block that differs in nothing else stays as it is.  With ``--check`` nothing is
written, and the exit status is 1 if a block differs.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import click

from warpreg_workbench.suite.page_blocks import blocks_of

PAGES = ("README.md", "docs/tutorial/first-design.md")
COMMAND = re.compile(r"\$ (?P<command>(?:[^\n]*\\\n)*[^\n]*)\n(?P<output>.*)", re.DOTALL)
CHANGES = re.compile(r"in [\d.]+ s \([\d,]+ million/s|\d+\.\d+\.\d+\+\w{12}")
"""Parts of an output that depend on the host or on the code."""
EXAMPLES = Path("examples")

Run = Callable[[str], str]


def in_shell(folder: Path, command: str) -> str:
    """The output of a command line; ``warpreg`` is that of this interpreter.  Raises ClickException if it fails."""
    places = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = os.environ | {"PATH": places}
    done = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise click.ClickException(f"{command}: {done.stderr.strip()}")
    return done.stdout


def refreshed(text: str, run: Run, folder: Path) -> str:
    """The page with the outputs of its commands now; files that it has its reader write are written to the folder."""
    for block in blocks_of(text):
        block.write(folder)
        if block.shows_output and all(is_run for _, is_run in block.commands()):
            text = text.replace(block.text, _refreshed(block.text, run), 1)
    return text


def _refreshed(block: str, run: Run) -> str:
    command, shown = parts_of(block)
    if not shown.strip():
        return block
    output = run(command)
    return block if agrees(shown, output) else f"$ {command}\n{_beginning(output, shown)}\n"


def parts_of(block: str) -> tuple[str, str]:
    """The command of a block that shows one, and the output that it shows."""
    found = COMMAND.fullmatch(block)
    assert found is not None
    return found["command"], found["output"]


def agrees(shown: str, output: str) -> bool:
    """Whether an output begins with the paragraphs that are shown, but for times and versions."""
    return CHANGES.sub("", _beginning(output, shown)) == CHANGES.sub("", _stripped(shown))


def _beginning(output: str, shown: str) -> str:
    """As many paragraphs of an output as are shown."""
    return "\n\n".join(_stripped(output).split("\n\n")[: shown.strip().count("\n\n") + 1])


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
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            (folder / EXAMPLES).symlink_to(EXAMPLES.resolve())
            now = refreshed(text, functools.partial(in_shell, folder), folder)
        if not check:
            path.write_text(now, encoding="utf-8")
        elif now != text:
            click.echo(f"{name}: shows what its commands no longer print")
            stale = True
    sys.exit(1 if stale else 0)


if __name__ == "__main__":
    main()
