"""The designs that the documentation shows."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "design-interface.md"


def documented(folder: Path, word: str) -> Path:
    """A file with the only example of the page that contains the words."""
    (text,) = (
        text for text in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S) if word in text
    )
    file = folder / "example.py"
    file.write_text(text, encoding="utf-8")
    return file
