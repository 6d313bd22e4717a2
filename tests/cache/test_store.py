"""Cache entries: verified, atomic, bounded, and refused if others could have written them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from warpreg.cache import store, trust
from warpreg.cache.directory import CacheLimitError, CacheWarning, limit_bytes
from warpreg.cli import main

MIB = 1 << 20


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache that this process knows nothing of."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("WARPREG_CACHE", str(folder))
    monkeypatch.setattr(store, "_grown", {})
    trust.directory_refusal.cache_clear()
    store._warn.cache_clear()
    return folder


def test_what_is_written_is_read_and_belongs_to_the_user_alone(cache: Path) -> None:
    store.write("kernels", "a", b"content")
    assert store.read("kernels", "a") == b"content"
    assert store.read("kernels", "b") is None
    assert (cache / "kernels" / "a").stat().st_mode & 0o777 == 0o600
    assert (cache / "kernels").stat().st_mode & 0o777 == cache.stat().st_mode & 0o777 == 0o700


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(st.binary(max_size=40), st.integers(0, 71), st.integers(1, 255))
def test_a_damaged_entry_does_not_exist(cache: Path, content: bytes, place: int, flip: int) -> None:
    store.write("findings", "a", content)
    path = cache / "findings" / "a"
    data = bytearray(path.read_bytes())
    data[place % len(data)] ^= flip
    path.write_bytes(data)
    assert store.read("findings", "a") is None
    path.write_bytes(data[: place % len(data)])
    assert store.read("findings", "a") is None


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_an_entry_that_others_may_write_is_refused_with_one_line(cache: Path, mode: int) -> None:
    store.write("kernels", "a", b"content")
    path = cache / "kernels" / "a"
    path.chmod(mode)
    with pytest.warns(CacheWarning, match=f"^cache entry not used: others may write {path}$") as seen:
        assert [store.read("kernels", "a") for _ in range(2)] == [None, None]
    assert len(seen) == 1


def test_a_link_is_refused(cache: Path, tmp_path: Path) -> None:
    store.write("kernels", "a", b"content")
    (cache / "kernels" / "a").rename(tmp_path / "elsewhere")
    (cache / "kernels" / "a").symlink_to(tmp_path / "elsewhere")
    with pytest.warns(CacheWarning, match="is a symbolic link"):
        assert store.read("kernels", "a") is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_an_entry_of_another_user_is_refused(cache: Path) -> None:
    store.write("kernels", "a", b"content")
    os.chown(cache / "kernels" / "a", 12345, -1)
    with pytest.warns(CacheWarning, match="belongs to user 12345"):
        assert store.read("kernels", "a") is None


def read_and_write() -> bytes | None:
    store.write("kernels", "b", b"more")
    return store.read("kernels", "a")


def test_a_directory_that_others_may_write_is_refused_and_the_run_goes_on(cache: Path) -> None:
    store.write("kernels", "a", b"content")
    cache.chmod(0o777)
    trust.directory_refusal.cache_clear()
    with pytest.warns(CacheWarning, match=f"^cache {cache} not used: others may write {cache}$") as seen:
        assert read_and_write() is None
    assert len(seen) == 1
    assert not (cache / "kernels" / "b").exists()


def test_a_directory_below_one_that_others_may_write_is_refused_unless_that_is_sticky(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    assert trust.directory_refusal(shared / "one") == f"others may write {shared}"
    shared.chmod(0o1777)
    assert trust.directory_refusal(shared / "two") is None


def test_the_least_recently_used_entries_go_when_the_cache_is_full(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four entries of 0.3 MiB in a bound of 1 MiB: 1.2 MiB, so entries go until at most 0.8 MiB are left, which is two
    entries; the first one has been used since.
    """
    monkeypatch.setenv("WARPREG_CACHE_LIMIT", "1")
    for place, key in enumerate("abc"):
        store.write("objects", key, bytes(3 * MIB // 10))
        os.utime(cache / "objects" / key, (place, place))
    assert store.read("objects", "a") is not None
    store.write("objects", "d", bytes(3 * MIB // 10))
    assert {path.name for path in (cache / "objects").iterdir()} == {"a", "d"}


def test_a_bound_that_is_no_number_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPREG_CACHE_LIMIT", "4 GiB")
    with pytest.raises(CacheLimitError, match=r"^WARPREG_CACHE_LIMIT: expected a number of MiB, found '4 GiB'$"):
        limit_bytes()


def test_a_full_disk_is_one_warning_that_names_the_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.warns(CacheWarning, match=f"^nothing is kept in cache {cache}: No space left on device$") as seen:
        assert read_and_write() is None
    assert len(seen) == 1
    assert [path for path in cache.rglob("*") if path.is_file()] == []


def test_a_file_that_another_command_is_writing_is_no_damaged_entry(cache: Path) -> None:
    """``cache --verify`` beside a sweep; what was left long ago, by a process that was killed, is damaged."""
    store.write("results", "a", b"content")
    writing = cache / "results" / f"{store.UNFINISHED}b"
    writing.write_bytes(b"the first by")
    assert main(["cache", "--verify"]) == 0
    assert writing.exists()
    os.utime(writing, (0, 0))
    assert main(["cache", "--verify"]) == 1
    assert not writing.exists()
