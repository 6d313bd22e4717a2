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
STARTS = {"": "my_design", "levels": "my_design", "policy": "my_policy"}
"""By the slot to start in, the template; for other slots, a design of the package is the start."""
ENDS = (".py", "_test.py")
LIKENESS_TEST = "likeness_test.py"
NAME = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")
LONGEST = 40
MODELS_INSTEAD = {
    "virtualization": "shares functions with designs that declare widths: start from packing",
    "virtualization-pool": "shares functions with designs that declare widths: start from packing",
    "las": "works beside larf only: start from policy",
}
"""Designs that are no start, with the reason and a better one."""


@click.command()
@click.argument("name")
@click.option(
    "--like",
    metavar="DESIGN",
    help="Start from this design of the package, or from a small 'policy' or 'levels' design.",
)
@output_option("folder", "Folder to write to.", default=Path(), show_default="the current one")
def command(name: str, like: str | None, folder: Path) -> None:
    """Write the file of a small design that runs as it is, and a test beside it. Files that exist are kept.

    Without --like, it is a small register cache. With --like policy, it is a scheduling policy. With the name of a
    design of the package, it is the file of that design under the new name, and the test says that both still count the
    same: change one, then the other.

    \b
    warpreg new-design my-cache
    pytest my_cache_test.py
    warpreg compare hotspot --design my_cache.py
    warpreg new-design my-window --like bow
    warpreg new-design my-order --like policy
    """
    stem = _stem(name)
    written = write(stem, folder, _origin(like))
    design, test = (str(path) for path in written)
    choice = f"--designs {like}"
    if like in STARTS or not like:
        setting = "limit=1,4,64 --cycles" if like == "policy" else "entries=2,4,8"
        choice = f"--set {_design_name(stem)}.{setting}"
    click.echo(f"wrote {design} and {test}; next:")
    click.echo(f"  pytest {test}")
    click.echo(f"  warpreg compare hotspot --design {design} {choice}")
    click.echo(f"  warpreg check {design}")


def write(stem: str, folder: Path, like: str = "") -> list[Path]:
    """Write design and test as ``stem`` says, both or none; ``like``: a slot or a design of the package to start from.

    Raises WarpregError if one exists, OSError.
    """
    files = [stem + end for end in ENDS]
    texts = _texts_like(like, stem) if like not in STARTS else [_text(STARTS[like], end, stem) for end in ENDS]
    written = {folder / name: text for name, text in zip(files, texts, strict=True)}
    for path in written:
        if path.exists():
            raise WarpregError(f"{path}: the file exists and is kept; choose another name or folder")
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in written.items():
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    return list(written)


def _text(template: str, end: str, stem: str) -> str:
    """A file of the templates with the name of the design."""
    text = (resources.files("warpreg.cli.templates") / f"{template}{end}").read_text(encoding="utf-8")
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

    if like and like not in STARTS and like not in loader.packaged():
        starts = ", ".join([*filter(None, STARTS), *sorted(loader.packaged())])
        raise click.BadParameter(f"'{like}' is no design of the package and no start: {starts}")
    if like in MODELS_INSTEAD:
        raise click.BadParameter(f"'{like}' {MODELS_INSTEAD[like]}")
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
