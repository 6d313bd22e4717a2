"""LLVM finds nothing wrong with the code that is generated: kernels, memory operations and the driver."""

from __future__ import annotations

from llvmlite import binding
from tests.differential.comparing import expected, run_on_device

from warpreg.simt import Device, Record, native


def test_generated_code_is_well_formed(monkeypatch, tmp_path):
    checked = []
    compile_module = native.object_code

    def verified(text: str, optimize: bool = False) -> bytes:
        binding.parse_assembly(text).verify()
        checked.append(text)
        return compile_module(text, optimize)

    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path))
    monkeypatch.setattr(native, "object_code", verified)
    monkeypatch.setattr(native, "_LOADED", {})
    case, _ = expected(5)
    run_on_device(case, Device(case.text, record=Record(path=True, addresses=True)))
    assert len(checked) > 2
