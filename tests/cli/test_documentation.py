"""The pages name files that exist, and the generated parts contain every design, parameter, command and option."""

from __future__ import annotations

import importlib.util
import inspect
import re
import shlex
from pathlib import Path
from types import ModuleType

import click
import pytest

from warpreg import designs
from warpreg.cli.app import COMMANDS, command

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = {DOCS / "designs" / f"{name}.md" for name in designs.names()} | {
    DOCS / "generated" / f"{name}.md" for name in ("commands", "designs")
}
PAGES = sorted({*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"} - GENERATED)
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
PACKAGES = "|".join(
    sorted(path.name for path in (ROOT / "src" / "warpreg").iterdir() if (path / "__init__.py").is_file())
)
SOURCE = re.compile(
    rf"`((?:src/warpreg|tests|examples|{PACKAGES}|packages|warpreg_papers|warpreg_workbench)/[\w./-]+\.\w+)`"
)

ROOTS = (ROOT, ROOT / "src", ROOT / "src/warpreg", ROOT / "packages/papers/src", ROOT / "packages/workbench/src")


def extension(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / "extensions" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_paths_of_a_page_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = [(page.parent / link).resolve() for link in LINK.findall(text)]
    assert [target for target in targets if not target.exists() and target not in GENERATED] == []
    named = SOURCE.findall(text)
    assert [path for path in named if not any((root / path).exists() for root in ROOTS)] == []


@pytest.mark.parametrize("name", designs.names())
def test_the_catalogue_has_each_parameter_of_a_design(name: str) -> None:
    design = designs.load(name)
    page = "\n".join(extension("design_catalogue").page(design))
    assert page.startswith(f"# {name}\n")
    assert [spec.name for spec in design.parameters if f"| `{spec.name}` |" not in page] == []
    assert all(f"\n| {level} | " in page for level in design.levels)


@pytest.mark.parametrize("name", sorted({*designs.names()} - {"mrf"}))
def test_the_catalogue_has_each_part_of_a_design(name: str) -> None:
    """Idea, rules and what the source leaves open are in the docstring of its file."""
    design = designs.load(name)
    catalogue = extension("design_catalogue")
    idea, rules, silent, limits = catalogue.sections(inspect.getdoc(design.module))
    assert len(idea) > 40
    assert rules
    assert silent or limits
    page = "\n".join(catalogue.page(design))
    parts = ["Rules", "Storage and hardware", "Source and declaration", "Results", "Limits", "Example"]
    assert [part for part in parts if f"\n## {part}\n" not in page] == []
    assert "price it with its default parameters: none" not in page


def test_the_table_of_the_catalogue_has_each_design() -> None:
    rows = list(extension("design_catalogue").overview([designs.load(name) for name in designs.names()]))[2:]
    assert [row.split("]")[0] for row in rows] == [f"| [{name}" for name in designs.names()]
    assert [row for row in rows if row.replace("\\|", "").count("|") != 5] == []


def test_a_docstring_is_divided_into_rules_open_questions_and_limits() -> None:
    text = "An idea.\n\nRule.\n\nWhere the text is silent, beside what a states:\n- one;\n- two.\n\nLimits: no more."
    found = extension("design_catalogue").sections(text)
    assert found == ("An idea.", ["Rule."], ["Beside what a states:\n- one;\n- two."], ["No more."])


@pytest.mark.parametrize("name", COMMANDS)
def test_the_reference_has_each_option_of_a_command(name: str) -> None:
    page = "\n".join(extension("command_line").section(name))
    found = command.get_command(click.Context(command), name)
    assert found is not None
    options = [option.opts[-1] for option in found.params if isinstance(option, click.Option)]
    assert page.startswith(f"## warpreg {name}\n")
    assert [option for option in options if option not in page] == []


BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHELLS = ("", "text", "console", "bash", "sh")


def shown_commands(text: str) -> list[list[str]]:
    """The arguments of each ``warpreg`` command in the code blocks of a page."""
    shown = [block for language, block in BLOCK.findall(text) if language in SHELLS]
    lines = "\n".join(shown).replace("\\\n", " ").splitlines()
    commands = [line.removeprefix("$ ") for line in lines]
    return [shlex.split(line, comments=True)[1:] for line in commands if line.startswith("warpreg ")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_of_a_page_exist_and_have_these_options(page: Path) -> None:
    for arguments in shown_commands(page.read_text(encoding="utf-8")):
        words = arguments[: next((at for at, word in enumerate(arguments) if word in ("|", ">", "2>", "&&")), None)]
        if not words or words[0].startswith("-") or words[0].isupper():
            continue
        found = command.get_command(click.Context(command), words[0])
        assert found is not None, words
        found.make_context(words[0], list(words[1:]), resilient_parsing=True)
