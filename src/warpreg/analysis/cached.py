"""Caches analyses in ``kernel.analyses``.  A pass returns a new kernel, so cached analyses are never stale."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeVar, cast

from warpreg.ir.kernel import Kernel

T = TypeVar("T")


def cached_analysis(compute: Callable[[Kernel], T]) -> Callable[[Kernel], T]:
    """Make ``compute(kernel)`` run at most once per kernel."""
    key = f"{compute.__module__}.{compute.__qualname__}"

    @functools.wraps(compute)
    def cached(kernel: Kernel) -> T:
        if key not in kernel.analyses:
            kernel.analyses[key] = compute(kernel)
        return cast("T", kernel.analyses[key])

    return cached
