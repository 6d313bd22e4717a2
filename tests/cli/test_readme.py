"""The examples of the README match the package."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_design_in_the_readme_is_the_example_and_short() -> None:
    example = (ROOT / "examples" / "my_design.py").read_text(encoding="utf-8")
    assert f"```python\n{example}```" in README
    assert len(example.splitlines()) < 60


def test_the_picture_and_the_pages_that_it_names_exist() -> None:
    named = re.findall(r"\]\(([\w/-]+\.(?:md|png))\)", README)
    assert len(named) >= 4
    assert [path for path in named if not (ROOT / path).exists()] == []
