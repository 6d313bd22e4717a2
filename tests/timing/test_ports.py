"""Ports: only marked functions are replaced, every variant has its place, and the explanation says what runs."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.timing.cores import cores, reached_by_some

from piecewise_numba.natives import Function
from warpreg import gpu
from warpreg.designs.errors import DesignError
from warpreg.designs.interface.banks import Banks, Collectors
from warpreg.designs.loading.configured_design import ConfiguredDesign
from warpreg.gpu.memory import MODELS
from warpreg.gpu.units import WINDOW
from warpreg.ir.errors import UnknownNameError
from warpreg.timing import hooks, sm
from warpreg.timing.core import conditions as when
from warpreg.timing.core import port, ports
from warpreg.timing.core.conditions import CoreConfig
from warpreg.timing.hooks import adapters, operand_events, schedule_recorder, turns
from warpreg.timing.launch import compile as compiling
from warpreg.timing.launch.compile import CoreRecipe
from warpreg.timing.launch.explained import WRITTEN, Row, explained
from warpreg.timing.launch.variants import given_of_design
from warpreg.timing.sm import (
    bank_queues,
    banked_path,
    cycle,
    ideal_path,
    operand_collector,
    owned_collectors,
    stall_account,
)
from warpreg.timing.tracing import event_writers

PLAIN = CoreConfig("banks", "fixed")
UNUSED: dict[Function, str] = {
    adapters.call_block_end: "no design of the package defines block_end",
    operand_events.keeping_planned: "no design of the package plans results in plan_write and again in produced",
    operand_events.recalling_planned: "the same",
    operand_events.keep_planned: "the same",
    operand_events.recall_planned: "the same",
    **dict.fromkeys(
        (
            turns.call_choose,
            turns.call_turns_start,
            turns.call_turns_end,
            turns.has_thread_blocks,
            turns.number_of_scheduler,
            turns.show_warps,
            turns._is_fetched,
            turns._awaited,
        ),
        "no design of the package chooses the warp that issues",
    ),
    owned_collectors._oldest_to_try: "the collectors of all designs of the package dispatch in turn",
}
"""What no machine and design of the package reaches, and why it stays: the interface of designs offers it, and tests
with designs of their own run it.
"""
ENTRIES = {compiling.core, compiling.opened_core, compiling.opened_memory}
"""Ports before the first cycle."""


def nothing() -> None:
    """No port."""


# What may be replaced.


def test_a_variant_of_a_function_that_is_no_port_is_refused() -> None:
    with pytest.raises(TypeError, match=r"cycle\.run is replaced and no port: mark it with @port"):
        port.stands_for(cycle.run, when.IDEAL)(nothing)
    assert all(one.function is not nothing for one in port.VARIANTS)


def test_a_core_in_which_a_function_that_is_no_port_is_replaced_is_not_built() -> None:
    with pytest.raises(TypeError, match=r"cycle\._step is replaced and no port"):
        CoreRecipe({cycle._step: nothing}, mode="interpreted").build(())


def test_two_variants_at_once_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """`ports.collect` has one where the operand path is ideal; a second one would be chosen by the order of imports."""
    second = port.Variant(ports.collect, when.memory_model("fixed"), nothing)
    monkeypatch.setattr(port, "VARIANTS", [*port.VARIANTS, second])
    port.chosen.cache_clear()
    with pytest.raises(TypeError, match=r"two variants stand for .*ports\.collect: .* ideal; .* fixed"):
        port.chosen(replace(PLAIN, operand_path="ideal"))


@pytest.mark.parametrize("make", [when.hook, when.memory_model])
def test_a_misspelt_property_is_refused(make: Callable[[str], when.Condition]) -> None:
    with pytest.raises(UnknownNameError, match="plan_raeds"):
        make("plan_raeds")


givens = st.builds(
    CoreConfig,
    st.sampled_from(("banks", "ideal", WINDOW)),
    st.sampled_from(MODELS),
    hooks=st.frozensets(st.sampled_from([*port.HOOKS])),
    main_levels=st.sampled_from((1, 3)),
    banks=st.builds(Banks, st.sampled_from((1, 4)), st.sampled_from((1, 2))),
    collectors=st.none() | st.builds(Collectors, instructions=st.just(3), reading=st.sampled_from((1, 3))),
    recording=st.sampled_from(("", "events", "waits")),
    **{field.name: st.booleans() for field in fields(CoreConfig) if field.type == "bool"},
).filter(lambda one: one.operand_path != WINDOW or one.collectors is None)
"""All that a core may be compiled for; warps of a machine with a read window own no collectors."""


@settings(max_examples=200, deadline=None)
@given(givens)
def test_at_most_one_variant_stands_for_a_port(one: CoreConfig) -> None:
    """`port.chosen` raises otherwise; only ports are replaced, and every memory port is filled."""
    replaced = port.replacements(one)
    port.check(replaced)
    assert set(ports.MEMORY) <= set(replaced)


# What declares nothing, or has no place.


def functions_of(*folders: object) -> Iterator[Function]:
    """The functions of the modules of folders that consist of functions of cores."""
    for folder in folders:
        for found in pkgutil.iter_modules(folder.__path__, f"{folder.__name__}."):  # type: ignore[attr-defined]
            module = importlib.import_module(found.name)
            for value in vars(module).values():
                if inspect.isfunction(value) and value.__module__ == found.name:
                    yield value


@pytest.mark.slow
def test_every_function_of_an_sm_and_of_hooks_runs_in_some_core() -> None:
    """A variant that declares nothing, or whose property never holds, would run in none."""
    own = {one for one in functions_of(sm, hooks) if one.__module__ != schedule_recorder.__name__}
    unreached = own - reached_by_some() - set(port.HOOKS.values())
    assert {port.name_of(one) for one in unreached} == {port.name_of(one) for one in UNUSED}


@pytest.mark.slow
def test_every_variant_stands_in_some_core() -> None:
    known = {one for one in port.VARIANTS if one.value is None and one.function not in reached_by_some()}
    assert {one.function for one in known} <= set(UNUSED)
    constants = [one for one in port.VARIANTS if one.value is not None]
    assert all(any(one.when.holds(core) for core in cores()) for one in constants)
    assert {one for one in port.PORTS if one not in reached_by_some()} <= {
        *ENTRIES,
        adapters.block_end,
        turns.choose,
        turns.turns_start,
        turns.turns_end,
    }


# What runs when.


def rows(machine: str, *names: str, **asked: bool) -> dict[str, Row]:
    """By port, the explanation of a core."""
    chosen = ConfiguredDesign.of(names, {})
    found = given_of_design(gpu.load(machine), chosen, **asked)
    return {row.port: row for row in explained(found, chosen.design.hooks)}


def test_the_collectors_that_latched_instructions_want_depend_on_who_owns_them() -> None:
    plain, owned = (rows("gtx480", *names)["operand_collector.wanted"] for names in ((), ("bow",)))
    assert (plain.function, plain.why) == ("operand_collector.wanted", WRITTEN)
    assert (owned.function, owned.why) == ("owned_collectors.wanted", "warps own collectors")
    line = int(owned.place.rpartition(":")[2])
    assert owned.place.startswith("timing/sm/owned_collectors.py:")
    assert inspect.getsourcelines(owned_collectors)[0][line - 1].startswith("def wanted(")


def test_the_operand_path_is_that_of_the_machine() -> None:
    found = {name: rows(name)["ports.collect"].function for name in ("gtx480", "bow-titanx-ideal", "h100")}
    assert found == {
        "gtx480": "banked_path.collect",
        "bow-titanx-ideal": "ideal_path.collect",
        "h100": "window_path.collect",
    }


def test_stages_come_in_the_order_of_a_cycle() -> None:
    """Results return first, operands are read before instructions issue; `wanted` belongs to what follows."""
    order = [*rows("gtx480", "rfc")]
    wanted = ["ports.returned", "ports.accepts", "ports.collect", "ports.admit", "ports.warp_end"]
    assert [one for one in order if one in wanted] == wanted


def test_hooks_are_shown_where_their_author_wrote_them() -> None:
    found = rows("gtx480", "rfc")["adapters.plan_reads"]
    assert (found.function, found.why) == ("rfc.plan_reads", "the design defines plan_reads")
    assert found.place.startswith("designs/caches/rfc.py:")


def test_control_codes_take_the_place_of_the_scoreboard() -> None:
    without, with_codes = (rows("h100", has_control_codes=codes) for codes in (False, True))
    assert without["issue.enter_scoreboard"].why == WRITTEN
    assert with_codes["issue.enter_scoreboard"].function == "control_codes.enter_scoreboard"


def test_a_design_that_the_machine_cannot_have_is_refused() -> None:
    with pytest.raises(DesignError, match="machine h100 has none"):
        rows("h100", "bow")


def test_what_is_recorded_is_around_what_stands_for_the_port() -> None:
    """With collectors of warps: the recording calls a twin of their function, not of the machine's."""
    replaced = port.replacements(replace(PLAIN, collectors=Collectors(), recording="events"))
    inner = replaced[event_writers.core_blocked_warps]
    assert replaced[stall_account.blocked_warps] is event_writers.blocked_warps
    assert inner.__code__ is owned_collectors.blocked_warps.__code__
    assert inner is not owned_collectors.blocked_warps


def test_functions_keep_no_mark() -> None:
    """Keys of compiled code depend on the marks of a function: those of ports stand elsewhere."""
    marked = (ports.collect, banked_path.collect, ideal_path.collect, operand_collector.wanted, bank_queues.request)
    assert all(not vars(function) for function in marked)
