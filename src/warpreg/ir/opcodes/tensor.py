"""Matrix instructions of a warp (PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions").

Products of f16, bf16, tf32 and 8-bit numbers are exact; PTX leaves the order and the precision of their sum open (at
least single).  Here the products of an element of D are added in double precision, lowest inner index first, then the
accumulator, and only the sum is rounded to D's type, to nearest even.  f64 is a chain of fused multiply-adds that
begins with the accumulator.  Integer sums wrap, or clamp with ``.satfinite``.  `warpreg.ir.tensor` has the layout of
elements in registers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from warpreg.ir.opcodes.algebra import Algebra
from warpreg.ir.opcodes.form import Form, Latency, Opcode, Unit
from warpreg.ir.opcodes.trait import Trait
from warpreg.ir.tensor.product import MatrixProduct, product_of

V = TypeVar("V")

INTEGER, NIBBLE, SHARED = "(s8|u8)", "(s4|u4)", "(shared|shared::cta)"
MULTIPLIES = "all lanes of the warp multiply two matrices and add a third"
LOADS = "all lanes of the warp load a matrix"
STORES = "all lanes of the warp store a matrix"
READS, WRITES = Trait.MATRIX | Trait.READS, Trait.MATRIX | Trait.WRITES
LAYOUT = "(row|col)"
ROUNDING = "[.(rn|rz|rm|rp)]"


def transposed(m: Algebra[V], f: Form, active: V, a: V) -> V:
    """An 8 x 8 matrix of 16-bit elements transposed: row ``lane / 4``, two columns per lane, before and after."""
    lane, two = m.lane_ids(), m.constant(32, 2)
    row, upper = m.lshr(lane, two), m.constant(32, 16)
    column = m.shl(m.and_(lane, m.constant(32, 3)), m.constant(32, 1))
    is_odd = m.eq(m.and_(row, m.constant(32, 1)), m.constant(32, 1))
    parts = []
    for offset in range(2):
        source = m.add(m.shl(m.add(column, m.constant(32, offset)), two), m.lshr(row, m.constant(32, 1)))
        found = m.permute(a, source)
        parts.append(m.select(is_odd, m.lshr(found, upper), m.and_(found, m.constant(32, 0xFFFF))))
    return m.or_(parts[0], m.shl(parts[1], upper))


def _types(product: MatrixProduct) -> str:
    """The row's types: the registers of each matrix's fragment."""
    words = {m: " ".join([product.register_type(m)] * product.fragment(m).registers) for m in "abcd"}
    return f"{words['d']} <- {words['a']} {words['b']} {words['c']}"


def _row(syntax: str, example: str) -> Opcode:
    """A row; ``example`` is one of its full opcodes, which determines the number of operands."""
    opcode, *modifiers = example.split(".")
    types = _types(product_of(opcode, tuple(modifiers)))
    return Opcode(syntax, types, unit=Unit.TENSOR, effect=MULTIPLIES, traits=Trait.MATRIX)


def _mma() -> Iterator[Opcode]:
    head = "mma.sync.aligned"
    for d in ("f16", "f32"):
        for c in ("f16", "f32"):
            floats = f"{d}.f16.f16.{c}"
            yield _row(f"{head}.m8n8k4.{LAYOUT}.{LAYOUT}.{floats}", f"{head}.m8n8k4.row.col.{floats}")
            for shape in ("m16n8k8", "m16n8k16"):
                yield _row(f"{head}.{shape}.row.col.{floats}", f"{head}.{shape}.row.col.{floats}")
            for shape in ("m16n8k16", "m16n8k32"):
                bytes_ = "(e4m3|e5m2)"
                kind = "[.kind::f8f6f4]" if shape == "m16n8k32" else ""
                syntax = f"{head}.{shape}.row.col{kind}.{d}.{bytes_}.{bytes_}.{c}"
                yield _row(syntax, f"{head}.{shape}.row.col.{d}.e4m3.e4m3.{c}")
    for shape, kind in (("m16n8k4", "tf32"), ("m16n8k8", "tf32"), ("m16n8k8", "bf16"), ("m16n8k16", "bf16")):
        yield _row(*[f"{head}.{shape}.row.col.f32.{kind}.{kind}.f32"] * 2)
    for shape in ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"):
        floats = "f64.f64.f64.f64"
        yield _row(f"{head}.{shape}.row.col{ROUNDING}.{floats}", f"{head}.{shape}.row.col.{floats}")
    for kinds, shapes in (
        (INTEGER, ("m8n8k16", "m16n8k16", "m16n8k32")),
        (NIBBLE, ("m8n8k32", "m16n8k32", "m16n8k64")),
    ):
        kind = kinds[1:3]
        for shape in shapes:
            syntax = f"{head}.{shape}.row.col[.satfinite].s32.{kinds}.{kinds}.s32"
            yield _row(syntax, f"{head}.{shape}.row.col.s32.{kind}.{kind}.s32")
    for shape in ("m8n8k128", "m16n8k128", "m16n8k256"):
        tail = f"{shape}.row.col.s32.b1.b1.s32"
        yield _row(f"{head}.{tail}.(xor|and).popc", f"{head}.{tail}.xor.popc")


SQUARE, TALL, WIDE = "m16n16k16", "m32n8k16", "m8n32k16"


def _wmma_products() -> Iterator[Opcode]:
    head, layouts = "wmma.mma.sync.aligned", f"{LAYOUT}.{LAYOUT}"
    for shape in (SQUARE, TALL, WIDE):
        for d in ("f16", "f32"):
            for c in ("f16", "f32"):
                yield _row(f"{head}.{layouts}.{shape}.{d}.{c}", f"{head}.row.col.{shape}.{d}.{c}")
        yield _row(
            f"{head}.{layouts}.{shape}.s32.{INTEGER}.{INTEGER}.s32[.satfinite]", f"{head}.row.col.{shape}.s32.s8.s8.s32"
        )
        yield _row(f"{head}.{layouts}.{shape}.f32.bf16.bf16.f32", f"{head}.row.col.{shape}.f32.bf16.bf16.f32")
    yield _row(f"{head}.{layouts}.m16n16k8.f32.tf32.tf32.f32", f"{head}.row.col.m16n16k8.f32.tf32.tf32.f32")
    yield _row(f"{head}.{layouts}.m8n8k4{ROUNDING}.f64.f64.f64.f64", f"{head}.row.col.m8n8k4.f64.f64.f64.f64")
    yield _row(f"{head}.row.col.m8n8k32.s32.{NIBBLE}.{NIBBLE}.s32[.satfinite]", f"{head}.row.col.m8n8k32.s32.s4.s4.s32")
    yield _row(
        "wmma.mma.(xor|and).popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32",
        "wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32",
    )


FRAGMENTS = (
    ((SQUARE, TALL, WIDE), "f16", ("f16", "f32")),
    ((SQUARE, TALL, WIDE), "bf16", ("f32",)),
    ((SQUARE, TALL, WIDE), "s8", ("s32",)),
    (("m16n16k8",), "tf32", ("f32",)),
    (("m8n8k4",), "f64", ("f64",)),
    (("m8n8k32",), "s4", ("s32",)),
    (("m8n8k128",), "b1", ("s32",)),
)
"""Shapes of ``wmma`` with the type of A and B and those of C and D."""
SPELLED = {"s8": INTEGER, "s4": NIBBLE}
SPACE = "(global|shared|shared::cta)"


def _wmma_moves() -> Iterator[Opcode]:
    """Loads and stores by the registers of their fragment; shapes with equal registers share a row."""
    rows: dict[tuple[str, str, str], None] = {}
    for shapes, kind, sums in FRAGMENTS:
        for shape in shapes:
            for total in sums:
                full = f"wmma.mma.sync.aligned.row.col.{shape}.{total}.{kind}.{kind}.{total}"
                opcode, *modifiers = full.split(".")
                product = product_of(opcode, tuple(modifiers))
                for matrix, element in (("a", kind), ("b", kind), ("c", total)):
                    operand = " ".join([product.register_type(matrix)] * product.fragment(matrix).registers)
                    layout = {"a": "row", "b": "col"}.get(matrix, LAYOUT) if kind in ("s4", "b1") else LAYOUT
                    spelled = SPELLED.get(element, element)
                    rows[f"load.{matrix}.sync.aligned.{layout}.{shape}[.{SPACE}].{spelled}", operand, "load"] = None
                    if matrix == "c":
                        rows[f"store.d.sync.aligned.{layout}.{shape}[.{SPACE}].{element}", operand, "store"] = None
    for syntax, operand, action in rows:
        if action == "load":
            types = f"{operand} <- address u32?"
            yield Opcode(f"wmma.{syntax}", types, unit=Unit.MEM, latency=_load_latency, effect=LOADS, traits=READS)
        else:
            types = f"<- address {operand} u32?"
            yield Opcode(f"wmma.{syntax}", types, unit=Unit.MEM, latency=Latency.STORE, effect=STORES, traits=WRITES)


def _load_latency(modifiers: tuple[str, ...]) -> Latency:
    return Latency.SHARED if any(m.startswith("shared") for m in modifiers) else Latency.GLOBAL


def _small_matrices() -> Iterator[Opcode]:
    for count in (1, 2, 4):
        registers = " ".join(["b32"] * count)
        tail = f"sync.aligned.m8n8.x{count}[.trans][.{SHARED}].b16"
        yield _small(f"ldmatrix.{tail}", f"{registers} <- address", Latency.SHARED, LOADS, READS)
        yield _small(f"stmatrix.{tail}", f"<- address {registers}", Latency.STORE, STORES, WRITES)


def _small(syntax: str, types: str, latency: Latency, effect: str, traits: Trait) -> Opcode:
    """A row of matrices of 8 x 8 elements, which are in shared memory."""
    return Opcode(syntax, types, None, Unit.MEM, latency, effect, traits=traits, space="shared")


OPCODES = (
    *_mma(),
    *_wmma_products(),
    *_wmma_moves(),
    *_small_matrices(),
    Opcode(
        "movmatrix.sync.aligned.m8n8.trans.b16", "b32 <- b32",
        transposed, Unit.MEM, Latency.SHARED, lanes=True, outlined=True,
    ),
)  # fmt: skip
