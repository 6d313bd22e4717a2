"""Output of the commands: tables, JSON, and progress on the error stream."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from pathlib import Path
from typing import IO, Any, TextIO, cast

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from warpreg.cli.steps import Steps as Steps
from warpreg.cli.steps import steps as steps
from warpreg.cli.table_parts import measured, parts
from warpreg.ir.errors import WarpregError

PIPE_COLUMNS = 160
"""Width of tables when the output is not a terminal and COLUMNS is not set."""

MIN_COLUMNS = 40
"""A narrower output has tables of this width."""

NUMBER = re.compile(r"-?[\d.,]+(e[-+]?\d+)?%?")

SHORT = 24
"""Columns whose cells are at most this long are never folded."""


def console() -> Console:
    """The console of standard output.  What is not a terminal has the width of COLUMNS, and no spaces at ends of
    lines.
    """
    if sys.stdout.isatty():
        return Console(highlight=False, soft_wrap=False)
    chosen = os.environ.get("COLUMNS", "")
    width = max(MIN_COLUMNS, int(chosen)) if chosen.isdecimal() else PIPE_COLUMNS
    return Console(width=width, file=cast("IO[str]", _Trimmed(sys.stdout)), highlight=False, soft_wrap=False)


class _Trimmed:
    """A stream without spaces at ends of lines; each line is written at once."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.encoding = stream.encoding

    def write(self, text: str) -> int:
        return self._stream.write(re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE))

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return False


def print_tables(tables: Iterable[Table]) -> None:
    """Print tables with an empty line between them; one that is too wide in parts, each with the first columns."""
    for place, one in enumerate(part for whole in tables for part in parts(whole, console().width)):
        out = console()
        if place:
            out.print()
        out.print(one)


def alone(as_json: bool) -> AbstractContextManager[Any]:
    """With JSON output, redirect the output of kernels to the error stream."""
    return redirect_stdout(sys.stderr) if as_json else nullcontext()


def print_json(value: Any) -> None:
    """``value`` as indented JSON; the same value gives the same bytes."""
    click.echo(json.dumps(value, indent=2, default=_plain, allow_nan=False))


def print_csv(records: Sequence[Mapping[str, Any]]) -> None:
    """Records as CSV; the keys of inner records are joined by dots, and what a record lacks is empty."""
    flat = [dict(_flat(record)) for record in records]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(name for one in flat for name in one)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat)
    click.echo(text.getvalue(), nl=False)


def _flat(record: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in record.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def write_parquet(records: Sequence[Mapping[str, Any]], file: Path) -> None:
    """Records as a Parquet file, its columns as of `print_csv`; what is neither number nor text is JSON.  Written after
    the records are printed, so that they are not lost with a file that cannot be.

    Raises WarpregError without the ``parquet`` extra, OSError.
    """
    import pandas

    frame = pandas.DataFrame([dict(_flat(record)) for record in records])
    for name in frame.columns:
        kinds = {type(value) for value in frame[name].dropna()}
        if len(kinds) > 1 or kinds & {dict, list}:
            frame[name] = [None if value is None or value != value else json.dumps(value) for value in frame[name]]
    try:
        frame.to_parquet(file, index=False)
    except ImportError as error:
        raise WarpregError("a Parquet file requires the 'parquet' extra: pip install 'warpreg[parquet]'") from error
    click.echo(f"wrote {file}", err=True)


def _plain(value: Any) -> Any:
    """The value of a NumPy array or number as plain Python; text of anything else."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def table(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], title: str | None = None) -> Table:
    """A table with one line per row; numbers are right-aligned, headings wrap, missing cells are empty."""
    rows = list(rows)
    result = Table(
        title=title, box=SIMPLE_HEAD, title_justify="left", title_style="bold", show_edge=False, pad_edge=False
    )
    result.padding = (0, 1, 0, 0)
    for column in columns:
        numeric = all(_is_number(row.get(column)) for row in rows)
        heading = column.replace(" ", "\n") if numeric else column
        is_short = max((len(cell(row.get(column))) for row in rows), default=0) <= SHORT
        result.add_column(heading, justify="right" if numeric else "left", overflow="fold", no_wrap=is_short)
    for row in rows:
        result.add_row(*(escape(cell(row.get(column))) for column in columns))
    return result


def fits(candidate: Table) -> bool:
    """Whether a table is no wider than the console."""
    return measured(candidate).maximum <= console().width


def _is_number(value: Any) -> bool:
    """Also text such as ``12.5%``, and nothing at all."""
    if not isinstance(value, str):
        return not isinstance(value, bool)
    return bool(NUMBER.fullmatch(value))


def cell(value: Any) -> str:
    """Format a value: thousands separators, three significant digits."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        is_whole = abs(value) >= 10 and value == round(value)
        return (
            f"{value:,.0f}"
            if is_whole or abs(value) >= 1000
            else f"{value:.3g}"
            if abs(value) < 0.1
            else f"{value:.2f}"
        )
    return str(value)
