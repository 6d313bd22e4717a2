"""``warpreg archive``: pack a study or a command with its inputs, code and results; unpack it; measure it again."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from warpreg.cli import output as out
from warpreg.cli.options import unchecked_option
from warpreg.evaluation.archive import check as checks
from warpreg.evaluation.archive import command as commands
from warpreg.evaluation.archive import study as studies
from warpreg.evaluation.archive.contents import Archive, read_archive, written
from warpreg.evaluation.archive.errors import ArchiveError
from warpreg.evaluation.sweep.study_file import read_study
from warpreg.evaluation.sweep.sweep import batch_of
from warpreg.trace.files import whole

SUFFIX = ".tar.gz"
FAILED = 1
SHOWN = 20
"""Differences that are printed."""


@contextmanager
def _written(path: Path | None = None) -> Iterator[None]:
    """Name what could not be written, by default a temporary file, which the error of a full disk does not."""
    try:
        yield
    except OSError as error:
        raise ArchiveError(f"{error.filename or path or tempfile.gettempdir()}: {error.strerror}") from error


@click.command(context_settings={"allow_interspersed_args": True, "ignore_unknown_options": True})
@click.argument("source", nargs=-1, required=True, metavar="STUDY.toml|ARCHIVE|FOLDER|COMMAND...")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Archive to write, or the new folder to unpack to. Default: the name of the study or the command.",
)
@click.option(
    "--measure",
    is_flag=True,
    help="Measure with an empty cache before packing; the archive then states time and hardware.",
)
@click.option(
    "--check", is_flag=True, help="Measure an archive or its folder again, and print whether it is reproduced."
)
@click.option(
    "--with",
    "more",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also pack this file, such as a module that a design imports. Repeat for each file.",
)
@unchecked_option
def command(
    source: tuple[str, ...], output: Path | None, measure: bool, check: bool, more: tuple[Path, ...], unchecked: bool
) -> int:
    """Pack what others need to measure your results again; unpack and check such an archive.

    Of a study, the finished cells are packed; of a command (compare, run, reproduce), what it prints. An archive has
    the inputs, the expected results, the code as a wheel, the versions of all libraries, a README, and a Makefile: in
    its folder, 'make setup' and 'make check' measure everything again. The same results give the same bytes.

    \b
    warpreg archive study.toml --output study.tar.gz
    warpreg archive study.tar.gz --output study
    warpreg archive --check study
    warpreg archive compare hotspot bfs --designs mrf,rfc --size tiny
    """
    first = Path(source[0])
    if check:
        if output or measure or more:
            raise click.UsageError("--check takes no --output, --measure or --with")
        return _checked(_alone(source))
    if source[0] in commands.COMMANDS:
        _expect_suffix(output)
        given = [*source, *(["--unchecked"] if unchecked else [])]
        with out.steps() as progress, _written():
            progress.begin(f"running {source[0]}")
            archive = commands.archived(given, more, afresh=measure)
        _pack(archive, output or Path(f"{archive.name}{SUFFIX}"))
        return 0
    if not _alone(source).is_file():
        raise click.UsageError(
            f"expected a file or one of the commands {', '.join(commands.COMMANDS)}, found '{first}'"
        )
    if first.name.endswith(SUFFIX):
        if measure or more:
            raise click.UsageError(f"{first} is an archive: unpacking takes no --measure or --with")
        _unpack(first, output or Path(first.name.removesuffix(SUFFIX)))
        return 0
    _expect_suffix(output)
    study = read_study(first)
    archive = studies.archived(first, study, batch_of(study, first.parent, unchecked=unchecked), more)
    if measure:
        with out.steps() as progress, _written():
            progress.begin("measuring with an empty cache")
            archive = studies.timed(archive)
    _pack(archive, output or first.with_suffix(SUFFIX))
    return 0


def _alone(source: tuple[str, ...]) -> Path:
    if len(source) > 1:
        raise click.UsageError(f"expected one file or folder, found {' '.join(source)}")
    return Path(source[0])


def _expect_suffix(output: Path | None) -> None:
    """The name by which an archive is unpacked; so none replaces a file of another kind."""
    if output is not None and not output.name.endswith(SUFFIX):
        raise click.UsageError(f"--output: expected NAME{SUFFIX}, found '{output}'")


def _pack(archive: Archive, file: Path) -> None:
    packed = archive.packed()
    with _written(file), whole(file) as unfinished:
        unfinished.write_bytes(packed)
    click.echo(f"wrote {file}: {len(packed) / 1024:,.0f} KiB in the folder {archive.name}")


def _unpack(archive: Path, folder: Path) -> None:
    with _written(folder):
        manifest = studies.unpack(archive, folder)
    if "cells" not in manifest:
        click.echo(f"{folder}: warpreg {' '.join(manifest['command'])}")
        return
    click.echo(f"{folder / studies.STUDY}: {manifest['finished']} of {manifest['cells']} cells finished")
    if not studies.is_of_this_code(manifest):
        told = f"warpreg {manifest['warpreg']} with other code measured them; a sweep measures them again"
        click.echo(f"note: {told}", err=True)


def _checked(source: Path) -> int:
    """Check a folder or a packed archive."""
    if not source.is_file():
        return _check(source)
    _, files = read_archive(source)
    with _written(), tempfile.TemporaryDirectory() as folder:
        written(files, Path(folder))
        return _check(Path(folder), source)


def _check(folder: Path, name: Path | None = None) -> int:
    with out.steps() as progress:
        progress.begin("measuring with an empty cache")
        verdict = checks.check(folder, name or folder)
    if not verdict.differences:
        how = (
            "all numbers equal" if not verdict.largest else f"numbers equal within {verdict.largest:.1g} of their value"
        )
        click.echo(f"reproduced: {_counted(verdict.results, 'result')}, {how}")
        return 0
    for difference in verdict.differences[:SHOWN]:
        click.echo(difference)
    differences, results = _counted(len(verdict.differences), "difference"), _counted(verdict.results, "result")
    click.echo(f"not reproduced: {differences} in {results}")
    return FAILED


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
