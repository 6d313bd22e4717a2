"""Names of C++ variables from their mangled names in PTX, as far as the source can spell them."""

from __future__ import annotations

import re
from collections.abc import Iterator

BUILT_IN = {
    "a": "signed char", "b": "bool", "c": "char", "d": "double", "f": "float", "h": "unsigned char", "i": "int",
    "j": "unsigned int", "l": "long", "m": "unsigned long", "s": "short", "t": "unsigned short", "x": "long long",
    "y": "unsigned long long",
}  # fmt: skip
"""Built-in types of the Itanium C++ ABI, section 5.1.5.2."""

HIDDEN = ("_INTERNAL_", "_GLOBAL__N_")
"""Beginnings of the namespaces that stand for internal linkage."""

LITERAL = re.compile(r"L([a-z])(n?\d+)E")


def source_name(mangled: str) -> str:
    """The name in the source, with namespaces and template arguments of built-in types: ``filters::taps``.

    A variable of a function is named without the function.  A name that is not mangled is returned as it is, and so is
    one of a form that variables do not have (Itanium C++ ABI, section 5.1).
    """
    if not mangled.startswith("_Z"):
        return mangled
    if mangled.startswith("_ZZ"):
        return _local_name(mangled)
    parts = list(_parts(mangled[2:].removeprefix("N")))
    return "::".join(part for part in parts if not part.startswith(HIDDEN)) or mangled


def is_called(mangled: str, name: str) -> bool:
    """Whether the source may call a variable ``name``: with its namespaces and template arguments, or without."""
    full = source_name(mangled)
    plain = re.sub(r"<[^<>]*>", "", full)
    return any(one == name or one.endswith(f"::{name}") for one in (full, plain))


def _local_name(mangled: str) -> str:
    """The name of a variable that a function declares: it follows the function, and a number may follow it."""
    for found in re.finditer(r"EL?(\d+)", mangled):
        end = found.end() + int(found[1])
        if re.fullmatch(r"(_\d+)?", mangled[end:]) and end <= len(mangled):
            return mangled[found.end() : end]
    return mangled


def _parts(text: str) -> Iterator[str]:
    """The parts of a nested name."""
    while text and text[0] != "E":
        found = re.match(r"L?(\d+)", text)
        end = found.end() + int(found[1]) if found else len(text) + 1
        if found is None or end > len(text):
            return
        name, text = text[found.end() : end], text[end:]
        if text.startswith("I"):
            arguments, text = _template_arguments(text[1:])
            name += f"<{arguments}>"
        yield name


def _template_arguments(text: str) -> tuple[str, str]:
    """Built-in types and whole numbers up to the ``E``, and what follows; of other arguments, ``...``."""
    arguments: list[str] = []
    while text and text[0] != "E":
        literal = LITERAL.match(text)
        if literal is not None:
            arguments.append(literal[2].replace("n", "-"))
            text = text[literal.end() :]
        elif text[0] in BUILT_IN:
            arguments.append(BUILT_IN[text[0]])
            text = text[1:]
        else:
            return "...", ""
    return ", ".join(arguments), text[1:]
