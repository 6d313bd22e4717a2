"""Forms of PTX instructions as text: groups with alternatives, and the one-instruction lines of PTX that they generate.

A group is ``SYNTAX : OPERANDS``.  The syntax has ``[.x]`` for optional parts and ``(a|b)`` for alternatives.  Operands
are types as in the rows of `warpreg.ir.opcodes`, results first; ``[A]`` is a memory operand, ``L`` a label, a number
itself, ``{a,b}`` a list and ``a|b`` a pair.  A line ``## title @version target`` starts a section.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
CANDIDATES, FORMS, LATER, REFUSED, ORDERS = (
    HERE / f"{name}.txt" for name in ("candidates", "forms", "later", "refused", "orders")
)
OTHER_WIDTHS = {"pred": 1, "e2m1x2": 8, "e2m1x4": 16, "ue8m0x2": 16, "s2f6x2": 16}
_TYPE = re.compile(r"(?:[busf]|bf|tf)\d+(?:x\d)?|pred|e\dm\dx\d|ue8m0x2|s2f6x2")
_PIECE = re.compile(r"(\[[^\]]*\]|\([^)]*\))")
_HEADING = re.compile(r"## (.*?)(?: @(\S+) (\S+))?")


@dataclass(frozen=True)
class Section:
    """Groups that may be used from a version and target of PTX on."""

    title: str
    version: str
    target: str
    groups: tuple[tuple[str, str], ...]

    @property
    def heading(self) -> str:
        return f"## {self.title} @{self.version} {self.target}"

    def forms(self) -> Iterator[tuple[str, str]]:
        """Full opcode and operands of every form, each once."""
        pairs = (("".join(spelled), operands) for syntax, operands in self.groups for spelled in spellings(syntax))
        return iter(dict.fromkeys(pairs))


def sections(path: Path) -> list[Section]:
    found: list[Section] = []
    for line in path.read_text().splitlines():
        if line.startswith("## "):
            heading = _HEADING.fullmatch(line)
            assert heading
            found.append(Section(heading[1], heading[2] or "9.0", heading[3] or "sm_100a", ()))
        elif line and not line.startswith("#"):
            syntax, _, operands = line.partition(" :")
            last = found[-1]
            found[-1] = Section(last.title, last.version, last.target, (*last.groups, (syntax, operands.strip())))
    return found


def spellings(syntax: str) -> Iterator[tuple[str, ...]]:
    """Every choice for every piece of a syntax; joined, each is a full opcode."""
    return itertools.product(*map(_choices, _PIECE.split(syntax)))


def _choices(piece: str) -> list[str]:
    inner = piece[1:-1]
    if piece.startswith("["):
        head, _, options = inner.partition("(")
        return ["", *(head + option for option in options.rstrip(")").split("|"))]
    return inner.split("|") if piece.startswith("(") else [piece]


def types(opcode: str) -> list[str]:
    return [m for m in re.split(r"[.\s]", opcode)[1:] if _TYPE.fullmatch(m)]


def width(name: str) -> int:
    """Bits of a type; 1 for predicates."""
    if name in OTHER_WIDTHS:
        return OTHER_WIDTHS[name]
    minifloat = re.fullmatch(r"e\dm\dx(\d)", name)
    if minifloat:
        return 8 * int(minifloat[1])
    digits = re.fullmatch(r"[a-z]+(\d+)(?:x(\d))?", name)
    assert digits, name
    return int(digits[1]) * int(digits[2] or 1)


def operand_types(opcode: str, operands: str) -> list[str]:
    """The operand words of a form with T, T0, W and ``*n`` replaced by what the opcode says."""
    named = types(opcode)
    count = next((int(v) for v in re.findall(r"\.v(\d)", opcode)), 1)

    def replaced(word: re.Match[str]) -> str:
        name = word[0]
        if name == "T":
            return named[-1]
        return named[0] if name == "T0" else named[-1][0] + str(2 * width(named[-1]))

    many = "{" + ",".join(["T"] * count) + "}" if count > 1 else "T"
    return [re.sub(r"\bT0?\b|\bW\b", replaced, word) for word in operands.replace("T*n", many).split()]


WIDTHS = (8, 16, 32, 64, 128)
COUNT = 8
"""Registers of each width that `instruction` reads: ``%r32_0`` to ``%r32_7``, and predicates ``%p0`` to ``%p3``."""


def instruction(opcode: str, operands: str, result: str = "%r") -> str:
    """The form as a statement that reads registers of `declarations`; results go to registers named so."""
    used: dict[int, int] = {}

    def operand(word: str, prefix: str = "%r") -> str:
        if word in ("[A]", "L", "_") or word.isdigit():
            return {"[A]": "[%r64_0]"}.get(word, word)
        if word.startswith("{"):
            return "{" + ",".join(operand(w, prefix) for w in word[1:-1].split(",")) + "}"
        if "|" in word:
            return "|".join(operand(w, prefix) for w in word.split("|"))
        bits = width(word)
        number = used[bits] = used.get(bits, -1) + 1
        if bits == 1:
            return f"{'%p' if prefix == '%r' else prefix + '1_'}{number % 4}"
        return f"{prefix}{bits}_{number % COUNT}"

    first, *rest = [*operand_types(opcode, operands), ""]
    written = [operand(first, result), *(operand(word) for word in rest if word)] if first else []
    return f"{opcode} {', '.join(written)};"


def results(opcode: str, operands: str) -> list[str]:
    """The types of what a computing form writes; an ignored element has none."""
    first = operand_types(opcode, operands)[0]
    return [word for word in re.split(r"[{},|]", first) if word and word != "_"]


def declarations(with_128: bool = True, prefix: str = "%r") -> list[str]:
    """Statements that declare the registers of `instruction`."""
    lines = [f".reg .b{bits} {prefix}{bits}_<{COUNT}>;" for bits in WIDTHS if with_128 or bits < 128]
    return [*lines, f".reg .pred {'%p' if prefix == '%r' else prefix + '1_'}<4>;"]


def covering(group: str) -> list[str]:
    """As few full opcodes of a group as name each of its choices once."""
    pieces = [_choices(piece) for piece in _PIECE.split(group)]
    count = max(map(len, pieces))
    chosen = ("".join(piece[i % len(piece)] for piece in pieces) for i in range(count))
    return list(dict.fromkeys(chosen))


def shuffles(opcode: str, count: int = 3) -> list[str]:
    """Up to so many other orders of an opcode's modifiers; those that name types stay in theirs."""
    name, *modifiers = opcode.split(".")
    source, found = random.Random(opcode), []
    for _ in range(count):
        mixed = source.sample(modifiers, len(modifiers))
        named = iter(m for m in modifiers if _TYPE.fullmatch(m))
        found.append(".".join((name, *(next(named) if _TYPE.fullmatch(m) else m for m in mixed))))
    return [text for text in dict.fromkeys(found) if text != opcode]


def merged(forms: Iterable[tuple[str, ...]]) -> list[list[tuple[str, ...]]]:
    """Tuples of choices as few products: those that differ at one place only become one."""
    products: list[list[tuple[str, ...]]] = [[(choice,) for choice in form] for form in dict.fromkeys(forms)]
    changed = True
    while changed:
        before = len(products)
        for place in range(len(products[0]) if products else 0):
            groups: dict[tuple[tuple[str, ...], ...], list[str]] = {}
            for product in products:
                rest = (*product[:place], (), *product[place + 1 :])
                groups.setdefault(rest, []).extend(product[place])
            products = [[*rest[:place], tuple(choices), *rest[place + 1 :]] for rest, choices in groups.items()]
        changed = len(products) < before
    return products


def syntax(product: list[tuple[str, ...]]) -> str:
    """A product in the notation of a group."""
    text = ""
    for choices in product:
        some = [c for c in choices if c]
        if len(choices) == len(some):
            text += some[0] if len(some) == 1 else f"({'|'.join(some)})"
        elif some:
            text += "[" + (some[0] if len(some) == 1 else _common(some)) + "]"
    return text


def _common(options: list[str]) -> str:
    head = "." if not all(o.startswith(".L") for o in options) else options[0].split("::")[0] + "::"
    return f"{head}({'|'.join(o[len(head) :] for o in options)})"
