"""The module level of PTX (PTX ISA, section 4.3): directives, variables, functions, debug sections."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace

from piecewise_numba.collector_pause import collector_paused
from warpreg.ir.module import Attribute, Function, Module, Section, SourceFile, TopLevel, Variable
from warpreg.ptx.address_size import address_size
from warpreg.ptx.body import BodyReader
from warpreg.ptx.declarations import SPACES, DeclarationReader
from warpreg.ptx.diagnostics import MalformedError, Reporter
from warpreg.ptx.directives import OLD_DEBUG, attribute, attributes, pragma, unknown_directive
from warpreg.ptx.literals import literal
from warpreg.ptx.names import Names
from warpreg.ptx.source import Source
from warpreg.ptx.tokens import Cursor, blank_comments, skip_space

LINKAGES = frozenset({".extern", ".visible", ".weak", ".common"})
_DIRECTIVES = (
    LINKAGES
    | SPACES
    | {".version", ".target", ".address_size", ".file", ".section", ".alias", ".pragma", ".func", ".entry", ".reg"}
)
_FIRST_ABI = (3, 0)
"""The first PTX version with a calling convention, for which ``ptxas`` refuses registers at module scope."""
_RESUME = re.compile(
    r"^[ \t]*\.(?:version|target|address_size|file|section|alias|pragma"
    r"|extern|visible|weak|common|func|entry|global|const)\b",
    re.MULTILINE | re.ASCII,
)
_BRACE = re.compile(r"[{}]")
_VERSION = re.compile(r"[0-9]+\.[0-9]+")
_AFTER_SIGNATURE = re.compile(
    r"[{;]|^[ \t]*(?=\.(?:visible|extern|weak|common|func|entry|global|const)\b)", re.MULTILINE | re.ASCII
)


def parse(text: str, file: str = "<ptx>") -> Module:
    """Parse a PTX text.  ``file`` is the file name in locations.

    Registers resolve to `Register` by the declarations in scope; a decimal float constant has form ``f64`` whatever the
    instruction's type.  Raises PtxError with every independent error.  Warns of 64-bit addresses without
    ``.address_size`` (`AddressSizeWarning`).
    """
    reporter = Reporter(text, file)
    source = Source(blank_comments(text, reporter), file, reporter)
    with collector_paused():
        module = ModuleReader(source).read()
    reporter.raise_if_any()
    if not module.address_size:
        module = replace(module, address_size=address_size(module))
    return replace(module, digest=hashlib.sha256(f"{file}\n{text}".encode(errors="surrogateescape")).hexdigest())


class ModuleReader:
    """Reads a whole text; errors go to the source's reporter."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._names = Names()
        self._version = ""
        self._target: tuple[str, ...] = ()
        self._address_size = 0
        self._items: list[TopLevel] = []
        self._seen: set[str] = set()
        self._defined: set[str] = set()
        self._functions: set[str] = set()

    def read(self) -> Module:
        """The module, with an address size of 0 if none is given; incomplete if errors were reported."""
        text, position = self._source.text, 0
        first = skip_space(text, 0)
        while (position := skip_space(text, position)) < len(text):
            try:
                position = self._item(Cursor(text, position))
            except MalformedError as error:
                self._source.reporter.add(error.offset, error.message)
                following = _RESUME.search(text, max(error.offset, position + 1))
                position = following.start() if following else len(text)
        self._check_header(first)
        items = tuple(self._items)
        return Module(self._version, self._target, self._address_size, items, self._source.file)

    def _check_header(self, first: int) -> None:
        if ".version" not in self._seen:
            self._source.reporter.add(first, "missing .version: a PTX file begins with .version and .target")
        elif ".target" not in self._seen:
            self._source.reporter.add(first, "missing .target after .version")

    def _item(self, cursor: Cursor) -> int:
        if cursor.text == "@":
            return self._old_debug_line(cursor)
        if cursor.kind != "dot":
            raise MalformedError(cursor.start, f"expected a directive, found {cursor.found}")
        directive = cursor.text
        if directive not in _DIRECTIVES:
            raise unknown_directive(cursor, _DIRECTIVES)
        if directive == ".section":
            return self._section(cursor)
        if directive in (".version", ".target", ".address_size", ".file"):
            return self._header(cursor, directive)
        if directive == ".pragma":
            self._items.append(pragma(cursor))
        elif directive == ".alias":
            self._items.append(self._alias(cursor))
        else:
            return self._declaration(cursor)
        return self._semicolon(cursor)

    def _semicolon(self, cursor: Cursor) -> int:
        if cursor.text == ";":
            return cursor.end
        if cursor.on_new_line or cursor.kind == "end":
            self._source.reporter.add(cursor.previous_end, "missing ';'")
            return cursor.previous_end
        raise MalformedError(cursor.start, f"expected ';', found {cursor.found}")

    def _header(self, cursor: Cursor, directive: str) -> int:
        cursor.advance()
        start = cursor.start
        self._seen.add(directive)
        if directive == ".target":
            self._target = self._words(cursor)
        elif directive == ".version":
            if cursor.kind != "number" or _VERSION.fullmatch(cursor.text) is None:
                raise MalformedError(start, f"expected a version such as 8.0, found {cursor.found}")
            self._version = cursor.text
            cursor.advance()
        elif directive == ".address_size":
            if cursor.text not in ("32", "64"):
                raise MalformedError(start, f"expected an address size of 32 or 64, found {cursor.found}")
            self._address_size = int(cursor.text)
            cursor.advance()
        else:
            self._items.append(self._file(cursor))
        return cursor.previous_end

    def _words(self, cursor: Cursor) -> tuple[str, ...]:
        found = [cursor.name("a target")]
        while cursor.take(","):
            found.append(cursor.name("a target"))
        return tuple(found)

    def _file(self, cursor: Cursor) -> SourceFile:
        index = literal(cursor.text) if cursor.kind == "number" else None
        if index is None or index.form != "int":
            raise MalformedError(cursor.start, f"expected a file number, found {cursor.found}")
        cursor.advance()
        if cursor.kind != "string":
            raise MalformedError(cursor.start, f"expected a file name in quotes, found {cursor.found}")
        name = cursor.text[1:-1]
        cursor.advance()
        rest = []
        while cursor.take(","):
            if cursor.kind != "number":
                raise MalformedError(cursor.start, f"expected a number, found {cursor.found}")
            rest.append(cursor.text)
            cursor.advance()
        return SourceFile(index.value, name, tuple(rest))

    def _section(self, cursor: Cursor) -> int:
        cursor.advance()
        if cursor.kind not in ("dot", "name"):
            raise MalformedError(cursor.start, f"expected a section name, found {cursor.found}")
        name = cursor.text
        cursor.advance()
        if cursor.text != "{":
            raise MalformedError(cursor.start, f"expected '{{' after a section's name, found {cursor.found}")
        text = self._source.text
        match = _BRACE.search(text, cursor.end)
        if match is None or match[0] == "{":
            raise MalformedError(cursor.start, "missing '}' to close the section")
        lines = (line.strip() for line in text[cursor.end : match.start()].split("\n"))
        self._items.append(Section(name, tuple(line for line in lines if line)))
        return match.end()

    def _old_debug_line(self, cursor: Cursor) -> int:
        """``@@DWARF ...``, the debug data of PTX before 2.0: kept as a section of one line without braces."""
        text = self._source.text
        end = text.find("\n", cursor.start)
        end = len(text) if end < 0 else end
        name, _, line = text[cursor.start : end].partition(" ")
        if name.upper() != OLD_DEBUG:
            raise MalformedError(cursor.start, "expected a directive, found '@'")
        self._items.append(Section(name, (line.strip(),)))
        return end

    def _alias(self, cursor: Cursor) -> Attribute:
        cursor.advance()
        names = []
        for _ in range(2):
            start = cursor.start
            names.append(cursor.name("a function"))
            if self._names.resolve(names[-1]) is None:
                self._source.reporter.add_unknown(start, "function", names[-1], self._names.known())
            if len(names) == 1:
                cursor.expect(",", "between the names of an alias")
        return Attribute("alias", tuple(names))

    def _declaration(self, cursor: Cursor) -> int:
        linkage = ""
        while cursor.text in LINKAGES:
            linkage = cursor.text[1:]
            cursor.advance()
        if cursor.text in (".func", ".entry"):
            return self._function(cursor, linkage)
        reader = DeclarationReader(self._source, cursor, self._names)
        if cursor.text == ".reg":
            self._check_module_scope(cursor.start)
            self._items += reader.registers()
        elif cursor.text in SPACES:
            self._items += reader.variables(linkage)
        else:
            raise MalformedError(cursor.start, f"expected a state space, .func or .entry, found {cursor.found}")
        return self._semicolon(cursor)

    def _check_module_scope(self, start: int) -> None:
        if self._version and tuple(map(int, self._version.split("."))) >= _FIRST_ABI:
            message = f"registers at module scope are possible up to PTX 2.3, this is PTX {self._version}"
            self._source.reporter.add(start, message)

    def _function(self, cursor: Cursor, linkage: str) -> int:
        is_kernel = cursor.text == ".entry"
        names = Names(self._names)
        cursor.advance()
        reader = DeclarationReader(self._source, cursor, names)
        try:
            function = self._signature(cursor, reader, is_kernel, linkage)
        except MalformedError as error:
            return self._after_bad_signature(error, names)
        if cursor.text == "{":
            body, end = BodyReader(self._source, names, cursor.start, function.name).read()
            self._items.append(self._with_parameters_of_body(replace(function, body=body)))
            return end
        self._items.append(function)
        return cursor.previous_end if not is_kernel and _is_item_next(cursor) else self._semicolon(cursor)

    def _with_parameters_of_body(self, function: Function) -> Function:
        """Up to PTX 1.3 a kernel declares its parameters in its body (PTX ISA, section 11.1, ``.entry``)."""
        body, old = function.body or (), self._version in ("1.0", "1.1", "1.2", "1.3")
        parameters = tuple(s for s in body if isinstance(s, Variable) and s.space == "param")
        if not old or not function.is_kernel or function.parameters or not parameters:
            return function
        return replace(function, parameters=parameters, body=tuple(s for s in body if s not in parameters))

    def _signature(self, cursor: Cursor, reader: DeclarationReader, is_kernel: bool, linkage: str) -> Function:
        before = []
        while cursor.text == ".attribute":
            before.append(attribute(cursor))
        returns = reader.parameters() if cursor.text == "(" and not is_kernel else ()
        start = cursor.start
        name = cursor.name("the function's name")
        if not self._names.declare_symbol(name) and name not in self._functions:
            self._source.reporter.add(start, f"'{name}' is already declared in this scope")
        self._functions.add(name)
        location = self._source.place(start)
        parameters = reader.parameters() if cursor.text == "(" else ()
        directives = (*before, *attributes(cursor, _DIRECTIVES))
        if cursor.text not in ("{", ";") and not cursor.on_new_line and not _is_item_next(cursor):
            raise MalformedError(cursor.start, f"expected '{{' or ';', found {cursor.found}")
        if cursor.text == "{":
            if name in self._defined:
                self._source.reporter.add(start, f"function '{name}' is already defined")
            self._defined.add(name)
        return Function(name, is_kernel, parameters, returns, None, directives, linkage, location)

    def _after_bad_signature(self, error: MalformedError, names: Names) -> int:
        """Report the error and read the body, if one follows, to report its errors; its names are unknown."""
        self._source.reporter.add(error.offset, error.message)
        match = _AFTER_SIGNATURE.search(self._source.text, error.offset)
        if match is None or not match[0].strip():
            return match.start() if match else len(self._source.text)
        if match[0] == ";":
            return match.end()
        names.is_silent = True
        return BodyReader(self._source, names, match.start()).read()[1]


def _is_item_next(cursor: Cursor) -> bool:
    """Whether another item of the module may begin here: ``ptxas`` needs no semicolon after a function's declaration,
    and compilers before CUDA 4 wrote none."""
    return cursor.kind in ("dot", "end") or cursor.text == "@"
