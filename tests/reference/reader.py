"""A small parser of PTX text, sufficient for the kernels of the tests and for those of nvcc.

It keeps operands as text.  Registers and variables declared in a nested scope get a unique name; ``widths`` has the
width of each register.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field

from tests.reference.instruction import kind_and_bits
from tests.reference.number import from_float, mask

_TYPE = re.compile(r"\.(pred|bf16x2|bf16|f16x2|[busf]\d+)\b")
_LABEL = re.compile(r"([\w$%]+)\s*:(?!:)")
_NAME = re.compile(r"%?[A-Za-z_$%][\w$%]*")
_TO_END_OF_LINE = (".version", ".target", ".address_size", ".loc ", ".loc\t", ".file")

Content = bytes


@dataclass
class Variable:
    """A variable or parameter: ``bytes`` in all; ``initial`` is its content, if given, but for the addresses of what
    ``references`` names at its offsets.  A parameter in ``reg`` space is a register, or a vector of ``elements``.
    """

    space: str
    type: str
    name: str
    bytes: int
    alignment: int
    initial: Content | None = None
    references: tuple[tuple[int, str], ...] = ()
    elements: int = 1

    @property
    def bytes_of_element(self) -> int:
        return int(self.type[1:]) // 8


@dataclass
class Statement:
    """An instruction: ``opcode`` without its modifiers, operands as text, ``guard`` as (register, negated)."""

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[str, ...]
    guard: tuple[str, bool] | None
    line: int

    def __str__(self) -> str:
        return f"line {self.line}: {'.'.join((self.opcode, *self.modifiers))} {', '.join(self.operands)}"


@dataclass
class Function:
    name: str
    parameters: list[Variable]
    returns: list[Variable]
    code: list[Statement] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    tables: dict[str, list[str]] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    widths: dict[str, int] = field(default_factory=dict)
    families: dict[str, int] = field(default_factory=dict)
    vectors: dict[str, list[str]] = field(default_factory=dict)
    """The elements of each vector register."""

    def width(self, register: str) -> int:
        """The declared bits of a register, 1 for predicates."""
        if register in self.widths:
            return self.widths[register]
        return self.families[register.rstrip("0123456789")]

    def is_register(self, name: str) -> bool:
        return name in self.widths or name.rstrip("0123456789") in self.families


@dataclass
class Program:
    variables: dict[str, Variable] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)


def read(text: str) -> Program:
    """Read a module."""
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)
    return _Reader(re.sub(r"//[^\n]*", "", text)).module()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.scopes: list[dict[str, str]] = []
        self.counter = 0

    def _skip(self) -> str:
        """Skip blanks and line directives; the next character, or nothing at the end."""
        while True:
            while self.at < len(self.text) and self.text[self.at].isspace():
                self.at += 1
            if not self.text.startswith(_TO_END_OF_LINE, self.at):
                return self.text[self.at : self.at + 1]
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end

    def _until(self, stop: str) -> str:
        end = self.text.index(stop, self.at)
        out, self.at = self.text[self.at : end], end + len(stop)
        return out.strip()

    def module(self) -> Program:
        program = Program()
        while self._skip():
            if self.text.startswith(".section", self.at):
                self._until("}")
                continue
            header = re.compile(r"[^;{=]*").match(self.text, self.at)
            assert header is not None
            if ".entry" in header.group() or ".func" in header.group():
                self.at = header.end()
                self._function(program, header.group())
            else:
                variable = parse_variable(self._until(";"))
                if variable:
                    program.variables[variable.name] = variable
        return program

    def _function(self, program: Program, header: str) -> None:
        if self.text[self.at] == ";":
            self.at += 1
            return
        returns_text, _, rest = _split_header(header)
        name = re.match(r"[\w$]+", rest)
        assert name is not None
        groups = re.findall(r"\(([^()]*)\)", rest)
        function = Function(name.group(), _variables(groups[0] if groups else ""), _variables(returns_text))
        program.functions[function.name] = function
        for formal in (*function.returns, *function.parameters):
            if formal.space == "reg":
                _add_register(function, formal.name, kind_and_bits(formal.type)[1], formal.elements)
        self._body(function)

    def _body(self, function: Function) -> None:
        self.at += 1
        self.scopes = [{}]
        while self.scopes:
            char = self._skip()
            label = _LABEL.match(self.text, self.at)
            if char == "{":
                self.at += 1
                self.scopes.append({})
            elif char == "}":
                self.at += 1
                self.scopes.pop()
            elif label:
                self.at = label.end()
                self._label(function, label.group(1))
            elif char == ".":
                self._declaration(function, self._until(";"))
            else:
                line = self.text.count("\n", 0, self.at) + 1
                function.code.append(self._instruction(function, self._until(";"), line))

    def _label(self, function: Function, name: str) -> None:
        if self._skip() == "." and self.text.startswith(".branchtargets", self.at):
            targets = self._until(";").removeprefix(".branchtargets")
            function.tables[name] = [t.strip() for t in targets.split(",")]
        else:
            function.labels[name] = len(function.code)

    def _declaration(self, function: Function, text: str) -> None:
        if text.startswith((".pragma", ".callprototype", ".calltargets")):
            return
        if text.startswith(".reg"):
            matched = _TYPE.search(text)
            assert matched is not None
            width = kind_and_bits(matched.group(1))[1]
            vector = re.search(r"\.v([24])\b", text)
            for name in text[matched.end() :].split(","):
                family = re.match(r"\s*([\w$%]+)\s*<\d+>", name)
                if vector:
                    _add_register(function, name.strip(), width, int(vector.group(1)))
                elif family:
                    function.families[family.group(1)] = width
                else:
                    function.widths[self._declare(name.strip())] = width
            return
        variable = parse_variable(text)
        assert variable is not None
        variable.name = self._declare(variable.name)
        function.variables[variable.name] = variable

    def _declare(self, name: str) -> str:
        if len(self.scopes) == 1:
            return name
        self.counter += 1
        self.scopes[-1][name] = f"{name}$scope{self.counter}"
        return self.scopes[-1][name]

    def _resolve(self, operand: str) -> str:
        def one(match: re.Match[str]) -> str:
            return next((s[match.group()] for s in reversed(self.scopes) if match.group() in s), match.group())

        return _NAME.sub(one, operand)

    def _instruction(self, function: Function, text: str, line: int) -> Statement:
        guard = None
        matched = re.match(r"@(!?)([\w$%]+)\s+", text)
        if matched:
            guard = (self._resolve(matched.group(2)), matched.group(1) == "!")
            text = text[matched.end() :]
        head, _, tail = text.partition(" ") if " " in text else (*text.partition("\t"),)
        opcode, *modifiers = head.strip().split(".")
        vectors = {name: "{" + ", ".join(parts) + "}" for name, parts in function.vectors.items()}
        operands = tuple(self._resolve(vectors.get(o, o)) for o in split_operands(tail))
        return Statement(opcode, tuple(modifiers), operands, guard, line)


def _add_register(function: Function, name: str, width: int, elements: int) -> None:
    """Declare a register, or a vector of registers."""
    if elements == 1:
        function.widths[name] = width
        return
    function.vectors[name] = [f"{name}.{c}" for c in "xyzw"[:elements]]
    function.widths |= dict.fromkeys(function.vectors[name], width)


def _split_header(header: str) -> tuple[str, str, str]:
    """The text of the return list, the kind of function, and everything from its name on."""
    kind = ".entry" if ".entry" in header else ".func"
    rest = header.partition(kind)[2].strip()
    if rest.startswith("("):
        returns, _, rest = rest[1:].partition(")")
        return returns, kind, rest.strip()
    return "", kind, rest


def _variables(text: str) -> list[Variable]:
    return [v for v in map(parse_variable, text.split(",")) if v is not None]


def split_operands(text: str) -> list[str]:
    """Split at commas outside brackets."""
    out, depth, current = [], 0, ""
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            out.append(current.strip())
            current = ""
        else:
            current += char
    return [*out, current.strip()] if current.strip() else out


def parse_variable(text: str) -> Variable | None:
    """A declaration such as ``.shared .align 4 .b8 tile[64] = {1, 2}``; None for other directives."""
    text = text.strip()
    declaration, _, initializer = text.partition("=")
    space = re.search(r"\.(global|const|shared|local|param|reg)\b", declaration)
    declared = _TYPE.search(declaration)
    if not space or not declared:
        return None
    alignment = re.search(r"\.align\s+(\d+)", declaration)
    rest = declaration[declared.end() :]
    rest = re.sub(r"\.(ptr|global|const|shared|local|align\s+\d+)\b", " ", rest)
    vector = re.search(r"\.v([24])\b", declaration)
    name = re.search(r"[\w$%]+", rest.replace(".v2", "").replace(".v4", ""))
    assert name is not None, text
    elements = int(vector.group(1)) if vector else 1
    size = element = max(1, kind_and_bits(declared.group(1))[1] // 8) * elements
    for dimension in re.findall(r"\[\s*(\d*)\s*\]", rest):
        size *= int(dimension or 0)
    initial: Content | None = None
    references: tuple[tuple[int, str], ...] = ()
    if initializer:
        written = re.findall(r"[^\s{},]+", initializer)
        width = int(declared.group(1)[1:]) // 8
        references = tuple((i * width, v) for i, v in enumerate(written) if _NAME.fullmatch(v))
        values = [0 if _NAME.fullmatch(v) else literal(v, declared.group(1)) for v in written]
        initial = b"".join(v.to_bytes(width, "little") for v in values).ljust(size, b"\0")
    natural = int(alignment.group(1)) if alignment else element
    return Variable(space.group(1), declared.group(1), name.group(), size, natural, initial, references, elements)


def literal(text: str, name: str) -> int:
    """The pattern of a constant in an operand slot of type ``name``."""
    text = text.strip()
    negative, text = text.startswith("-"), text.lstrip("-")
    bits = kind_and_bits(name)[1]
    if re.fullmatch(r"0[fF][0-9A-Fa-f]{8}", text):
        pattern, source = int(text[2:], 16), 32
    elif re.fullmatch(r"0[dD][0-9A-Fa-f]{16}", text):
        pattern, source = int(text[2:], 16), 64
    elif re.fullmatch(r"\d+\.\d*([eE][+-]?\d+)?", text):
        pattern, source = int(struct.unpack("<Q", struct.pack("<d", float(text)))[0]), 64
    else:
        text = text.rstrip("Uu")
        octal = re.fullmatch(r"0[0-7]+", text)
        number = int(text, 8) if octal else int(text, 0)
        return (-number if negative else number) & mask(bits)
    if negative:
        pattern ^= 1 << (source - 1)
    if source == 64 and name == "f32":
        return from_float(struct.unpack("<d", struct.pack("<Q", pattern))[0], 32)
    return pattern & mask(bits)
