"""The words in which compiled code leaves what it found wrong before it raises.

The record is one array of this process.  Machine code knows it by a symbol, which is resolved when the code is loaded,
so that code in the cache works in every process.  `piecewise_numba.guards` fills it.
"""

from __future__ import annotations

import functools
from typing import Any, cast

import numpy as np

from piecewise_numba.natives import native

SITE, KIND, VALUE, LOW, HIGH = range(5)
"""Of the check that failed: where it is (0: none failed), what it is about, the value, the least and the greatest
allowed.  The other words are the caller's."""
WORDS = 4096 + 2 * 8192
SYMBOL = "piecewise_fault_record"
RECORD = np.zeros(WORDS, np.int64)


class HookFaultError(Exception):
    """A check failed; the record says which."""


def provide_record() -> None:
    """Let machine code that is loaded from now on find the record."""
    import llvmlite.binding

    cast(Any, llvmlite.binding).add_symbol(SYMBOL, RECORD.ctypes.data)


@functools.cache
def _record() -> Any:
    from llvmlite import ir
    from numba.core import types
    from numba.extending import intrinsic

    from piecewise_numba.bare_arrays import words_type

    provide_record()
    words = words_type()(types.int64, 1, 1, ())

    @intrinsic
    def record(typing_context: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return context.get_c_value(builder, cast(Any, ir).IntType(64), SYMBOL)

        return words(), generate

    return record


@native(_record)
def fault_record() -> Any:
    """The record, int64[WORDS]."""
    return RECORD
