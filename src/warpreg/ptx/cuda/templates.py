"""Kernel templates: those of a source, and their instantiation with given arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from warpreg.ir.errors import UnknownNameError, WarpregError

NAME = "warpreg_kernel_"
"""Beginning of the names of the variables that instantiate templates."""

EXPRESSION = re.compile(r"[A-Za-z_:][\w\s:<>,()*&.+-]*")
VARIABLE = re.compile(rf"^[^\n]*\.global[^\n]* {NAME}(\d+) = (\w+);\n", re.MULTILINE)

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
BALANCED = r"(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*"
KERNEL = re.compile(
    rf"\btemplate\s*<({BALANCED})>\s*(?:[^;{{}}()<>]|\((?:[^()]|\([^()]*\))*\))*?\b__global__\b"
    rf"(?:\s|\w|\((?:[^()]|\([^()]*\))*\))*?\bvoid\b\s*"
    rf"(?:__launch_bounds__\s*\((?:[^()]|\([^()]*\))*\)\s*)?(\w+)\s*\("
)
SCOPE = re.compile(r"\bnamespace\s+([\w:]*)\s*\{|\{|\}")


class KernelExpressionError(WarpregError):
    """A name that is no kernel with its template arguments."""


def is_instance(name: str) -> bool:
    """Whether a kernel's name gives arguments of a template."""
    return "<" in name


def instantiation(expressions: Sequence[str]) -> str:
    """Source text that instantiates ``fill<float>`` and the like, to append to a source.

    A variable points to each, so its name in PTX can be read off, see `instances`.
    """
    lines = (
        f'\n#line 1 "kernel {expression}"\n'
        f'extern "C" {{ __device__ const void *const {NAME}{place} = (const void *)({expression}); }}\n'
        for place, expression in enumerate(expressions)
    )
    return "".join(lines)


def instances(ptx: str) -> tuple[str, list[str]]:
    """PTX without the variables of `instantiation`, and the kernels that they point to, in order."""
    names = dict(VARIABLE.findall(ptx))
    return VARIABLE.sub("", ptx), [names[place] for place in sorted(names, key=int)]


def qualified(expression: str, known: Mapping[str, str]) -> str:
    """An instance of one of the ``known`` templates with the namespaces of the template, where it has none.

    Raises KernelExpressionError for what is no name with arguments, UnknownNameError for a template that is not known,
    if others are.
    """
    if not EXPRESSION.fullmatch(expression):
        raise KernelExpressionError(f"kernel: expected a name such as fill<float>, found '{expression}'")
    name, _, arguments = expression.partition("<")
    last = name.strip().rpartition("::")[2]
    if known and last not in known:
        raise UnknownNameError("kernel template", last, known)
    return expression if last not in known or "::" in name else f"{known[last].partition('<')[0]}<{arguments}"


def templates(text: str) -> dict[str, str]:
    """The kernel templates of a source text by name, each with an example of its instantiation."""
    code = COMMENT.sub(lambda found: " " * len(found[0]), text)
    return {found[2]: _example(code, found) for found in KERNEL.finditer(code)}


def all_templates(texts: Sequence[str]) -> Mapping[str, str]:
    """The kernel templates of several sources."""
    return {name: example for text in texts for name, example in templates(text).items()}


def _example(code: str, kernel: re.Match[str]) -> str:
    scope = "".join(f"{name}::" for name in _namespaces(code[: kernel.start()]) if name)
    arguments = ", ".join(_argument(one) for one in _parameters(kernel[1]) if "=" not in one)
    return f"{scope}{kernel[2]}<{arguments}>"


def _parameters(text: str) -> Iterator[str]:
    """The parameters of a template."""
    depth, start = 0, 0
    for place, letter in enumerate(text):
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            yield text[start:place].strip()
            start = place + 1
    yield text[start:].strip()


def _argument(parameter: str) -> str:
    """An argument that suits a parameter as a rule."""
    kind = parameter.split()[0] if parameter else ""
    if kind in ("typename", "class"):
        return "float"
    return "true" if kind == "bool" else "32"


def _namespaces(before: str) -> list[str]:
    """The names of the scopes that are open at the end of a text; empty for those of no namespace."""
    open_scopes: list[str] = []
    for found in SCOPE.finditer(before):
        if found[0] == "}":
            del open_scopes[-1:]
        else:
            open_scopes.append(found[1] or "")
    return open_scopes
