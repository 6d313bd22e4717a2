"""The table of SASS opcodes: pipes, units and latency classes, for the program table too."""

import tomllib
from pathlib import Path

import pytest

from warpreg.designs.parts.hints.program_table import classify
from warpreg.ir.instruction import Instruction
from warpreg.ir.opcodes import Latency, Unit
from warpreg.sass.isa import opcodes
from warpreg.sass.isa.widths import RULES


@pytest.mark.parametrize(
    ("opcode", "pipe", "unit", "latency"),
    [
        ("FFMA", "fp", Unit.ALU, Latency.ALU),
        ("HADD2", "fp", Unit.ALU, Latency.ALU),
        ("IMAD", "int", Unit.ALU, Latency.ALU),
        ("XMAD", "int", Unit.ALU, Latency.ALU),
        ("S2R", "int", Unit.ALU, Latency.ALU),
        ("F2I", "int", Unit.ALU, Latency.ALU),
        ("MUFU", "sfu", Unit.SFU, Latency.SFU),
        ("DFMA", "dp", Unit.DP, Latency.DP),
        ("HMMA", "tensor", Unit.TENSOR, Latency.TENSOR),
        ("ULDC", "uniform", Unit.ALU, Latency.ALU),
        ("LDG", "mem", Unit.MEM, Latency.GLOBAL),
        ("LDS", "mem", Unit.MEM, Latency.SHARED),
        ("LDC", "mem", Unit.MEM, Latency.CONSTANT),
        ("STG", "mem", Unit.MEM, Latency.STORE),
        ("ATOMG", "mem", Unit.MEM, Latency.GLOBAL),
        ("ATOMS", "mem", Unit.MEM, Latency.SHARED),
        ("RED", "mem", Unit.MEM, Latency.STORE),
        ("TEX", "tex", Unit.TEX, Latency.TEXTURE),
        ("BRA", "ctrl", Unit.CTRL, Latency.CONTROL),
        ("BAR", "ctrl", Unit.CTRL, Latency.CONTROL),
    ],
)
def test_an_opcode_has_a_pipe_a_unit_and_a_latency_class(opcode: str, pipe: str, unit: Unit, latency: Latency) -> None:
    row = opcodes.find(opcode)
    assert (row.pipe, row.unit, row.latency) == (pipe, unit, latency)
    assert classify(Instruction(opcode, ("E",), ())) == (unit, latency)


def test_ptx_keeps_its_own_table() -> None:
    assert classify(Instruction("shfl", ("sync", "idx", "b32"), ())) == (Unit.MEM, Latency.SHARED)


def test_an_opcode_in_no_table_is_told_from_the_others_and_counts_as_integer_arithmetic() -> None:
    assert opcodes.is_known("IADD3")
    assert not opcodes.is_known("FROB")
    assert opcodes.find("FROB").pipe == "int"


def test_what_ends_a_path_of_lanes_is_in_the_table() -> None:
    assert {opcodes.find(name).flow for name in ("BRA", "BRX", "CALL", "RET")} == {"branch"}
    assert {opcodes.find(name).flow for name in ("EXIT", "KILL")} == {"exit"}
    assert {opcodes.find(name).flow for name in ("BSYNC", "SYNC", "WARPSYNC")} == {"sync"}
    assert opcodes.find("BAR").flow == "barrier"


def test_memory_instructions_say_what_they_do_where() -> None:
    for row in opcodes.table().values():
        assert bool(row.action) == (row.pipe in ("mem", "tex")), row
        assert row.pipe == "mem" or not row.space, row


def test_rules_of_operand_widths_are_named_for_opcodes_of_their_group() -> None:
    """Those whose operands do not have the widths of their pipe: ``F2F`` converts from or to 64 bits, ``IADD3`` not."""
    named = {name: row.widths for name, row in opcodes.table().items() if row.widths}
    assert set(named.values()) == RULES.keys()
    assert (named["F2F"], named["BRX"], opcodes.find("IADD3").widths) == ("conversion", "pairs", "")
    for group in tomllib.loads(Path(opcodes.__file__).with_suffix(".toml").read_text(encoding="utf-8"))["group"]:
        listed = {name for some in group.get("widths", {}).values() for name in some.split()}
        assert listed <= set(group["opcodes"].split())
