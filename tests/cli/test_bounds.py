"""Unlimited inputs, huge numbers, names that are not UTF-8, ASCII terminals, many errors: one short message, no
traceback.
"""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from warpreg.cli import main
from warpreg.ir import text_files
from warpreg.ir.errors import LONGEST, WarpregError, shortened
from warpreg.ptx import parse
from warpreg.ptx.diagnostics import PtxError

MOST = 2_000
PTX = """.version 8.0
.target sm_75
.address_size 64
.entry k(.param .u64 out, .param .u32 n)
{
.reg .u64 %a; .reg .u32 %n;
ld.param.u64 %a, [out];
ld.param.u32 %n, [n];
st.global.u32 [%a], %n;
ret;
}
"""
LAUNCH = ["--grid", "1", "--block", "1", "--arg", "buffer:u32:1", "--arg", "u32:3"]
DESCRIPTION = """source = "k.ptx"
[arrays.a]
shape = [SHAPE]
dtype = "uint32"
[[launches]]
kernel = "k"
grid = [GRID]
block = [BLOCK]
arguments = ["a", NUMBER]
"""
HUGE = 2**63 - 1


@pytest.fixture(autouse=True)
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder has a kernel, ``k.ptx``."""
    (tmp_path / "k.ptx").write_text(PTX)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) in (1, 2)
    message = capsys.readouterr().err
    assert message.startswith("warpreg: ")
    assert "Traceback" not in message
    assert len(message) <= MOST
    return message


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no endless file here")
@pytest.mark.parametrize(
    "name", ["zero.ptx", "zero.cu", "zero.toml", "kernelslist.g", "z.traceg", "z.traceg.xz", "z.traceg.zst", "zero.py"]
)
def test_an_endless_file_is_one_message(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_files, "MAX_CHARACTERS", 1 << 20)
    Path(name).symlink_to("/dev/zero")
    assert name in complaint(capsys, "run", name)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no endless file here")
@pytest.mark.parametrize("option", ["--design", "--machine", "--technology"])
def test_an_endless_description_is_one_message(
    option: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_files, "MAX_CHARACTERS", 1 << 20)
    name = "zero.py" if option == "--design" else "zero.toml"
    Path(name).symlink_to("/dev/zero")
    assert "more than 1048576 characters" in complaint(capsys, "run", "k.ptx", *LAUNCH, "--cycles", option, name)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"SHAPE": HUGE}, f"arrays.a.shape: expected 0 to 2147483648 elements, found [{HUGE}]"),
        ({"SHAPE": "4294967296, 4294967296"}, "arrays.a.shape: expected 0 to 2147483648 elements"),
        ({"SHAPE": -1}, "arrays.a.shape: expected 0 to 2147483648 elements, found [-1]"),
        ({"GRID": HUGE}, f"a grid has at most 2147483647 thread blocks, not {HUGE}"),
        ({"BLOCK": HUGE}, f"a block has at most 1024 threads, not {HUGE}"),
        ({"NUMBER": HUGE}, f"{HUGE} does not fit 32 bits"),
    ],
)
def test_a_launch_description_beyond_all_bounds(
    changed: dict[str, object], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = DESCRIPTION
    for name, value in ({"SHAPE": 1, "GRID": 1, "BLOCK": 1, "NUMBER": 3} | changed).items():
        text = text.replace(name, str(value))
    Path("launch.toml").write_text(text)
    assert message in complaint(capsys, "run", "launch.toml")


ODD = os.fsdecode(b"caf\xe9")


class Terminal(io.TextIOWrapper):
    """A terminal of an encoding that knows few characters."""

    def __init__(self, encoding: str) -> None:
        super().__init__(io.BytesIO(), encoding=encoding)

    def text(self) -> str:
        self.flush()
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue().decode(self.encoding)


def on_terminal(monkeypatch: pytest.MonkeyPatch, encoding: str, *arguments: str) -> tuple[int, str]:
    out = Terminal(encoding)
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", out)
        patched.setattr(sys, "stderr", out)
        status = main(list(arguments))
    return status, out.text()


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_names_that_are_not_utf8(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(ODD + ".ptx").write_text(PTX)
    assert on_terminal(monkeypatch, encoding, "run", ODD + ".ptx", *LAUNCH)[0] == 0
    assert on_terminal(monkeypatch, encoding, "explain", ODD + ".ptx")[0] == 0
    Path(ODD + ".ptx").write_text(PTX.replace("ret;", "frobnicate.u32 %n;"))
    status, text = on_terminal(monkeypatch, encoding, "run", ODD + ".ptx", *LAUNCH)
    assert (status, text) == (1, "warpreg: caf?.ptx:10:1: frobnicate.u32 is not supported\n")
    for asked in (["run", ODD], ["run", ODD + ".cu"], ["run", "k.ptx", "--kernel", ODD, *LAUNCH], [ODD]):
        status, text = on_terminal(monkeypatch, encoding, *asked)
        assert status in (1, 2)
        assert "caf?" in text


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["explain", "k.ptx"], ["list", "designs"], ["run", "k.ptx", *LAUNCH]])
def test_an_ascii_terminal_shows_what_it_can(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    status, text = on_terminal(monkeypatch, "ascii", *arguments)
    assert status == 0
    assert text.isascii()


def test_a_flood_of_errors_is_counted() -> None:
    lines = "".join(f"foo{i} bar baz;\n" for i in range(3000))
    with pytest.raises(PtxError) as caught:
        parse(PTX.replace("ret;", lines))
    message = str(caught.value)
    shown = message.count("<ptx>:")
    assert len(message) <= LONGEST
    assert 5 <= shown < len(caught.value.diagnostics) == 3001
    assert message.endswith(f"\n... and {3001 - shown} more errors")


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "n" * 50_000],
        ["n" * 50_000],
        ["run", "k.ptx", "--kernel", "n" * 50_000, *LAUNCH],
        ["run", "k.ptx", "--grid", "1", "--block", "1", "--arg", "n" * 50_000],
        ["explain", "k.ptx", "--print-after", "n" * 50_000],
        ["compare", "vector-add", "--designs", "n" * 50_000],
    ],
    ids=range(6),
)
def test_long_names_are_cut(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert "more characters" in complaint(capsys, *arguments)


def test_messages_keep_their_first_lines() -> None:
    assert shortened("x" * LONGEST) == "x" * LONGEST
    cut = shortened("line\n" * 1000)
    assert len(cut) <= LONGEST
    assert cut.endswith(f"line\n... and {1000 - cut.count('line' + chr(10))} more lines")
    assert str(WarpregError("y" * 10_000)).startswith("y" * 1800)
    assert len(str(WarpregError("y" * 10_000))) <= LONGEST
