"""Content hashes: equal for equal code and kernel, different for another compilation."""

from __future__ import annotations

import json
import re

import pytest

import warpreg
from warpreg.evaluation.runs.profile import added, register_profile
from warpreg.evaluation.runs.provenance import code_version
from warpreg.evaluation.runs.run import CompileChoice, RunError, find_workload, run_workload
from warpreg.simt import Record


def test_the_code_version_has_a_digest_of_the_sources() -> None:
    assert re.fullmatch(r"0\.1\.0\+[0-9a-f]{12}", code_version())


def test_a_kernel_compiled_in_another_way_has_another_digest() -> None:
    first, again = warpreg.run("reduction"), warpreg.run("reduction")
    unscheduled = warpreg.run("reduction", schedule=False)
    assert first.digest == again.digest != unscheduled.digest


def test_a_run_without_a_path_says_how_to_record_one() -> None:
    run = run_workload(find_workload("vector-add"), record=Record())
    with pytest.raises(RunError, match=r"no recorded path; record one with Record\(path=True\)"):
        warpreg.compare(run)


def test_profiles_add_up() -> None:
    run = warpreg.run("vector-add")
    one = register_profile(run)
    two = added([one, one])
    assert one.warp_instructions == run.warp_instructions
    assert two.values == 2 * one.values
    assert two.reads_per_instruction == one.reads_per_instruction


def test_options_of_a_run_are_those_that_are_read_back_and_give_the_choice_again() -> None:
    choice = CompileChoice(banks=4, include=("headers",), define=("N=4", "M"))
    kept = json.loads(json.dumps({"size": "tiny", "seed": 1, **choice.as_dict()}))
    assert kept == {"size": "tiny", "seed": 1, **choice.as_dict()}
    assert CompileChoice.of_run(kept) == choice
