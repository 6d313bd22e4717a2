"""A paper is measured on the code that it describes; the command line may take another one or change options."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
from click.testing import CliRunner

from warpreg.evaluation.runs.run import AS_COMPILED, CompileChoice
from warpreg.evaluation.studies.study import Study
from warpreg.ir.errors import UnknownNameError
from warpreg_papers import by_code as module
from warpreg_papers import command as reproduce
from warpreg_papers import reproduction
from warpreg_papers.part import Part
from warpreg_papers.reproduction import PAPERS, code_of, codes_of, measure

NATIVE = CompileChoice(address_bits=32, latencies="gebhart")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[CompileChoice]:
    """The code of each study that is asked for; nothing is measured."""
    choices: list[CompileChoice] = []

    def nothing(names: object, measures: object, size: str, choice: CompileChoice, *more: Any, **options: Any) -> Study:
        choices.append(choice)
        return Study(size, choice, {})

    monkeypatch.setattr(reproduction, "study", nothing)
    monkeypatch.setattr(reproduce, "reproduced", lambda paper, found: iter(()))
    return choices


@pytest.mark.parametrize("paper", list(PAPERS))
def test_every_code_of_a_paper_can_be_compiled_and_they_differ(paper: str) -> None:
    codes = codes_of(paper)
    assert "modern" in codes
    for code in codes.values():
        code.choice.options()
    assert len({code.choice for code in codes.values()}) == len(codes)


def test_both_papers_of_2011_have_addresses_of_32_bits() -> None:
    """ISCA 2011, section 4.1: traces of native code, which a production compiler scheduled (section 5.1).  MICRO 2011,
    section 4.2: operands are placed in allocated PTX, in its own order: Ocelot reads it (section 5.1).
    """
    assert code_of("rfc").choice == NATIVE
    assert code_of("orf-lrf").choice == replace(NATIVE, level="allocated-ptx", schedule=False)
    assert code_of("orf-lrf", "ptx-scheduled").choice == replace(NATIVE, level="allocated-ptx")


def test_a_paper_is_measured_on_its_own_code(asked: list[CompileChoice]) -> None:
    measure("orf-lrf")
    measure("bow")
    measure("rfc", choice=AS_COMPILED)
    assert asked == [code_of("orf-lrf").choice, AS_COMPILED, AS_COMPILED]


def test_options_of_the_command_line_change_the_code_that_it_names(asked: list[CompileChoice]) -> None:
    for arguments in (["rfc"], ["rfc", "--code", "modern"], ["rfc", "--no-schedule"], ["rfc", "--address-bits", "64"]):
        done = CliRunner().invoke(reproduce.command, [*arguments, "--json"], catch_exceptions=False)
        assert json.loads(done.stdout)["code"]["rfc"]["options"] == asked[-1].as_dict()
    assert asked == [NATIVE, AS_COMPILED, replace(NATIVE, schedule=False), replace(NATIVE, address_bits=64)]


def test_all_codes_stand_beside_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    values: Mapping[CompileChoice, float] = {code.choice: n / 10 for n, code in enumerate(codes_of("rfc").values())}
    monkeypatch.setattr(module, "study", lambda names, measures, size, choice, *more, **options: values[choice])

    class Results:
        WORKLOADS = ("fft",)
        PARTS: Mapping[str, Part] = MappingProxyType({})
        findings = staticmethod(lambda found: {"rfc-flush-cost": found})

    monkeypatch.setattr(module, "paper_module", lambda paper: Results)
    rows = {row.published.id: row for row in module.by_code("rfc", "tiny", processes=1)}
    assert rows["rfc-flush-cost"].measured == {"native": 0.0, "source-order": 0.1, "modern": 0.2}
    assert rows["rfc-flush-cost"].within == {"native": False, "source-order": True, "modern": False}
    assert not rows["rfc-lru-extra"].measured


def test_a_code_that_a_paper_does_not_have_is_an_error_that_names_the_others() -> None:
    with pytest.raises(UnknownNameError, match="native"):
        code_of("rfc", "ptx")
    done = CliRunner().invoke(reproduce.command, ["rfc", "--code", "all", "--no-schedule"])
    assert done.exit_code == 2
    assert "expected no compiler options, found schedule" in done.output
