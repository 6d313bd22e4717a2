"""``warpreg cache``: shows, verifies and cleans."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from warpreg.cache import store, trust
from warpreg.cli import main

Output = pytest.CaptureFixture[str]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two kernels and a finding."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("WARPREG_CACHE", str(folder))
    trust.directory_refusal.cache_clear()
    for kind, key in (("kernels", "a"), ("kernels", "b"), ("findings", "c")):
        store.write(kind, key, b"content")
    return folder


def test_it_shows_what_is_kept(cache: Path, capsys: Output) -> None:
    assert main(["cache", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["directory"] == str(cache)
    assert found["not_used"] is None
    assert [(row["kind"], row["entries"]) for row in found["kinds"]] == [("findings", 1), ("kernels", 2)]
    assert main(["cache"]) == 0
    assert "3 entries, 0.0 of 4096 MiB" in capsys.readouterr().out


def test_a_damaged_entry_is_found_and_deleted(cache: Path, capsys: Output) -> None:
    assert main(["cache", "--verify"]) == 0
    assert "every entry has its checksum" in capsys.readouterr().out
    (cache / "kernels" / "b").write_bytes(b"damaged")
    assert main(["cache", "--verify"]) == 1
    assert "deleted 1 damaged entries" in capsys.readouterr().out
    assert sorted(path.name for path in cache.glob("*/*")) == ["a", "c"]
    assert main(["cache", "--verify"]) == 0


def test_it_cleans_all_or_one_kind(cache: Path, capsys: Output) -> None:
    assert main(["cache", "--clean", "--kind", "kernels"]) == 0
    assert "deleted 2 entries" in capsys.readouterr().out
    assert [path.name for path in cache.glob("*/*")] == ["c"]
    assert main(["cache", "--clean"]) == 0
    assert list(cache.glob("*/*")) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--clean", "--verify"], "--clean and --verify exclude each other"),
        (["--kind", "kernel"], "no entry of kind 'kernel'; there are: findings, kernels"),
    ],
)
def test_wrong_usage_is_one_line(cache: Path, options: list[str], message: str, capsys: Output) -> None:
    assert main(["cache", *options]) == 2
    assert capsys.readouterr().err.startswith(f"warpreg: {message}")
    assert len(list(cache.glob("*/*"))) == 3
