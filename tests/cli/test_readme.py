"""The examples of the README match the package."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from warpreg.experiments.suite.shown_output import PAGES, differing, in_shell, refreshed

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


SHOWN = "text\n```\n$ warpreg run x\nx in 0.07 s (248 million/s, path recorded)\n\n  a\n\n```\nmore\n"


def test_an_output_that_differs_is_shown_anew() -> None:
    """Times may differ; as many paragraphs are shown as before."""
    assert refreshed(SHOWN, lambda command: "x in 1.00 s (1 million/s, path recorded)\n\n  a\n\nb\n") == SHOWN
    now = "x in 1.00 s (1 million/s, path recorded)\n\n  c  \n\nb\n"
    assert refreshed(SHOWN, lambda command: now) == (
        "text\n```\n$ warpreg run x\nx in 1.00 s (1 million/s, path recorded)\n\n  c\n```\nmore\n"
    )
    assert list(differing(SHOWN, lambda command: now)) == ["warpreg run x"]
    hidden = SHOWN.replace("run x", "compare x --design last_result.py")
    assert list(differing(hidden, lambda command: now)) == []


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_pages_show_what_commands_print_now(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert list(differing((ROOT / page).read_text(encoding="utf-8"), in_shell)) == []
