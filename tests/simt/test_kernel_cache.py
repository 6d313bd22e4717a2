"""Compiled code on disk: reused by other processes, verified, and never the cause of a failed run."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.simt.programs import COMPILED, VIRTUAL, module

import warpreg
from warpreg import ptx
from warpreg.cache import store
from warpreg.codegen import PLAIN, CompileOptions, Cycles
from warpreg.ir.opcodes import Latency
from warpreg.machine_code.assembler import MachineCode
from warpreg.simt import Device, Record
from warpreg.simt.kernel import kernel_cache, native_kernel
from warpreg.simt.llvm import object_code

TEXT = module("mul.lo.u32 %r1, %t, 3; st.global.u32 [%my_out], %r1;", {"out": np.zeros(32, np.uint32)})
RESULT = [3 * t for t in range(32)]


def result(text: str = TEXT, **settings: Any) -> list[int]:
    device = Device(text, **settings)
    out = device.zeros(32, np.uint32)
    device.launch("k", 1, 32, out)
    found: list[int] = out.download().tolist()
    return found


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache that this process has not loaded anything from."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("WARPREG_CACHE", str(folder))
    monkeypatch.setattr(object_code, "_LOADED", {})
    store._warn.cache_clear()
    return folder


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is compiled from now on: the first line of each LLVM module."""
    made: list[str] = []
    real = object_code.object_code

    def counting(text: str, optimize: bool = False) -> bytes:
        made.append(text.splitlines()[0])
        return real(text, optimize)

    monkeypatch.setattr(object_code, "object_code", counting)
    return made


def test_the_second_device_compiles_nothing(cache: Path, compiled: list[str]) -> None:
    assert result() == RESULT
    assert len(compiled) == 3  # the kernel, the driver and the store
    object_code._LOADED.clear()
    assert result() == RESULT
    assert len(compiled) == 3
    assert sorted(p.parent.name for p in cache.glob("*/*")) == ["kernels", "objects", "objects"]


def test_text_options_and_recording_have_entries_of_their_own(cache: Path, compiled: list[str]) -> None:
    result()
    kernels = cache / "kernels"
    settings: tuple[dict[str, Any], ...] = (
        {"options": VIRTUAL},
        {"record": Record(widths=True)},
        {"options": CompileOptions()},
    )
    counts = [(result(**given), len(list(kernels.iterdir())))[1] for given in settings]
    assert counts == [2, 3, 3]
    result(TEXT.replace(", 3;", ", 4;"))
    assert len(list(kernels.iterdir())) == 4


OTHER: Mapping[type, Mapping[str, Any]] = {
    Record: {"path": True, "addresses": True, "widths": True, "patterns": True},
    CompileOptions: {
        "max_registers": 40,
        "schedule": False,
        "fuse_multiply_add": False,
        "predicate": False,
        "target": replace(PLAIN, cycles=Cycles(interval={"memory": 2})),  # a field that comparisons leave out
        "expand_division": False,
        "level": "ptx",
        "banks": 4,
        "cycles": Cycles({Latency.ALU: 7}),
        "address_bits": 32,
        "rotate": 3,
        "sink": False,
        "rematerialize": False,
        "live_words": 8,
        "assembler": MachineCode("sm_80", "13.5"),
    },
}
"""For every option of a kernel, another value."""


@pytest.mark.parametrize("kind", OTHER)
def test_every_option_is_in_the_key(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys are compared instead of code, so that nothing is compiled."""

    class Asked(Exception):
        """The key of an entry."""

    def refuse(key: str) -> None:
        raise Asked(key)

    monkeypatch.setattr(kernel_cache, "_read", refuse)

    def key(given: Any, text: str = TEXT, name: str = "k") -> str:
        options, record = (given, Record()) if kind is CompileOptions else (CompileOptions(), given)
        with pytest.raises(Asked) as found:
            kernel_cache.load_or_compile(ptx.parse(text), name, options, record)
        return str(found.value)

    usual = kind()
    assert [field.name for field in fields(kind)] == list(OTHER[kind])
    keys = {key(replace(usual, **{name: value})) for name, value in OTHER[kind].items()}
    keys |= {key(usual), key(usual, name="another"), key(usual, TEXT.replace(", 3;", ", 4;"))}
    assert len(keys) == len(OTHER[kind]) + 3


def test_operations_with_the_same_name_and_other_options_are_libraries_of_their_own() -> None:
    """A field that the name of an operation leaves out would give the code of the other one."""

    @dataclass(frozen=True)
    class Named:
        value: int
        name: str = "answer"

        def module(self) -> str:
            return f"define i32 @answer() {{ ret i32 {self.value} }}"

    found = [ctypes.CFUNCTYPE(ctypes.c_int)(native_kernel._operation(Named(value))[1])() for value in (1, 2)]
    assert found == [1, 2]


def test_another_processor_or_compiler_has_entries_of_its_own(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result()
    monkeypatch.setattr(object_code, "identity", lambda: "another")
    object_code._LOADED.clear()
    result()
    assert len(list(cache.glob("*/*"))) == 6


def test_an_identity_names_processor_compiler_and_sources() -> None:
    cpu, features, *versions = object_code.identity().split("\n")
    assert (cpu, features) == object_code.host()
    assert len(versions) == 3
    assert len(versions[-1]) == 64


def test_a_file_that_moves_between_packages_is_another_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each content counts with its place; otherwise the end of one file could be the start of the next."""
    monkeypatch.setattr(warpreg, "__file__", str(tmp_path / "__init__.py"))
    found = []
    for files in (
        {"ir/a.py": "ab", "ir/b.py": "c"},
        {"ir/a.py": "a", "ir/b.py": "bc"},
        {"ir/a.py": "ab", "ir/c.py": "c"},
    ):
        shutil.rmtree(tmp_path / "ir", ignore_errors=True)
        (tmp_path / "ir").mkdir()
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        object_code.identity.cache_clear()
        found.append(object_code.identity())
    object_code.identity.cache_clear()
    assert len(set(found)) == 3


SECOND = """
import sys
from warpreg.simt import Device
from warpreg.simt.llvm import object_code
def refuse(*given):
    raise AssertionError("compiled again")
object_code.object_code = refuse
device = Device(sys.argv[1])
out = device.zeros(32, "u4")
device.launch("k", 1, 32, out)
print(out.download().tolist())
"""


@pytest.mark.slow
def test_a_second_process_compiles_nothing(cache: Path) -> None:
    result()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", SECOND, TEXT], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == str(RESULT), done.stderr


def damages() -> list[Callable[[bytes], bytes]]:
    return [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: data + b"\0",
        lambda data: bytes([data[0] ^ 1]) + data[1:],
        lambda data: data[:200] + bytes([data[200] ^ 255]) + data[201:],
        lambda data: bytes(len(data)),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("damage", damages())
def test_damaged_entries_are_made_anew(cache: Path, compiled: list[str], damage: Callable[[bytes], bytes]) -> None:
    result()
    files = list(cache.glob("*/*"))
    sound = {path: path.read_bytes() for path in files}
    for path in files:
        path.write_bytes(damage(sound[path]))
    object_code._LOADED.clear()
    assert result() == RESULT
    assert len(compiled) == 6
    assert all(store.read(path.parent.name, path.name) is not None for path in files)


def test_a_cache_that_cannot_be_written_is_worth_one_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr(object_code, "_LOADED", {})
    store._warn.cache_clear()
    with pytest.warns(RuntimeWarning, match=r"^nothing is kept in cache .*/file/cache: Not a directory$") as seen:
        assert result() == RESULT
    assert len(seen) == 1
    object_code._LOADED.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert result() == RESULT


def test_a_full_disk_leaves_no_half_entry(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.warns(RuntimeWarning, match="No space left on device"):
        assert result() == RESULT
    assert [path for path in cache.rglob("*") if path.is_file()] == []


def test_a_module_made_without_text_is_keyed_by_what_it_prints_to(cache: Path, compiled: list[str]) -> None:
    bare = replace(ptx.parse(TEXT), digest="")
    kernel_cache.load_or_compile(bare, "k", COMPILED, Record())
    count = len(compiled)
    kernel_cache.load_or_compile(replace(bare), "k", COMPILED, Record())
    assert len(compiled) == count
