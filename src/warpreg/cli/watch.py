"""``warpreg watch``: show running commands and studies in the browser."""

from __future__ import annotations

import os
from pathlib import Path

import click

from warpreg.cache import jobs, store
from warpreg.cli.options import unchecked_option


@click.command()
@click.argument("source", type=click.Path(exists=True, path_type=Path), metavar="[STUDY.toml|FOLDER]", required=False)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port of the page. Default: any free one.")
@click.option("--no-browser", is_flag=True, help="Print the address only.")
@unchecked_option
def command(source: Path | None, port: int, no_browser: bool, unchecked: bool) -> None:
    """Show what long commands do: progress, rate, end time, failures and the figures so far, on a page that updates
    itself.

    The page shows the commands of the cache directory that ran longer than a second, also those that have ended or
    were killed, and the cells of a study, or of all studies of a folder. A folder that is a cache directory is shown
    in place of the user's. The page can be opened on this machine only, by those who have its address. It changes
    nothing; Ctrl-C ends it.

    \b
    warpreg watch
    warpreg watch entries.toml --port 8080
    """
    from warpreg.report.loopback import listening, new_token
    from warpreg.report.watch.page import routes
    from warpreg.report.watch.study import WatchedStudy, studies_in

    if source is not None and _is_cache(source):
        os.environ["WARPREG_CACHE"] = str(source.resolve())
        studies = []
    elif source is not None and source.is_dir():
        studies = studies_in(source, unchecked=unchecked)
    else:
        studies = [] if source is None else [WatchedStudy.open(source, unchecked=unchecked)]
    with listening(routes(studies), port, new_token()) as server:
        click.echo(f"{server.address} shows the commands; Ctrl-C ends it", err=True)
        server.run(show=not no_browser)


def _is_cache(source: Path) -> bool:
    """Whether it is a cache directory; a folder with studies may have one of its own, named ``results``."""
    has_kinds = any((source / kind).is_dir() for kind in (jobs.FOLDER, store.RESULTS))
    return has_kinds and not any(source.glob("*.toml"))
