"""Objects of the Python interface that show themselves in a notebook."""

from __future__ import annotations

import pytest
from tests.ir.test_html_table import texts

import warpreg
from warpreg import designs, gpu
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.evaluation.runs.comparison import Setting, compare


@pytest.mark.parametrize("name", gpu.names())
def test_a_machine_shows_every_number_with_its_value_and_source(name: str) -> None:
    machine = gpu.load(name)
    rows = texts(machine._repr_html_())[1:]
    assert len(rows) == len(machine.origins)
    assert all(key and value and source for key, value, source in rows)
    shown = {key: value for key, value, _ in rows}
    assert shown["sm.warps"] == str(machine.sm.warps)
    assert repr(machine) == f"<Machine {name}: {machine.title}>"


def test_a_design_shows_its_parameters() -> None:
    rows = texts(designs.load("rfc")._repr_html_())
    assert rows[0] == ["parameter", "default", "values", "source"]
    assert rows[1][:3] == ["entries", "6", "int from 0 to 16 (entries per thread)"]
    assert repr(designs.load("rfc")) == "<Design rfc: Register file cache in hardware>"


def test_a_run_a_kernel_and_a_row_show_themselves() -> None:
    run = warpreg.run("vector-add", size="tiny")
    (kernel,) = run.kernels
    assert texts(run._repr_html_())[1][0] == "vector_add"
    listing = texts(kernel._repr_html_())
    assert [row[2] for row in listing[1:]] == [str(instruction) for instruction in kernel.instructions()]
    choices = [ConfiguredDesign.load("rfc")]
    (row,) = compare(run, choices, Setting.load("gebhart-rfc", None, choices))
    levels = texts(row._repr_html_())
    assert [line[0] for line in levels[1:]] == list(row.levels)
    assert levels[2][1] == f"{row.levels['RFC'].reads:,.0f}"


def test_a_program_shows_its_kernels() -> None:
    program = warpreg.compile(
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry one(.param .u64 a, .param .f32 b)\n{ ret; }\n"
    )
    assert texts(program._repr_html_()) == [["kernel", "parameters"], ["one", "u64 a, f32 b"]]
    assert repr(program) == "<Program of one>"
