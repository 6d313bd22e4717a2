"""Write a report: the data, the scripts, the style and the plotting library in one HTML file.

The page runs the scripts that it contains and no others, and fetches nothing: its content security policy names the
hash of each.  Names from users' files are data; the scripts show them as text.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from warpreg.ir.errors import WarpregError
from warpreg.report import inline
from warpreg.trace.files import whole

SCRIPTS = (
    "data.js", "metrics.js", "state.js", "elements.js", "plots.js", "figures.js", "pareto.js", "controls.js",
    "reproduction.js", "ranking.js", "overview.js", "views.js", "main.js",
)  # fmt: skip
"""The scripts of the page, in the order in which they run, after those of all pages."""
EXTRA = "a report requires the 'report' extra: pip install 'warpreg[report]'"


class ReportError(WarpregError):
    """A report that cannot be written."""


def write(contents: Mapping[str, Any], path: Path) -> Path:
    """Write the page; returns its path.  Raises ReportError without the ``report`` extra, OSError."""
    text = page(contents)
    with whole(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    return path


def page(contents: Mapping[str, Any]) -> str:
    """The page as text; the same contents give the same text.  Raises ReportError without the ``report`` extra."""
    try:
        from jinja2 import Environment
        from markupsafe import Markup
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise ReportError(EXTRA) from error
    scripts = [get_plotlyjs(), inline.element(), *map(_text, SCRIPTS)]
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    return environment.from_string(_text("page.html")).render(
        title=contents["title"],
        policy=_policy(scripts),
        style=Markup(inline.style(__package__, "style.css")),
        scripts=[Markup(script) for script in scripts],
        data=contents,
    )


def _policy(scripts: list[str]) -> str:
    hashes = " ".join(f"'sha256-{inline.sha256(script)}'" for script in scripts)
    return f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:"


def _text(name: str) -> str:
    return inline.text(__package__, name)
