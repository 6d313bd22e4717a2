"""Files that are not PTX, and kernels that cannot run or go wrong: status 1 or 2 and one message, never a traceback."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from warpreg import ptx
from warpreg.cache import store
from warpreg.cli import main
from warpreg.ir.errors import WarpregError

HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"
LAUNCH = ["--grid", "1", "--block", "64", "--arg", "buffer:u32:64", "--max-instructions", "20000"]
DEEP = 20_000


def kernel(body: str, before: str = "", name: str = "k") -> str:
    registers = ".reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %rd<4>;"
    return f"{HEADER}{before}\n.visible .entry {name}(.param .u64 out)\n{{\n{registers}\n{body}\nret;\n}}\n"


def said(capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str | bytes, status: int, *more: str) -> str:
    path = tmp_path / "bad.ptx"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert main(["run", str(path), *LAUNCH, *more]) == status
    message = capsys.readouterr().err
    assert message.startswith("warpreg: ")
    assert "Traceback" not in message
    return message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "bad.ptx:1:1: missing .version"),
        (b"hello\nworld\n", "bad.ptx:1:1: expected a directive, found 'hello'"),
        (bytes(range(256)) * 8, "bad.ptx:1:1: "),
        (kernel("\0"), "expected an instruction, found '\0'"),
        (kernel("{" * DEEP + "}" * DEEP), "bad.ptx:"),
        (kernel("{" * DEEP), "bad.ptx:"),
        (kernel("mov.b64 %rd1, " + "{" * DEEP + "%r1" + "}" * DEEP + ";"), "bad.ptx:"),
        (kernel("", ".global .u32 x = " + "(" * DEEP + "1" + ")" * DEEP + ";"), "bad.ptx:4:"),
        (kernel("", ".global .u32 x = " + "-" * DEEP + "1;"), "bad.ptx:4:"),
        (kernel("", ".global .u32 x[1] = " + "{" * DEEP + "1" + "}" * DEEP + ";"), "bad.ptx:4:"),
        (kernel("", ".global .u32 x = " + "1?" * DEEP + "1" + ":1" * DEEP + ";"), "bad.ptx:4:"),
        (kernel("add.u32 %r1, %r1, " + "9" * 100_000 + ";"), "bad.ptx:8:"),
        (kernel("add.u32 %r1, %r1, " + "a" * 100_000 + ";"), "bad.ptx:8:"),
        (kernel("/* no end"), "unterminated comment"),
        (kernel("L: add.u32 %r1, %r1, 1;\nL: bra L;"), "'L' is already declared in this scope"),
        (kernel(".reg .b32 %r<4>;"), "register '%r<4>' is already declared in this scope"),
        (kernel("ret;") + kernel("ret;").partition("64\n")[2], "function 'k' is already defined"),
        (kernel("bra NOWHERE;"), "undeclared label 'NOWHERE'"),
        (kernel("", ".global .u64 a = b;\n.global .u64 b = a;"), "undeclared name 'b'"),
        (kernel(".reg .b32 %q<2000000000>;"), "2000000000 registers is not a sensible number"),
    ],
    ids=range(20),
)
def test_what_is_not_ptx(text: str | bytes, message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert message in said(capsys, tmp_path, text, 1)
    with pytest.raises(WarpregError):
        ptx.parse(text if isinstance(text, str) else text.decode(errors="replace"))


def test_a_long_line_and_a_long_sum_are_no_errors() -> None:
    ptx.parse(kernel("add.u32 %r1, %r1, 1; " * 5000, ".global .u32 x = " + "1+" * 5000 + "1;"))


STORE = "ld.param.u64 %rd1, [out]; st.global.u32 [%rd1], %r1;"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (kernel("L: bra L;"), "more than 20000 warp-instructions; the warp was in block 'L'"),
        (
            kernel("mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 bra A; bar.sync 1; ret; A: bar.sync 2;"),
            "barrier deadlock: warp 0 waits at barrier 2",
        ),
        (kernel("bar.sync 16;"), "names a barrier beyond 16"),
        (kernel("ld.param.u64 %rd1, [out]; st.global.v2.u32 [%rd1+4], {%r1, %r1};"), "is not a multiple of 8 bytes"),
        (kernel("ld.const.u32 %r1, [c+16];" + STORE, ".const .u32 c[4];"), "0 bytes past the end of 'c'"),
        (kernel("ld.param.u32 %r1, [out+8];" + STORE), "reads bytes 8 to 11 of 8 bytes of parameters"),
        (kernel(".shared .b8 x[99999999]; st.shared.u8 [x], %r1;"), "99999999 bytes of shared memory are not possible"),
        (kernel(".local .b8 x[99999999]; st.local.u8 [x], %r1;"), "100000000 bytes of local memory a thread"),
        (kernel("", ".global .b8 x[99999999999999];"), "bytes of global memory do not fit"),
        (kernel("").replace(".param .u64 out", ".param .b8 out[99999]"), "at most 32764 are possible"),
        (kernel("trap;"), "the kernel gave up"),
        (
            kernel("call f;", ".func f() { .local .b8 x[4096]; .reg .b64 %a; mov.u64 %a, x; call f; ret; }"),
            "stack overflow",
        ),
        (
            kernel(
                "mov.u32 %r1, 0; tex.1d.v4.s32.s32 {%r1, %r1, %r2, %r3}, [image, {%r1}];" + STORE,
                ".global .texref image;",
            ),
            "texture reference 'image' with nothing bound to it",
        ),
        (
            kernel(
                "tex.2dms.v4.s32.s32 {%r1, %r1, %r2, %r3}, [image, {%r1, %r1, %r1, %r1}];", ".global .texref image;"
            ),
            "tex.2dms.v4.s32.s32 is not supported: it fetches one of several samples",
        ),
    ],
    ids=range(14),
)
def test_kernels_that_go_wrong(text: str, message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert message in said(capsys, tmp_path, text, 1)


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (["--block", "2048"], 1, "a block has at most 1024 threads, not 2048"),
        (["--grid", "70000x70000"], 1, "a grid has at most 2147483647 thread blocks"),
        (["--grid", "0"], 2, "'0': expected one to three positive numbers"),
        (["--shared-bytes", "99999999"], 1, "99999999 bytes of dynamic shared memory are not possible"),
        (["--arg", "u32:1"], 2, "takes 1 argument"),
        (["--kernel", "other"], 1, "no kernel in"),
    ],
    ids=range(6),
)
def test_launches_that_are_not_possible(
    options: list[str], status: int, message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert message in said(capsys, tmp_path, kernel(STORE), status, *options)


@pytest.mark.slow
def test_a_cache_that_cannot_be_written_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path / "file" / "cache"))
    path = tmp_path / "good.ptx"
    path.write_text(kernel(STORE + f"mov.u32 %r2, {id(path)};"))
    store._warn.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert main(["run", str(path), *LAUNCH]) == 0
    assert capsys.readouterr().err == f"warpreg: nothing is kept in cache {tmp_path}/file/cache: Not a directory\n"
