"""Timing runs with the interpreted core: equal results, and faster than compilation for short runs."""

from __future__ import annotations

import importlib
from typing import Any

import pytest


def interpret(monkeypatch: pytest.MonkeyPatch, sms: int | None = None) -> None:
    """From here on every timing run is, on so many SMs where it says nothing else."""
    names = "simulate", "schedule_recording", "estimate", "tracing"
    modules = [importlib.import_module(f"warpreg.timing.launch.{name}") for name in names]
    compiled = modules[0].timed

    def timed(
        launch: Any,
        machine: Any,
        chosen: Any,
        registers: int | None = None,
        on: int | None = None,
        window: Any = None,
        mode: str = "compiled",
        reach: bool = False,
        between: Any = None,
        threads: int | None = None,
        recorder: Any = None,
    ) -> Any:
        return compiled(
            launch,
            machine,
            chosen,
            registers,
            on or min(sms or machine.chip.sms, machine.chip.sms),
            window,
            "interpreted",
            reach,
            between,
            threads,
            None,
            recorder,
        )

    for module in modules:
        monkeypatch.setattr(module, "timed", timed)
