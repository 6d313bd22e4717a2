"""The code blocks of a page, with what comments in its source say of them.

Tests run every block as it is, in the order of the page, in one folder.  A comment in front of a block changes that:

    <!-- file: my_cache.py -->                  the block is the content of a file
    <!-- insert: my_cache.py, plan_write -->    the block becomes the beginning of a function of a file
    <!-- output -->                             the lines of the block are among those of the last output
    <!-- not run: needs a cluster -->           the commands are only parsed, for this reason
    <!-- not run: `compare all`, 105 runs -->   those that contain the quoted text
    <!-- fails: the result is worse -->         the last command ends with status 1
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^```(?P<language>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:^    (?:warpreg|python) [^\n]*\n)+", re.MULTILINE)
NOTES = re.compile(r"(?:<!-- [^\n]+ -->\n+)+\Z")
NOTE = re.compile(r"<!-- (file|insert|not run|fails|output)(?:: ([^\n]+?))? -->")
QUOTED = re.compile(r"`([^`]+)`")
SHELL = ("", "console", "bash", "sh")


@dataclass(frozen=True, slots=True)
class Block:
    """A block at a line of a page, with the notes in front of it: what they are, and what they say."""

    line: int
    language: str
    text: str
    notes: tuple[tuple[str, str], ...] = ()

    def has(self, kind: str) -> bool:
        """Whether there is a note of a kind."""
        return any(one == kind for one, _ in self.notes)

    def note(self, kind: str) -> str:
        """What the first note of a kind says; empty without one."""
        return next((said for one, said in self.notes if one == kind), "")

    @property
    def is_shell(self) -> bool:
        """Whether it has commands."""
        return self.language in SHELL and not self.has("output")

    @property
    def shows_output(self) -> bool:
        """Whether it is a command with its output."""
        return self.is_shell and self.text.startswith("$ ")

    def commands(self) -> Iterator[tuple[str, bool]]:
        """The commands without comments, and whether each is run; lines that end with a backslash go on."""
        lines = self.text.replace("\\\n", " ").splitlines()
        shown = [line.removeprefix("$ ") for line in lines if line.startswith("$ ") or not self.shows_output]
        left_out = [QUOTED.findall(said) or [""] for kind, said in self.notes if kind == "not run"]
        for command in filter(None, (re.sub(r"(^|\s+)# .*$", "", line).rstrip() for line in shown)):
            yield command, not any(part in command for parts in left_out for part in parts)

    def write(self, folder: Path) -> None:
        """Write the file that the block is, or insert it."""
        if name := self.note("file"):
            (folder / name).write_text(self.text, encoding="utf-8")
        if place := self.note("insert"):
            name, function = place.split(", ")
            path = folder / name
            head = re.compile(rf"^def {function}\([^\n]*:\n", re.MULTILINE)
            text = head.sub(lambda found: found[0] + self.text, path.read_text(encoding="utf-8"), count=1)
            path.write_text(text, encoding="utf-8")


def blocks_of(text: str) -> list[Block]:
    """All blocks of a page in order; indented commands are blocks too."""
    fenced = [_block(text, found.start(), found["language"], found["text"]) for found in FENCE.finditer(text)]
    outside = FENCE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    indented = [
        _block(text, found.start(), "", re.sub(r"^    ", "", found[0], flags=re.MULTILINE))
        for found in INDENTED.finditer(outside)
    ]
    return sorted([*fenced, *indented], key=lambda block: block.line)


def _block(text: str, begin: int, language: str, content: str) -> Block:
    before = NOTES.search(text[:begin])
    return Block(text.count("\n", 0, begin) + 1, language, content, tuple(NOTE.findall(before[0]) if before else ()))
