"""Commands of other packages: found by entry point, and one line where the package is missing."""

from __future__ import annotations

import pytest

from warpreg.cli import installed, main


@pytest.mark.parametrize(
    ("command", "remedy"),
    [
        (("reproduce", "rfc"), "the papers are not installed: pip install 'warpreg[papers]'"),
        (("report", "--papers", "rfc"), "the papers are not installed: pip install 'warpreg[papers]'"),
        (("reproduce", "--help"), "the papers are not installed"),
        (("bench", "spine", "--size", "tiny"), "come with its sources"),
    ],
)
def test_a_missing_package_is_one_line(
    command: tuple[str, ...], remedy: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(installed, "entry_points", lambda **wanted: ())
    assert main(list(command)) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert remedy in printed.err


def test_a_gpu_is_measured_without_the_benchmarks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(installed, "entry_points", lambda **wanted: ())
    assert main(["bench", "gpu", "--help"]) == 0
    assert "Measure a real NVIDIA GPU" in capsys.readouterr().out
