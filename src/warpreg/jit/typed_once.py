"""What numba works out about a builtin function once, it need not work out again for the same types of arguments.

numba types every ``+`` and every index by trying one rule after the other, again in each function and each round of
inference: a sixth of the time that a first start took.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from numba.core.compiler_lock import global_compiler_lock
from numba.core.targetconfig import ConfigStack, TargetConfig
from numba.core.types.functions import BaseFunction


def _hash(flags: Any) -> int:
    """What numba looks implementations up by has a compilation's flags in it.  Their own hash sorts the names of all
    options, which never differ, and took a tenth of a compilation.
    """
    return hash(type(flags))


def _is_equal(flags: Any, others: Any) -> bool:
    """As numba has it, which spells out all options of both first."""
    if not isinstance(others, cast(Any, TargetConfig)):
        return False
    return flags is others or flags._values == others._values or flags.values() == others.values()


cast(Any, TargetConfig).__hash__ = _hash
cast(Any, TargetConfig).__eq__ = _is_equal


@contextmanager
def typed_once() -> Iterator[None]:
    """Keep meanwhile how calls of builtin functions are typed."""
    function = cast(Any, BaseFunction)
    with cast(Any, global_compiler_lock):
        work_out = function.get_call_type
        function.get_call_type = _kept(work_out)
        try:
            yield
        finally:
            function.get_call_type = work_out


def _kept(work_out: Any) -> Any:
    found: dict[Any, Any] = {}

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        key = id(self), context, args, tuple(kws.items()), cast(Any, ConfigStack).top_or_none()
        if key not in found:
            signature = work_out(self, context, args, kws)
            found[key] = self, signature, self.get_impl_key(signature)
        _, signature, implementation = found[key]
        self._impl_keys[signature.args] = implementation
        return signature

    return get_call_type
