"""Compilation errors of a core: the hook at fault and the line of its author."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import FunctionType
from typing import Any

from warpreg.designs.errors import DesignError
from warpreg.designs.interface.hooks import HOOKS, authors_of_hook, place


def types_of(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Numba types of some values."""
    import numba

    typeof: Any = numba.typeof
    return tuple(typeof(value) for value in values)


def check_return_types(hooks: Mapping[str, FunctionType], compiled: Mapping[str, Any]) -> None:
    """Raise DesignError for a hook that, as compiled in a core, returns another type than its specification."""
    for name, dispatcher in compiled.items():
        if wrong := _wrong_return_type(name, hooks[name], dispatcher):
            raise DesignError(wrong)


def _wrong_return_type(name: str, hook: FunctionType, dispatcher: Any) -> str | None:
    import numba

    wanted = HOOKS[name].returns_int
    for signature in dispatcher.nopython_signatures:
        found = signature.return_type
        if not isinstance(found, (numba.types.Integer, numba.types.Boolean) if wanted else numba.types.NoneType):
            where = place(authors_of_hook(hook)[0].__code__)
            return f"{where}: hook {name} returns {'an integer' if wanted else 'nothing'}, found {found}"
    return None


def typical_arguments(values: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """The arguments that a core passes to each hook, given a value of the right type for each parameter name."""
    return {name: tuple(values.get(p, 0) for p in spec.parameters) for name, spec in HOOKS.items()}


def culprit(
    hooks: Mapping[str, FunctionType], compiled: Mapping[str, Any], arguments: Mapping[str, tuple[Any, ...]]
) -> str | None:
    """The fault of the first hook that does not compile alone or returns the wrong type, preceded by its line."""
    from numba.core.errors import NumbaError

    for name, dispatcher in compiled.items():
        try:
            dispatcher.get_call_template(types_of(arguments[name]), {})
        except NumbaError as error:
            return f"{author_line(hooks[name], error)}: hook {name}: {brief(error)}"
        if wrong := _wrong_return_type(name, hooks[name], dispatcher):
            return wrong
    return None


def author_line(function: FunctionType, error: Exception) -> str:
    """The line of the error that numba reports, if it is in a file of the hook's author, else the hook itself."""
    own = {Path(file).name: file for file in authors_files(function)}
    lines = [
        f"{own[Path(where).name]}:{line}"
        for where, line in re.findall(r'File "([^"]+)", line (\d+)', str(error))
        if Path(where).name in own
    ]
    return lines[0] if lines else place(authors_of_hook(function)[0].__code__)


def authors_files(function: FunctionType) -> list[str]:
    """The file of a hook; of a combined hook, the files of the hooks that it calls."""
    return [part.__code__.co_filename for part in authors_of_hook(function)]


def brief(error: Exception) -> str:
    """Numba's message on one line, without colours, traceback and advice."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = [line.strip(" >") for line in plain.splitlines()]
    told = [
        line for line in lines if line and not line.startswith(("Failed in", "During:", "File ", "def ", "<source"))
    ]
    if not told:
        return type(error).__name__
    if "setitem(readonly array" in plain:
        return "it writes an array that is shared by the kernel; state that changes has a scope, such as per_warp"
    return " ".join(told[:2]) if told[0].endswith(":") else told[0]
