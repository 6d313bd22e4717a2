"""The citation file names the version of the package."""

from __future__ import annotations

import re
from pathlib import Path

import warpreg


def test_the_version_is_that_of_the_package() -> None:
    text = (Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (\S+)$", text, re.MULTILINE) == [warpreg.__version__]
