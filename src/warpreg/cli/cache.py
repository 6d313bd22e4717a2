"""``warpreg cache``: what is kept on disk; clean it, or verify its checksums."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import click

from warpreg.cache import store
from warpreg.cache.directory import cache_directory, limit_bytes
from warpreg.cache.store import Entry
from warpreg.cache.trust import directory_refusal
from warpreg.cli import output
from warpreg.cli.options import json_option

MIB = 1 << 20


@click.command()
@click.option("--clean", is_flag=True, help="Delete the entries.")
@click.option("--verify", is_flag=True, help="Check every checksum; delete damaged entries and exit with status 1.")
@click.option(
    "--kind",
    metavar="NAME",
    help="Only entries of this kind (cuda, kernels, objects, cores, findings, launches, results).",
)
@json_option
def command(clean: bool, verify: bool, kind: str | None, as_json: bool) -> int:
    """Show what is kept on disk, delete it, or verify it.

    WARPREG_CACHE names another directory, WARPREG_CACHE_LIMIT another bound in MiB.

    \b
    warpreg cache
    warpreg cache --verify
    warpreg cache --clean --kind findings
    """
    if clean and verify:
        raise click.UsageError("--clean and --verify exclude each other")
    entries = [entry for entry in store.entries() if kind in (None, entry.kind)]
    if kind is not None and not entries:
        raise click.UsageError(f"no entry of kind '{kind}'; there are: {', '.join(_kinds(store.entries())) or 'none'}")
    damaged = _damaged(entries) if verify else []
    for entry in entries if clean else damaged:
        store.remove(entry)
    _print(entries, damaged, clean, verify, as_json)
    return 1 if damaged else 0


def _damaged(entries: Sequence[Entry]) -> list[Entry]:
    damaged = []
    with output.steps(len(entries), "entries") as progress:
        progress.begin("verifying")
        for entry in entries:
            if not store.is_sound(entry):
                damaged.append(entry)
            progress.done()
    return damaged


def _print(entries: Sequence[Entry], damaged: Sequence[Entry], clean: bool, verify: bool, as_json: bool) -> None:
    rows = [_row(kind, [entry for entry in entries if entry.kind == kind], damaged) for kind in _kinds(entries)]
    directory = cache_directory()
    if as_json:
        whole = {"directory": str(directory), "limit_bytes": limit_bytes(), "not_used": directory_refusal(directory)}
        output.print_json({**whole, "kinds": rows, "deleted": len(entries) if clean else len(damaged)})
        return
    if rows:
        columns = ("kind", "entries", "MiB", *(("damaged",) if verify else ()))
        output.print_tables([output.table(rows, columns)])
    total = sum(entry.size_bytes for entry in entries) / MIB
    click.echo(f"{directory}: {len(entries)} entries, {total:.1f} of {limit_bytes() / MIB:.0f} MiB")
    if refused := directory_refusal(directory):
        click.echo(f"not used: {refused}")
    if clean:
        click.echo(f"deleted {len(entries)} entries")
    if verify:
        click.echo(f"deleted {len(damaged)} damaged entries" if damaged else "every entry has its checksum")


def _kinds(found: Iterable[Entry]) -> list[str]:
    return sorted({entry.kind for entry in found})


def _row(kind: str, found: Sequence[Entry], damaged: Sequence[Entry]) -> dict[str, object]:
    return {
        "kind": kind,
        "entries": len(found),
        "MiB": sum(entry.size_bytes for entry in found) / MIB,
        "damaged": sum(entry.kind == kind for entry in damaged),
    }
