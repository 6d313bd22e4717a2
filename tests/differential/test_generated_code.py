"""LLVM's verifier accepts the generated code: kernels, memory operations and the driver."""

from __future__ import annotations

from pathlib import Path

import pytest
from llvmlite import binding
from tests.differential.comparing import expected, run_on_device

from warpreg.simt import Device, Record
from warpreg.simt.llvm import object_code


@pytest.mark.slow
def test_generated_code_is_well_formed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    checked = []
    compile_module = object_code.object_code

    def verified(text: str, optimize: bool = False) -> bytes:
        binding.parse_assembly(text).verify()
        checked.append(text)
        return compile_module(text, optimize)

    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path))
    monkeypatch.setattr(object_code, "object_code", verified)
    monkeypatch.setattr(object_code, "_LOADED", {})
    case, _ = expected(5)
    run_on_device(case, Device(case.text, record=Record(path=True, addresses=True)))
    assert len(checked) > 2
