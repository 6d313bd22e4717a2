"""Compiled code beside the package: read where the cache has none, and only if it is sound and no one else's."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

import warpreg
from warpreg.cache import compiled_code, installed_code, store, trust

CONTENT = b"machine code"


def put(folder: Path, kind: str, content: bytes = CONTENT, key: str = "a") -> Path:
    path = folder / kind / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(hashlib.sha256(content).digest() + content)
    for place in (path.parent, path):
        place.chmod(0o755 if place.is_dir() else 0o644)
    return path


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of installed code, beside an empty cache."""
    folder = tmp_path / "installed"
    monkeypatch.setenv(installed_code.VARIABLE, str(folder))
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path / "cache"))
    trust.directory_refusal.cache_clear()
    return folder


@pytest.mark.parametrize("kind", installed_code.KINDS)
def test_it_is_read_where_the_cache_has_no_entry(installed: Path, kind: str) -> None:
    assert compiled_code.read(kind, "a") is None
    put(installed, kind)
    assert compiled_code.read(kind, "a") == CONTENT
    store.write(kind, "a", b"of the user")
    assert compiled_code.read(kind, "a") == b"of the user"


@pytest.mark.parametrize("kind", ["results", "findings", "kernels"])
def test_nothing_but_compiled_code_is_read(installed: Path, kind: str) -> None:
    put(installed, kind)
    assert compiled_code.read(kind, "a") is None


@pytest.mark.parametrize("place", [0, 31, 32, 43])
def test_a_damaged_file_does_not_exist(installed: Path, place: int) -> None:
    path = put(installed, "cores")
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    assert compiled_code.read("cores", "a") is None
    path.write_bytes(data[:place])
    assert compiled_code.read("cores", "a") is None


def test_a_file_or_folder_that_anyone_may_write_is_refused(installed: Path) -> None:
    path = put(installed, "cores")
    path.chmod(0o646)
    assert compiled_code.read("cores", "a") is None
    path.chmod(0o644)
    path.parent.chmod(0o757)
    assert compiled_code.read("cores", "a") is None


def test_a_link_is_refused(installed: Path, tmp_path: Path) -> None:
    path = put(installed, "cores")
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert compiled_code.read("cores", "a") is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_the_owner_is_root_the_user_or_who_has_installed_the_package(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(installed, "cores")
    os.chown(path, 12345, -1)
    assert compiled_code.read("cores", "a") is None
    package = tmp_path / "__init__.py"
    package.touch()
    os.chown(package, 12345, -1)
    monkeypatch.setattr(warpreg, "__file__", str(package))
    assert compiled_code.read("cores", "a") == CONTENT


@pytest.mark.parametrize(("group_may", "found"), [(0o664, CONTENT), (0o644, None)])
def test_a_group_may_write_it_that_may_write_the_package(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group_may: int, found: bytes | None
) -> None:
    package = tmp_path / "__init__.py"
    package.touch()
    package.chmod(group_may)
    monkeypatch.setattr(warpreg, "__file__", str(package))
    put(installed, "cores").chmod(0o664)
    assert compiled_code.read("cores", "a") == found


def test_an_empty_variable_chooses_none(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(installed, "cores")
    monkeypatch.setenv(installed_code.VARIABLE, "")
    assert installed_code.folders() == ()
    assert compiled_code.read("cores", "a") is None


def test_without_the_variable_it_is_a_package_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(installed_code.VARIABLE)
    monkeypatch.syspath_prepend(tmp_path)
    put(tmp_path / installed_code.PACKAGE, "cores")
    installed_code._found.cache_clear()
    try:
        assert tmp_path / installed_code.PACKAGE in installed_code.folders()
        assert installed_code.read("cores", "a") == CONTENT
    finally:
        installed_code._found.cache_clear()
