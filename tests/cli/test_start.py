"""What a command imports: nothing that it does not use."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import warpreg
from warpreg.cache import sources
from warpreg.cli import main

SCRIPT = """
import sys
from warpreg.cli import main
status = main(sys.argv[1:])
print(*sys.modules, file=sys.stderr)
sys.exit(status)
"""
DESIGN = """\
'''A design of another package.'''
from warpreg.designs.interface import *
DESIGN = Declaration(slot="levels", levels=("MRF", "X"), source="assumed: a test")
"""
PLOTTING = {"matplotlib", "pandas", "scipy.optimize", "scipy.sparse"}
COMPILER = {"warpreg.codegen.pipeline", "warpreg.simt.kernel.block_compiler"}


def imported(cache: Path, *command: str) -> set[str]:
    """The modules that a command has imported at its end, with ``cache`` as its cache directory."""
    environment = os.environ | {"WARPREG_CACHE": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *command], env=environment, capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


def test_a_warm_list_imports_no_numpy(tmp_path: Path) -> None:
    cold = imported(tmp_path, "list")
    assert "numpy" in cold
    assert not {"numpy", "numba", "llvmlite", "warpreg.codegen"} & imported(tmp_path, "list")


def test_a_change_of_the_package_makes_the_lists_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warpreg, "__file__", str(tmp_path / "__init__.py"))
    (tmp_path / "a.py").write_text("x = 1\n")
    states = []
    for text in ("x = 1\n", "x = 10\n"):
        (tmp_path / "a.py").write_text(text)
        sources.sources_state.cache_clear()
        states.append(sources.sources_state())
    sources.sources_state.cache_clear()
    assert states[0] != states[1]


def test_designs_of_other_packages_are_listed_from_the_first_time_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path / "cache"))
    assert main(["list", "designs"]) == 0
    (tmp_path / "another_design.py").write_text(DESIGN, encoding="utf-8")
    information = tmp_path / "another-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: another\nVersion: 1.0\n", encoding="utf-8")
    (information / "entry_points.txt").write_text("[warpreg.designs]\nanother = another_design\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    capsys.readouterr()
    assert main(["list", "designs"]) == 0
    assert "another" in capsys.readouterr().out


def test_a_warm_run_imports_no_compiler_and_no_timing(tmp_path: Path) -> None:
    run = "run", "vector-add", "--size", "tiny"
    imported(tmp_path, *run)
    found = imported(tmp_path, *run)
    assert not {*PLOTTING, *COMPILER, "warpreg.timing"} & found
