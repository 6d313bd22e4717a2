"""``warpreg new-design``: write a design that runs as it is, and its test."""

from __future__ import annotations

import keyword
import re
from importlib import resources
from pathlib import Path

import click

from warpreg.cli.options import output_option
from warpreg.ir.errors import WarpregError

TEMPLATE = "my_design"
FILES = (f"{TEMPLATE}.py", f"{TEMPLATE}_test.py")
NAME = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")
LONGEST = 40


@click.command()
@click.argument("name")
@output_option("folder", "Folder to write to.", default=Path(), show_default="the current one")
def command(name: str, folder: Path) -> None:
    """Write the file of a small design that runs as it is, and a test beside it. Files that exist are kept.

    \b
    warpreg new-design my-cache
    pytest my_cache_test.py
    warpreg compare hotspot --design my_cache.py
    """
    stem = _stem(name)
    written = write(stem, folder)
    design, test = (str(path) for path in written)
    click.echo(f"wrote {design} and {test}; next:")
    click.echo(f"  pytest {test}")
    click.echo(f"  warpreg compare hotspot --design {design} --set {_design_name(stem)}.entries=2,4,8")
    click.echo(f"  warpreg check {design}")


def write(stem: str, folder: Path) -> list[Path]:
    """Write design and test as ``stem`` says, both or none.  Raises WarpregError if one exists, OSError."""
    texts = {folder / name.replace(TEMPLATE, stem): _text(name, stem) for name in FILES}
    for path in texts:
        if path.exists():
            raise WarpregError(f"{path}: the file exists and is kept; choose another name or folder")
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    return list(texts)


def _text(name: str, stem: str) -> str:
    """A file of the templates with the name of the design."""
    text = (resources.files("warpreg.cli.templates") / name).read_text(encoding="utf-8")
    return text.replace(TEMPLATE, stem).replace(_design_name(TEMPLATE), _design_name(stem))


def _design_name(stem: str) -> str:
    return stem.replace("_", "-")


def _stem(name: str) -> str:
    """The stem of the files of a design.  Raises click.BadParameter for a name that no design can have."""
    from warpreg import designs

    stem = name.replace("-", "_")
    if not NAME.fullmatch(name) or len(name) > LONGEST:
        raise click.BadParameter(
            f"'{name}': expected lower-case words of letters and digits joined by '-', such as my-cache, of at most "
            f"{LONGEST} characters"
        )
    if keyword.iskeyword(stem) or _design_name(stem) in designs.names():
        what = "a word of Python" if keyword.iskeyword(stem) else "a design of the package or of an installed one"
        raise click.BadParameter(f"'{name}' is {what}; choose another name")
    return stem
