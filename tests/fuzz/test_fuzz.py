"""A small campaign: mutants of real PTX from fixed numbers, and more from hypothesis.

``WARPREG_FUZZ=5000`` tries that many, from a number after those of the small campaign.
"""

from __future__ import annotations

import os
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fuzz.corpus import texts
from tests.fuzz.mutate import mutant
from tests.fuzz.slices import run
from tests.fuzz.trial import Stage, attempt

from warpreg import ptx

INPUTS = 100
SLICES = 3
LONG = int(os.environ.get("WARPREG_FUZZ", "0"))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(SLICES))
def test_no_mutant_raises_anything_but_our_errors(part: int) -> None:
    counts = run(part * INPUTS, INPUTS)
    assert counts.defects == []
    assert sum(counts.stages[Stage.PARSED :]) >= 0.3 * INPUTS
    assert counts.stages[Stage.EXECUTED] >= 0.05 * INPUTS


@pytest.mark.skipif(not LONG, reason="a long campaign only if WARPREG_FUZZ gives a number of inputs")
def test_a_long_campaign() -> None:
    counts = run(INPUTS * SLICES, LONG)
    assert counts.defects == []
    early, late = counts.resident
    assert late - early < 100 * 1024


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(0, 1000))
def test_mutants_that_hypothesis_chooses(rng: random.Random, seed: int) -> None:
    assert attempt(mutant(rng, texts()), seed) in Stage


@pytest.mark.slow
@pytest.mark.parametrize("text", texts(), ids=lambda text: text.split(".entry", 1)[-1].split("(")[0].strip())
def test_the_corpus_itself_parses(text: str) -> None:
    assert ptx.parse(text).functions


def test_a_number_is_always_the_same_mutant() -> None:
    assert mutant(random.Random(7), texts()) == mutant(random.Random(7), texts())
