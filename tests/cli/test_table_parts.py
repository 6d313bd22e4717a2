"""Tables that are too wide come in parts that fit; what is piped is as wide as COLUMNS, without spaces at line ends."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

from warpreg.cache.directory import cache_directory
from warpreg.cli import main, output
from warpreg.cli.table_parts import parts

Output = pytest.CaptureFixture[str]
ROWS = [
    {"workload": "reduction", "design": "rfc(entries=6)", "reads": 1234567, "writes": 7654321, "energy": "0.352"},
    {"workload": "scan", "design": "mrf", "reads": 12, "writes": 3, "energy": "1.000"},
]
STUDY = """
workloads = ["vector-add", "reduction"]
sizes = "tiny"
machines = ["gebhart-rfc", "v100"]
[[designs]]
name = "rfc"
parameters = { entries = [4, 5000] }
[[designs]]
name = "mrf"
"""


def printed(capsys: Output, width: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    output.print_tables([output.table(ROWS, list(ROWS[0]))])
    return capsys.readouterr().out.splitlines()


def test_a_table_that_fits_is_one(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns of 9, 14, 9, 9 and 6, and two between them: 55."""
    lines = printed(capsys, 55, monkeypatch)
    assert lines[0] == "workload   design              reads     writes  energy"
    assert lines[1] == 55 * "─"
    assert len(lines) == 4


def test_a_table_that_is_too_wide_repeats_what_its_rows_are(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    """25 for both columns of text, which is half of 54; then 9 and 9 fit, and 6 more does not."""
    assert printed(capsys, 54, monkeypatch) == [
        "workload   design              reads     writes",
        47 * "─",
        "reduction  rfc(entries=6)  1,234,567  7,654,321",
        "scan       mrf                    12          3",
        "",
        "workload   design          energy",
        33 * "─",
        "reduction  rfc(entries=6)   0.352",
        "scan       mrf              1.000",
    ]


def test_of_wide_texts_the_first_one_is_repeated(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    """9 for the workload; 14 for the design, which would leave less than half of 49."""
    lines = printed(capsys, 49, monkeypatch)
    assert [line for line in lines if line.startswith("workload")] == [
        "workload   design              reads     writes",
        "workload   energy",
    ]


def test_texts_are_folded_between_words(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    """14 are left for the longer text, whose longest word has 13."""
    monkeypatch.setenv("COLUMNS", "40")
    rows = [{"name": "a", "what": "a considerable number of words, more than fit", "amount": 12345678901234567}]
    output.print_tables([output.table(rows, list(rows[0]))])
    lines = capsys.readouterr().out.splitlines()
    assert [line[6:].split("  ")[0].strip() for line in lines[2:]][:2] == ["a", "considerable"]
    assert max(map(len, lines)) <= 40


def test_a_word_that_is_wider_than_all_is_broken() -> None:
    rows = [{"path": "/a/very/long/path/without/any/space/in/it.py", "number": 7}]
    found = parts(output.table(rows, list(rows[0])), 20)
    console = Console(width=20)
    with console.capture() as captured:
        for one in found:
            console.print(one)
    lines = captured.get().splitlines()
    assert max(map(len, lines)) <= 20
    assert "".join(line[:20].split()[0] for line in lines[2:]).startswith("/a/very/long/path")


@pytest.mark.parametrize(("columns", "width"), [("80", 80), ("10", 40), ("", 160), ("wide", 160), ("-5", 160)])
def test_the_width_of_what_is_piped(columns: str, width: int, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    output.console().print("word " * 100)
    lines = capsys.readouterr().out.splitlines()
    assert width - len("word") <= max(map(len, lines)) <= width
    assert not any(line.endswith(" ") for line in lines)


def _listing(lines: Sequence[str]) -> int:
    """Where lines of code begin, which are not folded."""
    return next((place for place, line in enumerate(lines) if " instructions, " in line), len(lines))


COMPARE = ("compare", "vector-add", "reduction", "--size", "tiny", "-j", "1", "--designs")
COMMANDS = (
    ("list", "machines"),
    ("list", "designs"),
    ("list", "workloads"),
    ("list", "technologies"),
    ("list", "opcodes"),
    (*COMPARE, "mrf,rfc,orf-lrf", "--rank-by", "energy_normalized"),
    (*COMPARE, "mrf,corf,rfc-lrf", "--technology", "common-40nm"),
    ("sweep", "STUDY", "-j", "1"),
    ("sweep", "STUDY", "--list"),
    ("rank", "STUDY"),
    ("run", "vector-add", "--size", "tiny"),
    ("explain", "vector-add", "--design", "rfc", "--source"),
    ("why", "rfc", "orf-lrf", "vector-add", "--size", "tiny"),
    ("verify", "vector-add", "--size", "tiny"),
    ("oracle", "vector-add", "--size", "tiny", "-j", "1"),
    ("cache",),
)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:2]))
def test_tables_fit(command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    study = tmp_path / "study.toml"
    study.write_text(STUDY, encoding="utf-8")
    if command[0] == "rank":
        main(["sweep", str(study), "-j", "1"])
    words: dict[int, set[str]] = {}
    for width in (60, 80, 200):
        capsys.readouterr()
        monkeypatch.setenv("COLUMNS", str(width))
        assert main([word.replace("STUDY", str(study)) for word in command]) in (0, 1)
        captured = capsys.readouterr()
        lines = captured.out.splitlines()
        assert lines, captured.err
        assert [line for line in lines if line.endswith((" ", "\t"))] == []
        shown = [line for line in lines[: _listing(lines)] if not line.startswith(str(cache_directory()))]
        assert [line for line in shown if len(line) > width] == []
        words[width] = set(" ".join(shown).split())
    if command[0] not in ("cache", "run", "verify"):  # which say times
        assert {word for word in words[200] if word.isalpha()} <= words[60] | words[80]
