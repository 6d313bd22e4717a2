"""``warpreg archive``: pack a study with its inputs, versions and results, or unpack it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from warpreg.cli.options import unchecked_option
from warpreg.evaluation.sweep.archive import is_of_this_code, pack, unpack
from warpreg.evaluation.sweep.errors import SweepError
from warpreg.evaluation.sweep.study_file import read_study
from warpreg.evaluation.sweep.sweep import batch_of
from warpreg.report.files import whole

SUFFIX = ".tar.gz"


@contextmanager
def _written(path: Path) -> Iterator[None]:
    """Name what could not be written, which the error of a full disk does not."""
    try:
        yield
    except OSError as error:
        raise SweepError(f"{error.filename or path}: {error.strerror}") from error


@click.command()
@click.argument("source", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="STUDY.toml|ARCHIVE")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Archive to write, or the new folder to unpack to. Default: the name of the study.",
)
@unchecked_option
def command(source: Path, output: Path | None, unchecked: bool) -> None:
    """Pack the finished cells of a study with its inputs and the versions of the software; unpack such an archive.

    The same study gives the same bytes. Unpacking checks every file and puts the results where sweeps find them.

    \b
    warpreg archive study.toml --output study.tar.gz
    warpreg archive study.tar.gz --output study
    """
    if source.name.endswith(SUFFIX):
        folder = output or Path(source.name.removesuffix(SUFFIX))
        with _written(folder):
            manifest = unpack(source, folder)
        click.echo(f"{folder / 'study.toml'}: {manifest['finished']} of {manifest['cells']} cells finished")
        if not is_of_this_code(manifest):
            told = f"warpreg {manifest['warpreg']} with other code measured them; a sweep measures them again"
            click.echo(f"note: {told}", err=True)
        return
    study = read_study(source)
    packed = pack(source, study, batch_of(study, source.parent, unchecked=unchecked))
    file = output or source.with_suffix(SUFFIX)
    with _written(file), whole(file) as unfinished:
        unfinished.write_bytes(packed)
    click.echo(f"wrote {file}: {len(packed) / 1024:,.0f} KiB")
