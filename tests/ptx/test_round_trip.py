"""``parse(write(module)) == module``: generated modules, the checked-in workloads, samples of several compilers."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import warpreg.workloads
from warpreg import ptx
from warpreg.ir.instruction import Guard, Instruction
from warpreg.ir.module import (
    AddressByte,
    Attribute,
    Function,
    GenericAddress,
    Initializer,
    LabelStatement,
    Loc,
    Module,
    RegisterDeclaration,
    Scope,
    Section,
    SourceFile,
    Statement,
    TopLevel,
    Variable,
)
from warpreg.ir.operands import (
    Address,
    AddressTuple,
    Immediate,
    Label,
    Not,
    Operand,
    Pair,
    Part,
    Register,
    Sink,
    Special,
    Symbol,
    Vector,
)
from warpreg.ir.types import TYPES

WORKLOADS = sorted(Path(warpreg.workloads.__file__).parent.glob("*/*/*.ptx"))
SAMPLES = sorted((Path(__file__).parent / "samples").glob("*.ptx"))


@pytest.mark.slow
@pytest.mark.parametrize("path", [*WORKLOADS, *SAMPLES], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_files(path: Path) -> None:
    text = path.read_text()
    module = ptx.parse(text, str(path))
    written = ptx.write(module)
    again = ptx.parse(written)
    assert again == module
    assert ptx.write(again) == written
    assert any(True for function in module.functions for _ in function.instructions())


def test_there_are_files() -> None:
    assert len(WORKLOADS) >= 8
    assert {path.stem for path in SAMPLES} == {"clang_like", "constructs", "numba_like", "triton_like"}


SCALARS = [TYPES[name] for name in ("b8", "u16", "s32", "b32", "f32", "u64", "f64", "b128")]
REGISTERS = tuple(
    Register(f"{prefix}{n}", type_)
    for prefix, type_ in (("%r", TYPES["b32"]), ("%rd", TYPES["b64"]), ("f$", TYPES["f32"]))
    for n in range(4)
)
PREDICATES = tuple(Register(f"%p{n}", TYPES["pred"]) for n in range(3))
DECLARATIONS: tuple[Statement, ...] = (
    RegisterDeclaration(TYPES["b32"], "%r", 4),
    RegisterDeclaration(TYPES["b64"], "%rd", 4),
    RegisterDeclaration(TYPES["f32"], "f$", 4),
    *(RegisterDeclaration(TYPES["pred"], p.name) for p in PREDICATES),
)
SYMBOLS = ("global_0", "global_1", "in", "$str")
OFFSETS = st.one_of(st.just(0), st.integers(-(2**33), 2**33))

registers = st.sampled_from(REGISTERS)
predicates = st.sampled_from(PREDICATES)
symbols = st.builds(Symbol, st.sampled_from(SYMBOLS), OFFSETS)
immediates = st.one_of(
    st.builds(Immediate, st.integers(-(2**63), 2**64 - 1)),
    st.builds(Immediate, st.integers(0, 2**32 - 1), st.just("f32")),
    st.builds(Immediate, st.integers(0, 2**64 - 1), st.just("f64")),
)
specials = st.builds(Special, st.sampled_from(["%tid.x", "%laneid", "%ctaid.z", "%clock64", "%envreg3"]))
addresses = st.one_of(
    st.builds(Address, st.one_of(registers, st.builds(Symbol, st.sampled_from(SYMBOLS))), OFFSETS),
    st.builds(Address, st.builds(Immediate, st.integers(0, 2**32))),
)
scalars = st.one_of(
    registers, predicates, symbols, immediates, specials, st.builds(Sink), st.builds(Label, st.just("L0"))
)
parts = st.builds(Part, registers, st.sampled_from(["b0", "b3", "h1"]), st.booleans())
vectors = st.builds(Vector, st.lists(scalars, min_size=1, max_size=5).map(tuple))
tuples = st.builds(
    AddressTuple,
    st.tuples(st.one_of(registers, st.builds(Symbol, st.sampled_from(SYMBOLS))), vectors)
    | st.tuples(st.builds(Symbol, st.sampled_from(SYMBOLS)), registers, vectors),
)
pairs = st.builds(Pair, registers | predicates | vectors | st.builds(Sink), predicates | st.builds(Sink))
operands: st.SearchStrategy[Operand] = st.one_of(
    scalars, addresses, vectors, tuples, st.builds(Not, predicates), parts, pairs
)
words = st.text(string.ascii_lowercase, min_size=1, max_size=6)
modifiers = st.one_of(
    st.sampled_from(["s32", "f32", "global", "shared::cta", "2d", "m16n8k16", "L2::128B", "kind::f16"]), words
)
opcodes = words.filter(lambda word: word not in ("bra", "brx", "call"))
guards = st.none() | st.builds(Guard, predicates, st.booleans())
instructions = st.builds(
    Instruction,
    opcodes,
    st.lists(modifiers, max_size=4).map(tuple),
    st.lists(operands, max_size=4).map(tuple),
    guards,
)
branches = st.builds(Instruction, st.just("bra"), st.just(("uni",)), st.just((Label("L0"),)), guards)
locs = st.builds(Loc, st.integers(1, 9), st.integers(0, 10**6), st.integers(0, 200))
pragmas = st.builds(Attribute, st.just("pragma"), st.just(('"nounroll"',)))
simple_statements = st.one_of(instructions, instructions, branches, locs, pragmas)


def _scope(inner: list[Statement]) -> Scope:
    return Scope((RegisterDeclaration(TYPES["b32"], "inner"), *inner))


statements: st.SearchStrategy[Statement] = st.recursive(
    simple_statements, lambda inner: st.builds(_scope, st.lists(inner, max_size=3)), max_leaves=4
)
initializers: st.SearchStrategy[Initializer] = st.recursive(
    st.one_of(
        immediates,
        st.builds(Symbol, st.just("$str"), OFFSETS),
        st.builds(GenericAddress, st.builds(Symbol, st.just("$str"), OFFSETS)),
        st.builds(AddressByte, st.integers(0, 2**64 - 1), st.builds(Symbol, st.just("$str"))),
    ),
    lambda inner: st.lists(inner, max_size=4).map(tuple),
    max_leaves=6,
)


@st.composite
def variables(draw: st.DrawFn, name: str) -> Variable:
    return Variable(
        space=draw(st.sampled_from(["global", "const"])),
        type=draw(st.sampled_from(SCALARS)),
        name=name,
        alignment=draw(st.sampled_from([0, 1, 4, 16])),
        dimensions=tuple(draw(st.lists(st.integers(0, 9), max_size=3))),
        vector=draw(st.sampled_from([1, 2, 4])),
        initializer=draw(st.none() | initializers),
        linkage=draw(st.sampled_from(["", "visible", "weak", "common"])),
        qualifiers=draw(st.sampled_from([(), (".attribute", "(", ".managed", ")")])),
    )


@st.composite
def functions(draw: st.DrawFn, name: str) -> Function:
    parameter = Variable(
        "param", draw(st.sampled_from(SCALARS)), "in", qualifiers=draw(st.sampled_from([(), (".ptr", ".global")]))
    )
    is_kernel = draw(st.booleans())
    drawn = draw(st.lists(statements, max_size=8))
    body = (*DECLARATIONS, LabelStatement("L0"), *drawn)
    attribute = st.sampled_from(
        [Attribute("maxntid", ("256", "1", "1")), Attribute("noreturn"), Attribute("maxnreg", ("32",))]
    )
    return Function(
        name, is_kernel, (parameter,), () if is_kernel else (Variable("param", TYPES["b32"], "out"),), body,
        tuple(draw(st.lists(attribute, max_size=2))), draw(st.sampled_from(["", "visible", "weak"])),
    )  # fmt: skip


@st.composite
def modules(draw: st.DrawFn) -> Module:
    items: list[TopLevel] = [Variable("global", TYPES["b8"], "$str", dimensions=(4,))]
    items.append(SourceFile(1, "a.cu", draw(st.sampled_from([(), ("1", "2")]))))
    items += [draw(variables("global_0")), draw(variables("global_1"))]
    items += [draw(functions(f"f{n}")) for n in range(draw(st.integers(0, 2)))]
    items += [Section(".debug_str", (".b8 1,2", "L:"))]
    version = draw(st.sampled_from(["6.0", "7.8", "9.0"]))
    return Module(
        version, draw(st.sampled_from([("sm_75",), ("sm_90a", "debug")])), draw(st.sampled_from([32, 64])), tuple(items)
    )


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(modules())
def test_generated_modules(module: Module) -> None:
    written = ptx.write(module)
    assert ptx.parse(written) == module
