"""``warpreg new-design``: what it writes runs as it is, and is never written over."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from warpreg.checks.contract import undefined
from warpreg.cli import main
from warpreg.cli.new_design import MODELS_INSTEAD, write
from warpreg.designs import load, names

Output = pytest.CaptureFixture[str]
FILES = ["my_cache.py", "my_cache_test.py"]


@pytest.mark.slow
def test_the_whole_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    """The command writes two files, the test passes, and the design stands in a comparison."""
    monkeypatch.chdir(tmp_path)
    assert main(["new-design", "my-cache"]) == 0
    assert "warpreg compare hotspot --design my_cache.py --set my-cache.entries=2,4,8" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == FILES
    test = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "my_cache_test.py"]
    places = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(test, env=os.environ | {"PYTHONPATH": places}, capture_output=True, text=True)
    assert "4 passed" in done.stdout, done.stdout + done.stderr
    compare = ["compare", "vector-add", "--size", "tiny", "--designs", "mrf", "--design", "my_cache.py"]
    assert main([*compare, "--set", "my-cache.entries=0,4"]) == 0
    plain, off, four = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("vector-add")]
    assert off[-3:] == plain[-3:]
    assert four[1] == "my-cache(entries=4)"
    assert float(four[-1]) < float(plain[-1]) == 1


def test_the_design_names_itself_and_lacks_nothing_but_a_residency(tmp_path: Path) -> None:
    (file, _) = write("two_words", tmp_path)
    text = file.read_text(encoding="utf-8")
    assert "two-words.entries" in text
    assert "my_design" not in text
    assert "my-design" not in text
    assert list(undefined(load(file))) == ["no residency: a warp occupies the registers of its kernel"]


@pytest.mark.slow
def test_a_design_begins_as_its_model(tmp_path: Path) -> None:
    """The file is the model's under another name, and its test finds no difference."""
    file, test = write("my_cache", tmp_path, "rfc")
    assert file.read_text(encoding="utf-8").startswith('"""my-cache: begins as a copy of rfc; say here what differs')
    places = os.pathsep.join(filter(None, sys.path))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": places}, capture_output=True, text=True)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_a_policy_is_a_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    """It chooses warps, needs nothing else, and its test passes."""
    monkeypatch.chdir(tmp_path)
    assert main(["new-design", "my-order", "--like", "policy"]) == 0
    assert "--design my_order.py --set my-order.limit=1,4,64 --cycles" in capsys.readouterr().out
    design = load(tmp_path / "my_order.py")
    assert design.declaration.slots == ("policy",)
    assert "choose" in design.hooks
    places = os.pathsep.join(filter(None, sys.path))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "my_order_test.py"]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": places}, capture_output=True, text=True)
    assert "3 passed" in done.stdout, done.stdout + done.stderr


def test_a_design_that_works_beside_another_only_is_no_start(tmp_path: Path, capsys: Output) -> None:
    assert main(["new-design", "my-order", "--like", "las", "--output", str(tmp_path / "new")]) == 2
    assert "'las' works beside larf only: start from policy" in capsys.readouterr().err


@pytest.mark.parametrize("model", sorted({*names()} - {*MODELS_INSTEAD}))
def test_every_design_can_be_a_model(tmp_path: Path, model: str) -> None:
    file, _ = write("my_own", tmp_path, model)
    found, original = load(file), load(model)
    assert found.name == "my-own"
    assert list(undefined(found)) == list(undefined(original))


def test_an_unknown_model_is_one_line(tmp_path: Path, capsys: Output) -> None:
    assert main(["new-design", "my-cache", "--like", "no-such", "--output", str(tmp_path / "new")]) == 2
    error = capsys.readouterr().err
    assert "'no-such' is no design of the package and no start: levels, policy, all-tfet, " in error
    assert error.count("\n") == 1
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("existing", FILES)
def test_a_file_that_exists_is_kept(tmp_path: Path, capsys: Output, existing: str) -> None:
    (tmp_path / existing).write_text("mine", encoding="utf-8")
    assert main(["new-design", "my-cache", "--output", str(tmp_path)]) == 1
    assert capsys.readouterr().err == (
        f"warpreg: {tmp_path / existing}: the file exists and is kept; choose another name or folder\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == [existing]
    assert (tmp_path / existing).read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("MyCache", "expected lower-case words of letters and digits"),
        ("../cache", "expected lower-case words"),
        ("2nd", "expected lower-case words"),
        ("a" * 41, "at most 40 characters"),
        ("class", "is a word of Python"),
        ("rfc-lrf", "is a design of the package"),
        ("rfc_lrf", "is a design of the package"),
    ],
)
def test_a_bad_name_is_one_line(tmp_path: Path, capsys: Output, name: str, message: str) -> None:
    assert main(["new-design", name, "--output", str(tmp_path / "new")]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "new").exists()


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main(["new-design", "my-cache", "--output", str(tmp_path / "file" / "folder")]) == 1
    assert capsys.readouterr().err.count("\n") == 1
