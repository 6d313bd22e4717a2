"""Lists on pages name everything that there is: a new machine, technology, paper or page has its line."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from tests.docs.reader import ROOT

import warpreg
from warpreg import gpu
from warpreg.energy import technology
from warpreg_papers.reproduction import PAPERS

DOCS = ROOT / "docs"
SOURCES = ROOT / "src" / "warpreg"
PARTS = {"tutorial": "Tutorial", "how-to": "How-to guides", "explanation": "Explanation", "reference": "Reference"}


def in_code(page: str) -> set[str]:
    """What a page has between backticks."""
    return set(re.findall(r"`([^`\n]+)`", (DOCS / page).read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("reference/machines.md", gpu.names()),
        ("explanation/energy.md", technology.names()),
        ("how-to/reproduce-a-paper.md", tuple(PAPERS)),
        ("designs/index.md", tuple(PAPERS)),
    ],
)
def test_a_page_names_all(page: str, names: tuple[str, ...]) -> None:
    assert set(names) - in_code(page) == set()


def test_the_python_reference_has_every_public_name() -> None:
    """In the text as `warpreg.NAME`, or among the members whose docstrings are shown."""
    page = (DOCS / "reference" / "python.md").read_text(encoding="utf-8")
    shown = re.findall(r"warpreg\.(\w+)", page) + re.findall(r"\w+", " ".join(re.findall(r":members: (.+)", page)))
    public = {name for name in dir(warpreg) if name in warpreg._API}
    assert public - {"Run", *shown} == set()
    assert "autoclass:: warpreg.evaluation.runs.run.Run" in page


@pytest.mark.parametrize(("folder", "caption"), PARTS.items())
def test_a_part_of_the_site_has_the_pages_of_its_folder(folder: str, caption: str) -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    (part,) = re.findall(rf":caption: {caption}\n\n(.*?)```", index, re.DOTALL)
    pages = {str(page.relative_to(DOCS).with_suffix("")) for page in (DOCS / folder).glob("*.md")}
    assert {line for line in part.splitlines() if not line.startswith("designs/")} == pages


def test_the_readme_links_every_guide() -> None:
    linked = re.findall(r"\]\((docs/[^)#]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    guides = [*(DOCS / "tutorial").glob("*.md"), *(DOCS / "how-to").glob("*.md")]
    assert {str(guide.relative_to(ROOT)) for guide in guides} - set(linked) == set()


def first_column(page: str, heading: str) -> list[str]:
    """What the rows of the table below a heading are about."""
    (table,) = re.findall(rf"\n#+ {heading}\n.*?\n((?:\|[^\n]*\n)+)", page, re.DOTALL)
    return [name for row in table.splitlines()[2:] for name in re.findall(r"`([^`]+)`", row.split("|")[1])]


def folders_of(parent: Path) -> list[Path]:
    """Folders with modules."""
    return sorted(one.parent for one in parent.glob("*/__init__.py"))


def test_the_architecture_has_a_row_for_every_package_from_the_lowest_layer_up() -> None:
    """The order is that of the contract that `lint-imports` checks; it has ``__main__`` besides."""
    page = (DOCS / "explanation" / "architecture.md").read_text(encoding="utf-8")
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (layers,) = (one["layers"] for one in contracts if one.get("containers") == ["warpreg"])
    packages = first_column(page, "Packages")
    assert packages == [one for one in reversed(layers) if one != "__main__"]
    assert {one.name for one in folders_of(SOURCES)} <= set(packages)


def test_the_architecture_names_every_folder_of_a_package() -> None:
    """Of the workloads, it says that each suite has one."""
    page = in_code("explanation/architecture.md")
    inside = [one for package in folders_of(SOURCES) for one in folders_of(package) if package.name != "workloads"]
    assert {one.relative_to(SOURCES).as_posix() for one in inside} - page == set()


def test_the_readme_shows_the_example_as_it_is() -> None:
    example = (ROOT / "examples" / "my_design.py").read_text(encoding="utf-8")
    assert f"```python\n{example}```" in (ROOT / "README.md").read_text(encoding="utf-8")
