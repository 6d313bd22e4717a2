"""Widths of operands: a trace names the first register, the opcode determines their number."""

from pathlib import Path

import pytest

from warpreg.sass.isa.widths import Shape, Widths, access_bytes, widths


def of(text: str, sources: int, immediate: int = 0, results: int = 1) -> Widths:
    opcode, *modifiers = text.split(".")
    return widths(Shape(opcode, tuple(modifiers), results, sources, immediate))


@pytest.mark.parametrize(
    ("text", "sources", "result", "read"),
    [
        ("FFMA", 3, 1, (1, 1, 1)),
        ("IADD3.X", 3, 1, (1, 1, 1)),
        ("IADD.64", 2, 2, (2, 2)),
        ("FFMA2", 3, 2, (2, 2, 2)),
        ("DFMA", 3, 2, (2, 2, 2)),
        ("DSETP.GT.AND", 2, 2, (2, 2)),
        ("LDG.E", 1, 1, (2,)),
        ("LDG.E.64.CONSTANT", 1, 2, (2,)),
        ("LDG.E.128", 1, 4, (2,)),
        ("LDG.E.U8", 1, 1, (2,)),
        ("LDS.U.128", 1, 4, (1,)),
        ("LDL.64", 1, 2, (1,)),
        ("STG.E.64", 2, 2, (2, 2)),
        ("STS.128", 2, 4, (1, 4)),
        ("ATOMG.E.ADD.F64.RN.STRONG.GPU", 2, 2, (2, 2)),
        ("ATOMG.E.CAS.STRONG.GPU", 3, 1, (2, 1, 1)),
        ("LDGSTS.E.BYPASS.128", 2, 1, (1, 2)),
        ("LDSM.16.M88.4", 1, 4, (1,)),
        ("LDSM.16.MT88.2", 1, 2, (1,)),
        ("LDC.64", 1, 2, (1,)),
        ("CS2R", 0, 2, ()),
        ("CS2R.32", 0, 1, ()),
        ("F2F.F64.F32", 1, 2, (1,)),
        ("F2F.F32.F64", 1, 1, (2,)),
        ("F2I.S64.F64.TRUNC", 1, 2, (2,)),
        ("F2I.U64.TRUNC", 1, 2, (1,)),
        ("I2F.F64", 1, 2, (1,)),
        ("I2F.S64", 1, 1, (2,)),
        ("FRND.F64.FLOOR", 1, 2, (2,)),
        ("MUFU.RCP64H", 1, 1, (1,)),
        ("IMAD.WIDE", 3, 2, (1, 1, 2)),
        ("IMAD.WIDE.U32", 2, 2, (1, 1)),
        ("RET.REL.NODEC", 1, 2, (2,)),
        ("SHFL.IDX", 2, 1, (1, 1)),
        ("ISETP.GE.AND", 2, 1, (1, 1)),
    ],
)
def test_widths_follow_from_the_opcode(text: str, sources: int, result: int, read: tuple[int, ...]) -> None:
    assert of(text, sources) == Widths(result, read)


def test_an_immediate_tells_that_the_second_register_of_a_wide_product_is_the_sum() -> None:
    assert of("IMAD.WIDE", 2, immediate=4) == Widths(2, (1, 2))


@pytest.mark.parametrize(
    ("text", "result", "read"),
    [
        ("HMMA.16816.F32", 4, (4, 2, 4)),  # A is 16 x 16 halves: 256 * 16 / (32 * 32) = 4 registers
        ("HMMA.16816.F16", 2, (4, 2, 2)),
        ("HMMA.1688.F32", 4, (2, 1, 4)),
        ("HMMA.1688.F32.TF32", 4, (4, 2, 4)),
        ("HMMA.884.F32.F32.STEP0", 2, (2, 2, 2)),
        ("IMMA.16832.S8.S8", 4, (4, 2, 4)),
        ("IMMA.8816.S8.S8", 2, (1, 1, 2)),
        ("DMMA.884", 4, (2, 2, 4)),
        ("DMMA.8x8x4", 4, (2, 2, 4)),
        ("BMMA.168256.XOR.POPC", 4, (4, 2, 4)),
    ],
)
def test_fragments_follow_from_the_shape(text: str, result: int, read: tuple[int, ...]) -> None:
    assert of(text, 3) == Widths(result, read)


def test_a_modifier_of_ours_says_it_outright() -> None:
    assert of("IADD3.W212", 2) == Widths(2, (1, 2))


@pytest.mark.parametrize(
    ("text", "size"),
    [("LDG.E", 4), ("LDG.E.U8", 1), ("LDS.U.64", 8), ("STG.E.128", 16), ("LDSM.16.M88.4", 16), ("LDG.E.LTC128B.64", 8)],
)
def test_bytes_of_an_access(text: str, size: int) -> None:
    opcode, *modifiers = text.split(".")
    assert access_bytes(opcode, tuple(modifiers)) == size


@pytest.mark.parametrize(
    ("text", "mask", "first", "second", "coordinates"),
    [("TEX.LL", 0x1, 1, 1, 2), ("TEX.LL", 0x3, 1, 2, 2), ("TEX.LL", 0x7, 1, 2, 2), ("TLD.LZ", 0, 2, 2, 1)],
)
def test_a_fetch_has_its_upper_components_in_the_first_result(
    text: str, mask: int, first: int, second: int, coordinates: int
) -> None:
    assert of(text, 2, mask, results=2) == Widths(first, (coordinates, 1), second)
    assert of(text, 2, mask).result == (mask or 15).bit_count()


def test_forms_of_compiled_kernels_have_the_registers_that_a_disassembler_shows() -> None:
    lines = (Path(__file__).parent / "data" / "widths.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    assert len(rows) > 300
    for text, results, sources, immediate, first, second, read in rows:
        expected = Widths(int(first), tuple(map(int, read)), int(second))
        assert of(text, int(sources), int(immediate), int(results)) == expected, text
