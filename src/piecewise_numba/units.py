"""Units of machine code: what is linked, optimised and emitted together.

The unit of an entry point contains all functions that it reaches, except those that stand *apart*: functions that call
a hook that is out of line, and functions that are marked so (`piecewise_numba.noinline.apart`).  Each of these is a
unit, with all that it calls.  An edit of the hook then leaves the machine code of the entry point as it is, and LLVM
works on the hook alone.  Entry points that reach the same marked function share its machine code.

Machine code of several recipes is loaded side by side, so symbols that are visible contain a label of the recipe.
Stored units contain `PLACEHOLDER` in its place.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite.binding

from piecewise_numba.natives import Function
from piecewise_numba.noinline import is_apart
from piecewise_numba.pieces import OWN, called

llvm: Any = llvmlite.binding
KIND = "units"
LABEL_LENGTH = 32
GROUP = 16
"""Modules that are linked to one of them at a time.  Chosen, not measured."""
PLACEHOLDER = hashlib.sha256(b"the label of a recipe").hexdigest()[:LABEL_LENGTH]
PART = f"apart.000.{PLACEHOLDER}"
"""The symbol of a function that stands apart, where it is stored: whichever it is for an entry point."""


@dataclass(frozen=True, eq=False)
class Instance:
    """A compiled function: its symbol in this process, the types of its arguments and result, its bitcode, the calls in
    it, and whether another process would find the same.
    """

    name: str
    function: Function
    arguments: tuple[Any, ...]
    result: Any
    code: bytes
    calls: Sequence[Instance]
    is_kept: bool


def relabelled(code: bytes, before: str, after: str) -> bytes:
    """Machine code with another label of the same length."""
    assert len(before) == len(after), (before, after)
    return code.replace(before.encode(), after.encode())


class Linker:
    """Links instances to units.  ``outside``: hooks that are out of line; ``settings`` count in all keys."""

    def __init__(self, by_name: dict[str, Instance], outside: Collection[Function], label: str, settings: str) -> None:
        self._by_name = by_name
        self._outside = outside
        self.label = label
        self._settings = settings

    @property
    def has_parts(self) -> bool:
        """Whether functions stand apart that call a hook."""
        return bool(self._outside)

    def symbol(self, number: int) -> str:
        """The symbol of a function that stands apart."""
        return f"apart.{number:03}.{self.label}"

    def apart(self, calls: Sequence[Instance]) -> list[Instance]:
        """The functions that stand apart from an entry point that makes these calls."""
        return self._reached(calls, None)[1]

    def key(self, roots: Sequence[Instance], text: str, own: Instance | None = None) -> str | None:
        """The key of the unit of an entry point that calls ``roots``, or of the one of ``own``: all code in it.

        None if another process would not find the same.
        """
        inside, apart = self._reached(roots, own)
        if not all(one.is_kept for one in inside):
            return None
        numbers = {one: number for number, one in enumerate((*inside, *apart))}
        hasher = hashlib.sha256(f"{self._settings}\0{text}\0{len(inside)}".encode())
        for one in inside:
            hasher.update(hashlib.sha256(one.code).digest())
            hasher.update(repr([numbers[call] for call in one.calls]).encode())
        hasher.update(repr([numbers[root] for root in roots]).encode())
        return hasher.hexdigest()

    def link_entry(self, module: Any, calls: Sequence[Instance]) -> None:
        """Link to the module of an entry point all that it needs."""
        names = {one: self.symbol(number) for number, one in enumerate(self.apart(calls))}
        self._link(module, _declared(module, self._by_name), names, set(names))

    def link_part(self, module: Any, instance: Instance, symbol: str) -> None:
        """Link a function that stands apart, and all that it needs, to a module."""
        self._link(module, [instance], {instance: symbol}, set())

    def _link(self, module: Any, left: list[Instance], names: dict[Instance, str], done: set[Instance]) -> None:
        """Link these functions, and what they call, before what comes after them."""
        for instance in left:
            _rename(module, instance.name, _final(instance, names))
        left.reverse()
        pieces: list[Any] = []
        while left:
            instance = left.pop()
            if instance in done:
                continue
            done.add(instance)
            piece = llvm.parse_bitcode(instance.code)
            _rename(piece, OWN, _final(instance, names))
            calls = enumerate(instance.calls)
            found = [call for number, call in calls if _rename(piece, called(number), _final(call, names))]
            for other in _declared(piece, self._by_name):
                _rename(piece, other.name, _final(other, names))
                found.append(other)
            left += reversed(found)
            pieces.append(piece)
        for group in _joined(pieces):
            module.link_in(group)

    def _reached(self, roots: Sequence[Instance], own: Instance | None) -> tuple[list[Instance], list[Instance]]:
        """What the unit contains, and what stands apart from it."""
        inside: dict[Instance, None] = {}
        apart: dict[Instance, None] = {}
        left = list(reversed(roots))
        while left:
            instance = left.pop()
            if instance in inside or instance in apart:
                continue
            if own is None and self._is_apart(instance):
                apart[instance] = None
                continue
            inside[instance] = None
            left += reversed(instance.calls)
        return list(inside), list(apart)

    def _is_apart(self, instance: Instance) -> bool:
        return is_apart(instance.function) or any(call.function in self._outside for call in instance.calls)


def bitcode_of(compiled: Any, calls: Sequence[Instance]) -> tuple[bytes, bool]:
    """The bitcode of a function that numba has compiled, and whether other processes can use it."""
    library = compiled.library
    module = library._final_module
    own = {function.name for function in module.functions if not function.is_declaration}
    for other in library._linking_libraries:
        module.link_in(other._get_module_for_linking(), preserve=True)
    for function in module.functions:
        if not function.is_declaration and function.name not in own:
            function.linkage = "internal"
    is_alone = not library._dynamic_globals and not compiled.environment.consts
    for value in module.global_variables:
        is_alone = is_alone and not value.name.startswith("numba.dynamic.globals")
        if is_alone and value.name.startswith("_ZN08NumbaEnv") and not value.is_declaration:
            value.linkage = "internal"
    _rename(module, compiled.fndesc.llvm_func_name, OWN)
    for number, call in enumerate(calls):
        _rename(module, call.name, called(number))
    return module.as_bitcode(), is_alone


def _joined(modules: list[Any]) -> list[Any]:
    """The same functions in a few modules.  LLVM looks at all of a module whenever one is linked to it."""
    while len(modules) > GROUP:
        groups = [modules[begin : begin + GROUP] for begin in range(0, len(modules), GROUP)]
        for first, *others in groups:
            for other in others:
                first.link_in(other)
        modules = [group[0] for group in groups]
    return modules


def _final(instance: Instance, names: dict[Instance, str]) -> str:
    """The symbol of a function in its unit."""
    if instance not in names:
        short = re.sub(r"\W", "_", instance.function.__name__, flags=re.ASCII)
        names[instance] = f"{short}.{len(names)}"
    return names[instance]


def _rename(module: Any, before: str, after: str) -> bool:
    """Rename a function; returns whether the module has it."""
    try:
        module.get_function(before).name = after
    except NameError:
        return False
    return True


def _declared(module: Any, by_name: dict[str, Instance]) -> list[Instance]:
    return [by_name[one.name] for one in module.functions if one.is_declaration and one.name in by_name]
