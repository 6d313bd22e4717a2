"""`Module` -> PTX text that parses to the same module (except for locations)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from warpreg.ir.errors import WarpregError
from warpreg.ir.instruction import Instruction
from warpreg.ir.module import (
    AddressByte,
    Attribute,
    BranchTable,
    CallPrototype,
    Function,
    GenericAddress,
    Initializer,
    LabelStatement,
    Loc,
    Module,
    Property,
    RegisterDeclaration,
    Scope,
    Section,
    SourceFile,
    Statement,
    TopLevel,
    Variable,
)
from warpreg.ir.operands import Address, AddressTuple, Operand
from warpreg.ptx.directives import OLD_DEBUG

_CLAUSES = ("function_name", "inlined_at")


def write(module: Module) -> str:
    """The module as PTX text; ``parse`` of it gives an equal module.  Raises WarpregError for machine code."""
    if module.code is not None:
        raise WarpregError(f"{module.file}: machine code ({module.code.architecture}) has no PTX")
    lines = [f".version {module.version}", f".target {', '.join(module.target)}"]
    lines += [f".address_size {module.address_size}", ""]
    for item in module.items:
        lines.extend(_item(item))
    return "\n".join(lines) + "\n"


def _item(item: TopLevel) -> Iterator[str]:
    if isinstance(item, (Variable, RegisterDeclaration)):
        yield _declaration(item) + ";"
    elif isinstance(item, Function):
        yield from _function(item)
    elif isinstance(item, Attribute):
        yield f".{item.name} {', '.join(item.arguments)};"
    elif isinstance(item, SourceFile):
        yield ", ".join((f'.file {item.index} "{item.name}"', *item.rest))
    else:
        yield from _section(item)


def _section(section: Section) -> Iterator[str]:
    if section.name.upper() == OLD_DEBUG:
        yield f"{section.name} {section.lines[0]}"
        return
    yield f".section {section.name}"
    yield "{"
    yield from section.lines
    yield "}"


def _function(function: Function) -> Iterator[str]:
    words = [f".{function.linkage}"] if function.linkage else []
    words.append(".entry" if function.is_kernel else ".func")
    words += [_attribute(a) for a in function.attributes if a.name == "attribute"]
    if function.returns:
        words.append(_parameters(function.returns))
    yield " ".join((*words, function.name)) + _parameters(function.parameters)
    yield from (_attribute(a) for a in function.attributes if a.name != "attribute")
    if function.body is None:
        yield ";"
        return
    yield "{"
    yield from _statements(function.body, "\t")
    yield "}"


def _parameters(parameters: tuple[Variable, ...]) -> str:
    return "(" + ", ".join(map(_variable, parameters)) + ")"


def _attribute(attribute: Attribute) -> str:
    if attribute.name == "attribute":
        return ".attribute" + " ".join(_with_commas(attribute.arguments))
    end = ";" if attribute.name == "pragma" else ""
    return f".{attribute.name} {', '.join(attribute.arguments)}".rstrip() + end


def _with_commas(tokens: tuple[str, ...]) -> Iterator[str]:
    for token, following in zip(tokens, (*tokens[1:], ")"), strict=True):
        yield token if token == "(" or following in "()" else token + ","


def _statements(statements: tuple[Statement, ...], indent: str) -> Iterator[str]:
    for statement in statements:
        if isinstance(statement, Instruction):
            yield indent + _instruction(statement)
        elif isinstance(statement, LabelStatement):
            yield statement.name + ":"
        elif isinstance(statement, Scope):
            yield indent + "{"
            yield from _statements(statement.statements, indent + "\t")
            yield indent + "}"
        elif isinstance(statement, Loc):
            yield indent + _loc(statement)
        else:
            yield indent + _declaration(statement) + ";"


def _declaration(statement: RegisterDeclaration | Variable | BranchTable | CallPrototype | Attribute) -> str:
    if isinstance(statement, RegisterDeclaration):
        vector = f".v{statement.vector} " if statement.vector > 1 else ""
        count = "" if statement.count is None else f"<{statement.count}>"
        return f".reg {vector}.{statement.type} {statement.name}{count}"
    if isinstance(statement, Variable):
        return _variable(statement)
    if isinstance(statement, BranchTable):
        return f"{statement.name}: .{statement.kind} {', '.join(statement.targets)}"
    if isinstance(statement, CallPrototype):
        returns = _parameters(statement.returns) + " " if statement.returns else ""
        directives = "".join(" " + _attribute(a) for a in statement.attributes)
        return f"{statement.name}: .callprototype {returns}_ {_parameters(statement.parameters)}{directives}"
    return f".{statement.name} {', '.join(statement.arguments)}"


def _loc(loc: Loc) -> str:
    words = [f".loc {loc.file} {loc.line} {loc.column}"]
    for token in loc.rest:
        words.append(", " + token if token in _CLAUSES else " " + token)
    return "".join(words)


def _variable(variable: Variable) -> str:
    words = [f".{variable.linkage}"] if variable.linkage else []
    space = f".{variable.space}"
    qualifiers = list(variable.qualifiers)
    if qualifiers and qualifiers[0].startswith("["):
        space += qualifiers.pop(0)
    words.append(space)
    pointer = qualifiers.index(".ptr") if ".ptr" in qualifiers else len(qualifiers)
    words += [" ".join(_with_commas(tuple(qualifiers[:pointer])))] if pointer else []
    if variable.alignment:
        words.append(f".align {variable.alignment}")
    if variable.vector > 1:
        words.append(f".v{variable.vector}")
    words.append(f".{variable.type}")
    words += qualifiers[pointer:]
    dimensions = "".join(f"[{d or ''}]" for d in variable.dimensions)
    words.append(variable.name + dimensions)
    if variable.initializer is not None:
        words.append("= " + _initializer(variable.initializer))
    return " ".join(words)


def _initializer(initializer: Initializer) -> str:
    if isinstance(initializer, tuple):
        return "{" + ", ".join(map(_initializer, initializer)) + "}"
    if isinstance(initializer, GenericAddress):
        offset = f"{initializer.symbol.offset:+d}" if initializer.symbol.offset else ""
        return f"generic({initializer.symbol.name}){offset}"
    if isinstance(initializer, AddressByte):
        return f"{initializer.mask:#x}({_initializer(initializer.symbol)})"
    if isinstance(initializer, Property):
        return f"{initializer.name} = {initializer.value}"
    return str(initializer)


def _instruction(instruction: Instruction) -> str:
    guard = f"{instruction.guard} " if instruction.guard else ""
    operands = ", ".join(map(_operand, instruction.operands))
    return f"{guard}{instruction.full_opcode} {operands}".rstrip() + ";"


def _operand(operand: Operand) -> str:
    if isinstance(operand, AddressTuple):
        inner = (_operand(e)[1:-1] if isinstance(e, Address) else _operand(e) for e in operand.elements)
        return "[" + ", ".join(inner) + "]"
    if isinstance(operand, Address) and operand.offset < 0:  # NVIDIA's assembler reads no "[%rd1-4]"
        return f"{str(replace(operand, offset=0))[:-1]}+{operand.offset}]"
    return str(operand)
