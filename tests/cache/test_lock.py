"""Locks between processes: one works, the others wait, and none waits for ever."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import pytest

from piecewise_numba.code_cache import kept
from piecewise_numba.recipe import compiled
from warpreg.cache import trust
from warpreg.cache.lock import held

forked = multiprocessing.get_context("fork")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("WARPREG_CACHE", str(tmp_path / "cache"))
    trust.directory_refusal.cache_clear()
    yield tmp_path / "cache"
    trust.directory_refusal.cache_clear()


def hold(key: str, has: Event) -> None:
    with held(key):
        has.set()
        time.sleep(60)


def elapsed(key: str, patience_s: float) -> float:
    begin = time.monotonic()
    with held(key, patience_s):
        return time.monotonic() - begin


def test_a_lock_is_waited_for_with_patience_and_freed_by_a_death() -> None:
    has = forked.Event()
    other = forked.Process(target=hold, args=("a", has))
    other.start()
    assert has.wait(30)
    assert elapsed("a", 0.3) >= 0.3  # gone on without it
    assert elapsed("b", 0.3) < 0.3
    other.kill()
    other.join()
    assert elapsed("a", 30) < 5


def needing(folder: Path, found: Any) -> None:
    def build() -> Any:
        with (folder / "built").open("a") as file:
            file.write("once\n")
        time.sleep(0.3)
        return compiled(doubled, (1,))

    found.put(kept(needing, "0" * 64, [], build)(21))


def doubled(number: int) -> int:
    return 2 * number


def test_of_three_processes_that_need_a_core_one_compiles_it(tmp_path: Path) -> None:
    found = forked.Queue()
    processes = [forked.Process(target=needing, args=(tmp_path, found)) for _ in range(3)]
    for one in processes:
        one.start()
    assert [found.get(timeout=30) for _ in processes] == [42] * 3
    for one in processes:
        one.join()
    assert (tmp_path / "built").read_text() == "once\n"


def test_a_cache_that_is_refused_has_no_locks(cache: Path) -> None:
    cache.mkdir(mode=0o777)
    cache.chmod(0o777)
    trust.directory_refusal.cache_clear()
    assert elapsed("a", 30) < 5
    assert list(cache.iterdir()) == []
