"""The table of what arguments may be covers every function that hooks may call."""

from __future__ import annotations

import inspect
from types import FunctionType

from warpreg.designs import interface
from warpreg.designs.checking.ranges import ARGUMENTS, GUARDS, ranges_of
from warpreg.designs.checking.rewrite import PLAN_MODULES


def test_every_plan_function_has_a_row_and_every_argument_a_check() -> None:
    functions = {
        name: function
        for name, function in vars(interface).items()
        if isinstance(function, FunctionType) and function.__module__ in PLAN_MODULES
    }
    assert functions.keys() <= ARGUMENTS.keys()
    declared = interface.Declaration(slot="levels", source="assumed: a test")
    known = {*ranges_of(declared), *GUARDS}
    for name, function in functions.items():
        taken = set(inspect.signature(function).parameters) - {"plan", "program"}
        assert taken <= ARGUMENTS[name].keys()
        assert set(ARGUMENTS[name].values()) <= known
