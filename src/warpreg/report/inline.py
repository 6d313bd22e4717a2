"""What pages that open from disk contain: style sheets, scripts, and the hash by which a page allows its script."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files


def text(package: str, name: str) -> str:
    """A file beside the modules of a package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def style(package: str, name: str) -> str:
    """A style sheet of a package, behind the colours of all pages."""
    return text(__package__, "colours.css") + text(package, name)


def element() -> str:
    """The script by which the scripts of a page make elements; it comes first."""
    return text(__package__, "element.js")


def sha256(script: str) -> str:
    """The hash of a script, as a content security policy names it."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
