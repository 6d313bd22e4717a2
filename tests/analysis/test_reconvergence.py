"""Reconvergence points of diverged lanes, by hand and against post-dominators."""

from __future__ import annotations

import pytest
from tests.reference.generator import KERNEL, generate

from warpreg import codegen, ptx
from warpreg.analysis.cfg import control_flow
from warpreg.analysis.dominators import post_dominators
from warpreg.analysis.reconvergence import reconvergence
from warpreg.ir.kernel import Kernel


def kernel(body: str) -> Kernel:
    text = f""".version 8.0
    .target sm_90
    .address_size 64
    .visible .entry k()
    {{ .reg .pred %p<4>; .reg .b32 %r<4>;
    mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 1; setp.gt.u32 %p1, %r0, 2; setp.lt.u32 %p2, %r0, 3;
    {body} }}"""
    return codegen.build_kernel(ptx.parse(text), "k")


def meeting(body: str) -> dict[str, str]:
    """Labels of the blocks where lanes may part, and of where they meet; ``-`` where they meet no more."""
    made = kernel(body)
    names = {block.index: block.label for block in made.blocks} | {-1: "-"}
    places = reconvergence(made)
    return {b.label: names[places[b.index]] for b in made.blocks if len(b.successors) > 1}


def test_an_early_return_does_not_keep_the_others_apart() -> None:
    """``if (p0) { if (p1) return; } join``: whoever stays meets at the join."""
    found = meeting("@!%p0 bra $join; @!%p1 bra $stay; ret; $stay: mov.u32 %r1, 1; $join: bar.sync 0; ret;")
    assert set(found.values()) == {"$join", "$stay"}


def test_with_two_ways_out_one_side_waits_for_the_other_to_leave() -> None:
    found = meeting("@%p0 bra $other; mov.u32 %r1, 1; ret; $other: mov.u32 %r1, 2; ret;")
    assert list(found.values()) == ["$other"]


def test_branches_on_an_early_way_out_meet_on_it() -> None:
    """``if (p0) { if (p1) x; common; return; } rest``: the inner branch meets at its common end, not at the rest."""
    found = meeting(
        "@!%p0 bra $rest; @!%p1 bra $common; mov.u32 %r1, 1; $common: mov.u32 %r2, 2; ret;"
        "$rest: mov.u32 %r3, 3; @%p2 bra $end; mov.u32 %r1, 4; $end: mov.u32 %r2, 5; ret;"
    )
    assert "$common" in found.values()
    assert found["$rest"] == "$end"


def test_an_endless_loop_has_meetings_inside() -> None:
    found = meeting("$top: @%p0 bra $join; mov.u32 %r1, 1; $join: mov.u32 %r2, 2; bra $top;")
    assert found["$top"] == "$join"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_with_one_way_out_lanes_meet_at_the_post_dominator(seed: int) -> None:
    made = codegen.build_kernel(ptx.parse(generate(seed).text), KERNEL)
    flow = control_flow(made)
    if len(flow.exits) == 1:
        immediate = post_dominators(made).immediate
        assert [reconvergence(made)[b] for b in flow.reverse_postorder] == [
            immediate[b] for b in flow.reverse_postorder
        ]
