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
LIKENESS_TEST = "likeness_test.py"
NAME = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")
LONGEST = 40
MODELS_INSTEAD = {"virtualization": "packing", "virtualization-pool": "packing"}
"""Designs that call functions for widths behind a switch, which only the package may, and the design to start from."""


@click.command()
@click.argument("name")
@click.option("--like", metavar="DESIGN", help="Start from the file of this design of the package.")
@output_option("folder", "Folder to write to.", default=Path(), show_default="the current one")
def command(name: str, like: str | None, folder: Path) -> None:
    """Write the file of a small design that runs as it is, and a test beside it. Files that exist are kept.

    With --like, the file is that of a design of the package under the new name, and the test says that both still count
    the same: change one, then the other.

    \b
    warpreg new-design my-cache
    pytest my_cache_test.py
    warpreg compare hotspot --design my_cache.py
    warpreg new-design my-window --like bow
    """
    stem = _stem(name)
    written = write(stem, folder, _origin(like))
    design, test = (str(path) for path in written)
    choice = f"--designs {like}" if like else f"--set {_design_name(stem)}.entries=2,4,8"
    click.echo(f"wrote {design} and {test}; next:")
    click.echo(f"  pytest {test}")
    click.echo(f"  warpreg compare hotspot --design {design} {choice}")
    click.echo(f"  warpreg check {design}")


def write(stem: str, folder: Path, like: str = "") -> list[Path]:
    """Write design and test as ``stem`` says, both or none; ``like``: a design of the package to start from.  Raises
    WarpregError if one exists, OSError.
    """
    files = (f"{stem}.py", f"{stem}_test.py")
    texts = _texts_like(like, stem) if like else [_text(name, stem) for name in FILES]
    written = {folder / name: text for name, text in zip(files, texts, strict=True)}
    for path in written:
        if path.exists():
            raise WarpregError(f"{path}: the file exists and is kept; choose another name or folder")
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in written.items():
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    return list(written)


def _text(name: str, stem: str) -> str:
    """A file of the templates with the name of the design."""
    text = (resources.files("warpreg.cli.templates") / name).read_text(encoding="utf-8")
    return text.replace(TEMPLATE, stem).replace(_design_name(TEMPLATE), _design_name(stem))


def _texts_like(like: str, stem: str) -> list[str]:
    """The file of a design of the package with a title of its own, and the test of their likeness."""
    from warpreg.designs.loading import loader

    title = f'"""{_design_name(stem)}: begins as a copy of {like}; say here what differs, and why.\n\n'
    source = loader.packaged()[like].read_text(encoding="utf-8")
    test = (resources.files("warpreg.cli.templates") / LIKENESS_TEST).read_text(encoding="utf-8")
    test = test.replace("its_model", like).replace(TEMPLATE, stem).replace(_design_name(TEMPLATE), _design_name(stem))
    return [source.replace('"""', title, 1), test]


def _origin(like: str | None) -> str:
    """The design to start from, empty without one.  Raises click.BadParameter if the package has no such file."""
    from warpreg.designs.loading import loader

    if like and like not in loader.packaged():
        raise click.BadParameter(f"'{like}' is no design of the package: {', '.join(sorted(loader.packaged()))}")
    if like in MODELS_INSTEAD:
        raise click.BadParameter(
            f"'{like}' shares functions with designs that declare widths: start from {MODELS_INSTEAD[like]}"
        )
    return like or ""


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
