"""``warpreg explain --serve``: what it shows, and what it refuses."""

from __future__ import annotations

import threading
import urllib.request
from pathlib import Path

import click
import pytest
from tests.ptx.cuda.compilers import needs_nvrtc
from tests.report.explorer.samples import TEXT

from warpreg.cli import explorer as command
from warpreg.cli import main
from warpreg.cli.explorer import subject_of
from warpreg.evaluation.runs.run import AS_COMPILED
from warpreg.ptx.cuda.sealed import compile_sealed
from warpreg.report.explorer.subject import CUDA, PTX
from warpreg.report.loopback import MAX_BODY_BYTES, LoopbackServer

Output = pytest.CaptureFixture[str]


@needs_nvrtc
def test_a_workload_is_shown_by_its_cuda_source() -> None:
    subject = subject_of("reduction", None, AS_COMPILED, "rfc", {"entries": 3})
    assert (subject.name, subject.language, subject.chosen) == ("reduction.cu", CUDA, {"rfc": {"entries": 3}})
    assert "__global__" in subject.text
    assert {"mrf", "orf-lrf", "rfc"} <= set(subject.designs)


def test_without_a_compiler_it_is_shown_by_its_ptx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "_has_compiler", lambda: False)
    subject = subject_of("reduction", None, AS_COMPILED, None, {})
    assert (subject.name, subject.language) == ("reduction.ptx", PTX)
    assert ".entry reduce_sum" in subject.text


def test_a_file_of_a_user_has_its_headers_and_designs(tmp_path: Path) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    (tmp_path / "k.cu").write_text('#include "k.h"\n#include <cuda_fp16.h>\n', encoding="utf-8")
    (tmp_path / "k.h").write_text("// nothing\n", encoding="utf-8")
    subject = subject_of(str(tmp_path / "k.cu"), "fill<int>", AS_COMPILED, None, {})
    assert subject.headers == {"k.h": b"// nothing\n"}
    assert subject.instances == subject.kernels == ("fill<int>",)


@needs_nvrtc
def test_a_byte_order_mark_is_no_part_of_a_source(tmp_path: Path) -> None:
    """NVRTC, unlike nvcc, rejects one."""
    (tmp_path / "k.cu").write_text('#include "k.h"\n__global__ void k(N *x) { x[0] = 1; }\n', encoding="utf-8-sig")
    (tmp_path / "k.h").write_text("using N = int;\n", encoding="utf-8-sig")
    subject = subject_of(str(tmp_path / "k.cu"), None, AS_COMPILED, None, {})
    assert "N = int" in subject.headers["k.h"].decode("ascii")
    made = compile_sealed(subject.text, subject.name, own=subject.headers)
    assert ".entry" in made.ptx


def test_a_source_that_no_request_can_contain_is_refused(tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(f"{TEXT}{' ' * MAX_BODY_BYTES}", encoding="utf-8")
    with pytest.raises(click.UsageError, match="--serve takes sources of at most 1,032,192 bytes, "):
        subject_of(str(tmp_path / "k.ptx"), None, AS_COMPILED, None, {})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["k.cubin"], "--serve requires a source: a .cu or .ptx file, or a workload, not k.cubin"),
        (["reduction", "--html", "x.html"], "--serve shows a page: leave out"),
        (["reduction", "--json"], "--serve shows a page: leave out"),
        (["reduction", "--port", "70000"], "70000 is not in the range"),
    ],
)
def test_what_cannot_be_served_is_said(arguments: list[str], message: str, capsys: Output) -> None:
    assert main(["explain", *arguments, "--serve"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.slow
def test_the_address_is_printed_and_the_file_stays(
    tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(TEXT, encoding="utf-8")
    pages: list[str] = []

    def run(server: LoopbackServer, *, show: bool) -> None:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        with urllib.request.urlopen(server.address) as response:
            pages.append(response.read().decode())
        server.shutdown()

    monkeypatch.setattr(LoopbackServer, "run", run)
    assert main(["explain", str(path), "--serve"]) == 0
    assert "k.ptx is at http://127.0.0.1:" in capsys.readouterr().out
    assert "mul.lo.u32" in pages[0]
    assert path.read_text(encoding="utf-8") == TEXT
