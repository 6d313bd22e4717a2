"""Places in authors' code that a check can name."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

LONGEST = 80


@dataclass(frozen=True, slots=True)
class Site:
    """An expression in a file."""

    file: str
    line: int
    expression: str


@dataclass
class Sites:
    """The places of one design, numbered from 1 on in the order in which its code is read."""

    found: list[Site] = field(default_factory=list)

    def add(self, file: str, node: ast.expr | ast.stmt, text: str = "") -> int:
        """The number of a place."""
        expression = text or ast.unparse(node)
        if len(expression) > LONGEST:
            expression = expression[: LONGEST - 3] + "..."
        self.found.append(Site(file, node.lineno, expression))
        return len(self.found)

    def __getitem__(self, number: int) -> Site:
        return self.found[number - 1]
