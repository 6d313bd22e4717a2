"""Parsing any mutated text gives a module or a PtxError, and each diagnostic points into the text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ptx.texts import kernel

from warpreg import ptx
from warpreg.ir.module import Module

SAMPLES = [path.read_text() for path in sorted((Path(__file__).parent / "samples").glob("*.ptx"))]
SAMPLES.append(kernel("add.s32 %r1, %r2, 0x1F; { .reg .b32 t; @%p1 bra L; L: } ld.v2.u32 {%r1, _}, [table+4];"))
FRAGMENTS = st.sampled_from(
    ["{", "}", ";", "(", ")", "[", "]", ",", ":", "::", '"', "/*", "*/", "//", "\n", "@", "!", "%", "-", "0x", "0f",
     "1e+", ".", ".reg", ".b32", ".func ", ".entry ", ".loc 1 2 3", ".section x", ".param", "=", "<", ">", "|", "\0",
     "é", " ", "%r", "generic(", "0xFF(", "call ", "L:", "?", "&&", "<<", ".pragma ", "@@DWARF", "9" * 30, "-" * 200]
)  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A well-formed text with a few stretches deleted, doubled, moved or replaced by fragments."""
    text = draw(st.sampled_from(SAMPLES))
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(text)))
        length = draw(st.one_of(st.integers(0, 3), st.integers(0, 200)))
        removed = text[start : start + length]
        inserted = draw(st.one_of(FRAGMENTS, st.just(""), st.just(removed * 2), st.text(max_size=3)))
        text = text[:start] + inserted + text[start + length :]
    return text


def read(text: str) -> Module | ptx.PtxError:
    try:
        return ptx.parse(text)
    except ptx.PtxError as error:
        return error


def check(text: str) -> None:
    found = read(text)
    if isinstance(found, Module):
        assert ptx.parse(ptx.write(found)) == found
        return
    lines = text.split("\n")
    assert found.diagnostics
    for diagnostic in found.diagnostics:
        place = diagnostic.location
        assert 1 <= place.line <= len(lines)
        assert 1 <= place.column <= len(lines[place.line - 1]) + 1


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(mutated())
def test_a_mutated_text(text: str) -> None:
    check(text)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.lists(FRAGMENTS | st.text(max_size=4), max_size=30))
def test_a_text_of_fragments(fragments: list[str]) -> None:
    check("".join(fragments))
    check(kernel("".join(fragments)))
