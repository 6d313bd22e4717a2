"""Lexical structure of PTX (PTX ISA, sections 4.2 to 4.5): comments, tokens, and a cursor over them."""

from __future__ import annotations

import re

from warpreg.ptx.diagnostics import MalformedError, Reporter

IDENTIFIER = r"(?:[A-Za-z]|[_$%](?=[\w$]))[\w$]*"
_COMMENT = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"[^"\n]*"?|^[ \t]*\#[^\n]*', re.DOTALL | re.MULTILINE)
_TOKEN = re.compile(
    rf"""\s*(?:
      (?P<dot>\.[A-Za-z]\w*(?:::\w+)*|\.\d+[A-Za-z]\w*)
    | (?P<name>{IDENTIFIER})
    | (?P<number>\d+(?:\.\d*)?[eE][+-]\d+|\.?\d[\w.]*)
    | (?P<string>"[^"\n]*")
    | (?P<mark><<|>>|<=|>=|==|!=|&&|\|\||[^\s_])
    | (?P<sink>_)
    )""",
    re.VERBOSE | re.ASCII,
)
_STOP = re.compile(r"[;{}]|\n(?=[ \t]*(?:@|\.[a-z]|[a-z]\w*\.[\w.:]+[ \t]|[$\w]+:(?!:)))", re.ASCII)
_BLANK = re.compile(r"\s*")
_LINE_MARK = re.compile(r"[^\n]")


def blank_comments(text: str, reporter: Reporter) -> str:
    """The text with every comment and preprocessor line (``#line``) replaced by spaces, which preserves offsets and
    lines.

    After an unterminated comment no further errors are reported.
    """
    if text.startswith("\ufeff"):
        text = " " + text[1:]
    bare = text.rstrip("\0")
    text = bare + " " * (len(text) - len(bare))

    def blank(match: re.Match[str]) -> str:
        token = match[0]
        if token.startswith('"'):
            if len(token) == 1 or token[-1] != '"':
                reporter.add(match.start(), "unterminated string")
            return token
        if token.startswith("/*") and (len(token) < 4 or token[-2:] != "*/"):
            reporter.add(match.start(), "unterminated comment")
            reporter.ignore_after(match.start())
        return _LINE_MARK.sub(" ", token) if token.startswith("/*") else " " * len(token)

    return _COMMENT.sub(blank, text)


class Cursor:
    """One token of look-ahead over a text: ``kind``, ``text``, ``start``.

    ``kind`` is a group name of the token pattern, or ``end``.  ``previous_end`` is where the token before it ended.
    """

    __slots__ = ("_limit", "_source", "end", "kind", "previous_end", "start", "text")

    def __init__(self, source: str, position: int, limit: int | None = None) -> None:
        self._source = source
        self._limit = len(source) if limit is None else limit
        self.end = position
        self.advance()

    def advance(self) -> None:
        """Move to the next token."""
        self.previous_end = self.end
        match = _TOKEN.match(self._source, self.end, self._limit)
        if match is None:
            self.kind, self.text = "end", ""
            self.start = self.end = self._limit
            return
        self.kind = match.lastgroup or "mark"
        self.text = match[self.kind]
        self.start, self.end = match.span(self.kind)

    def jump(self, position: int) -> None:
        """Continue at an offset of the source."""
        self.end = position
        self.advance()

    def take(self, text: str) -> bool:
        """Consume the token if it is ``text``; returns whether it was."""
        if self.text != text or self.kind == "string":
            return False
        self.advance()
        return True

    def expect(self, text: str, where: str) -> None:
        """Consume ``text`` or raise MalformedError; ``where`` completes 'expected ... '."""
        if not self.take(text):
            raise MalformedError(self.start, f"expected '{text}' {where}, found {self.found}")

    def name(self, what: str) -> str:
        """Consume a name and return it; ``what`` describes the expected name."""
        if self.kind != "name":
            raise MalformedError(self.start, f"expected {what}, found {self.found}")
        found = self.text
        self.advance()
        return found

    def next_is_name(self) -> bool:
        """Whether the token after this one is a name other than ``WARP_SZ``."""
        match = _TOKEN.match(self._source, self.end, self._limit)
        return match is not None and match.lastgroup == "name" and match["name"] != "WARP_SZ"

    @property
    def found(self) -> str:
        """The token as text for a message."""
        return "end of file" if self.kind == "end" else self.text if self.kind == "string" else f"'{self.text}'"

    @property
    def on_new_line(self) -> bool:
        """Whether the token is on a later line than the end of the one before."""
        return "\n" in self._source[self.previous_end : self.start]


def recover(text: str, start: int, error: int) -> int:
    """The offset at which to continue after an error at offset ``error`` in the statement that begins at ``start``.

    That is after its ``;``, before the brace that closes the enclosing scope, or at the next line that looks like a
    statement.
    """
    depth = 0
    for stop in _STOP.finditer(text, start):
        mark, offset = stop[0], stop.start()
        if mark == "}" and depth == 0 and offset >= error:
            return offset
        depth += {"{": 1, "}": -1}.get(mark, 0)
        if offset >= error and mark in ";\n":
            return stop.end()
    return len(text)


def skip_space(text: str, position: int) -> int:
    """The offset of the next character that is not blank, or the length of the text."""
    found = _BLANK.match(text, position)
    return found.end() if found else position
