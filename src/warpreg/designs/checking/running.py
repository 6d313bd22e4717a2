"""Runs checked hooks: says what the machine has beforehand, and turns a failed check into a message."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType, TracebackType

from piecewise_numba.fault_record import HIGH, KIND, LOW, RECORD, SITE, VALUE, HookFaultError
from piecewise_numba.noinline import out_of_line
from warpreg.designs.checking import words
from warpreg.designs.checking.kinds import said
from warpreg.designs.errors import DesignError
from warpreg.designs.interface.hooks import HOOKS, authors_of_hook, parts_of_hook, place
from warpreg.ir.errors import WarpregError

_one_at_a_time = threading.RLock()


@dataclass(frozen=True, slots=True)
class Limits:
    """What hooks may name, as far as it is known: banks, slices and rows of the register file, registers that a warp
    holds, warp slots of all SMs and of one; ``named``: the registers that the kernel names."""

    banks: int = words.NO_LIMIT
    slices: int = 31
    rows: int = words.NO_LIMIT
    registers: int = words.NO_LIMIT
    warps: int = words.NO_LIMIT
    slots: int = words.NO_LIMIT
    named: int = 0


@contextmanager
def watched(hooks: Mapping[str, FunctionType], limits: Limits) -> Iterator[None]:
    """Run hooks inside.  Raises DesignError, with the author's file and line, where they fail."""
    if not has_checks(hooks.values()):
        yield
        return
    with _one_at_a_time:
        _begin(limits)
        try:
            yield
            if RECORD[SITE]:  # a hook has caught the exception
                raise DesignError(_failed(hooks))
        except WarpregError:
            raise
        except HookFaultError as error:
            raise DesignError(_failed(hooks)) from error
        except Exception as error:
            if not RECORD[words.CALLER]:
                raise
            raise DesignError(_raised(hooks, error)) from error
        finally:
            _begin(Limits())


def has_checks(hooks: Iterable[FunctionType]) -> bool:
    """Whether one of the hooks is checked."""
    return any("sites" in vars(part) for hook in hooks for part in parts_of_hook(hook))


def called_from(hook: FunctionType) -> FunctionType:
    """A checked hook as a core calls it that is too large to hold it where it is called; any other hook as it is."""
    return out_of_line(hook) if has_checks((hook,)) else hook


def _begin(limits: Limits) -> None:
    RECORD[:] = 0
    RECORD[[words.FIRST_SOURCE, words.FIRST_RESULT, words.FIRST_WIDTH, words.FIRST_WARP]] = words.NOT_PLANNED
    RECORD[[words.BANKS, words.SLICES, words.ROWS]] = limits.banks, limits.slices, limits.rows
    RECORD[[words.REGISTERS, words.WARPS, words.SLOTS]] = limits.registers, limits.warps, limits.slots
    RECORD[words.IS_SHORT] = limits.named > limits.registers
    RECORD[words.FEW] = -1 if RECORD[words.IS_SHORT] else words.KEPT_BITS


_begin(Limits())
"""For hooks that are called by themselves."""


def _failed(hooks: Mapping[str, FunctionType]) -> str:
    """The check that failed."""
    number, kind, value, low, high = RECORD[[SITE, KIND, VALUE, LOW, HIGH]].tolist()
    hook = _called(hooks)
    site = vars(hook)["sites"][number]
    author = place(authors_of_hook(hook)[0].__code__)
    within = "" if author == f"{site.file}:{site.line}" else f"{_hook_name()}"
    if within and author.rpartition(":")[0] != site.file:
        within += f" ({author})"
    what = said(kind, value, low, high)
    about = ", ".join(part for part in (within, _whom()) if part)
    return f"{site.file}:{site.line}: {site.expression}: {what} ({about})"


def _raised(hooks: Mapping[str, FunctionType], error: Exception) -> str:
    """Another exception in a hook."""
    files = {part.__code__.co_filename for hook in hooks.values() for part in authors_of_hook(hook)}
    found = place(authors_of_hook(_called(hooks))[0].__code__)
    for file, line in _frames(error.__traceback__):
        if file in files:
            found = f"{file}:{line}"
    return f"{found}: {type(error).__name__}: {error} ({_hook_name()}, {_whom()})"


def _frames(trace: TracebackType | None) -> Iterator[tuple[str, int]]:
    while trace is not None:
        yield trace.tb_frame.f_code.co_filename, trace.tb_lineno
        trace = trace.tb_next


def _called(hooks: Mapping[str, FunctionType]) -> FunctionType:
    """The checked hook that was called last."""
    caller = int(RECORD[words.CALLER])
    name = _hook_name()
    found = [part for part in parts_of_hook(hooks[name]) if vars(part).get("design") == caller >> words.HOOK_BITS]
    return found[0]


def _hook_name() -> str:
    return list(HOOKS)[int(RECORD[words.CALLER]) & (1 << words.HOOK_BITS) - 1]


def _whom() -> str:
    parameters = HOOKS[_hook_name()].parameters
    told = {"SM": ("sm", words.SM), "scheduler": ("scheduler", words.SCHEDULER), "warp": ("warp", words.WARP),
            "pc": ("pc", words.PC)}  # fmt: skip
    return ", ".join(f"{name} {RECORD[word]}" for name, (own, word) in told.items() if own in parameters)
