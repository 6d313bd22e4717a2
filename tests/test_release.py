"""What a release says of itself agrees: version, changelog, citation, supported Pythons, content of the sdist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import warpreg

ROOT = Path(__file__).parents[1]
USED = [
    *(".ci", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "Makefile", "docs", "examples", "labs", "noxfile.py"),
    *("packages", "src", "tests"),
]
"""What `make` and the tests need beside the files that every sdist has."""


def text_of(name: str) -> str:
    """A file of the root."""
    return (ROOT / name).read_text(encoding="utf-8")


def configuration() -> dict[str, Any]:
    """``pyproject.toml``."""
    return tomllib.loads(text_of("pyproject.toml"))


def test_the_changelog_begins_with_the_version() -> None:
    versions = re.findall(r"^## (\S+)", text_of("CHANGELOG.md"), re.MULTILINE)
    assert versions[0] == warpreg.__version__
    assert len(set(versions)) == len(versions)


def test_a_section_of_the_changelog_has_one_place() -> None:
    for version in text_of("CHANGELOG.md").split("\n## ")[1:]:
        sections = re.findall(r"^### (.+)$", version, re.MULTILINE)
        assert len(set(sections)) == len(sections)


def test_entries_of_the_changelog_are_sentences() -> None:
    """An entry that was cut off has no full stop at its end."""
    entries = re.findall(r"^- (.+?)(?=\n- |\n\n|\n#|\Z)", text_of("CHANGELOG.md"), re.MULTILINE | re.DOTALL)
    assert [entry for entry in entries if not re.search(r"[.)]\s*\Z", entry)] == []


def test_the_citation_has_the_version() -> None:
    assert re.findall(r"^version: (\S+)$", text_of("CITATION.cff"), re.MULTILINE) == [warpreg.__version__]


@pytest.mark.parametrize("name", ["compiled", "papers", "workbench"])
def test_the_packages_beside_have_the_version(name: str) -> None:
    project = tomllib.loads(text_of(f"packages/{name}/pyproject.toml"))["project"]
    used = [one for one in project["dependencies"] if one.startswith("warpreg")]
    assert {project["version"], *(one.partition("==")[2] for one in used)} == {warpreg.__version__}
    assert project["requires-python"] == configuration()["project"]["requires-python"]


def test_the_classifiers_are_the_pythons_that_are_accepted() -> None:
    project = configuration()["project"]
    found = [re.fullmatch(r"Programming Language :: Python :: 3\.(\d+)", line) for line in project["classifiers"]]
    minors = [int(one[1]) for one in found if one]
    assert project["requires-python"] == f">=3.{min(minors)},<3.{max(minors) + 1}"
    assert minors == list(range(min(minors), max(minors) + 1))
    for name in ("README.md", "CONTRIBUTING.md"):
        assert f"Python 3.{min(minors)} to 3.{max(minors)}" in text_of(name)


@pytest.mark.parametrize("name", USED)
def test_the_sdist_has_what_its_tests_need(name: str) -> None:
    included = configuration()["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert f"/{name}" in included
    assert (ROOT / name).exists()
