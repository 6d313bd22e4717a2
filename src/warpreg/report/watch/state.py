"""What the page of ``warpreg watch`` shows, as data: each command with its progress, failures and figures so far."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from warpreg.cache.jobs import Job
from warpreg.evaluation.runs.design_means import design_means
from warpreg.report.pace import Pace, duration, rate_words

MAX_FAILURES = 200
"""Failures that a page lists."""


def state_of(job: Job, now: float) -> dict[str, Any]:
    """A command at a time in seconds since 1970."""
    values = job.values
    is_running = job.state == "running"
    end = now if is_running else values["at"]
    failures = values["failures"]
    return {
        "id": job.name,
        "title": shlex.join(["warpreg", *values["command"]]),
        "state": job.state,
        "step": values.get("step", "") if is_running else "",
        "why": values.get("why", ""),
        "facts": _facts(job, end),
        **_progress(values, end, is_running),
        "notes": values["notes"],
        "failures": failures[:MAX_FAILURES],
        "more_failures": max(0, len(failures) - MAX_FAILURES),
        "figures": design_means(values["rows"]),
    }


def _facts(job: Job, end: float) -> str:
    """When it began and how long it took."""
    began = datetime.fromtimestamp(job.values["began"])
    taken = duration(max(0.0, end - job.values["began"]))
    heard = (
        "" if job.state == "running" else f", {'last heard of' if job.state == 'stopped' else 'ended'} {_clock(end)}"
    )
    return f"process {job.values['process']}, began {began:%d %b %H:%M:%S}, took {taken}{heard}"


def _clock(at: float) -> str:
    return f"{datetime.fromtimestamp(at):%d %b %H:%M:%S}"


def _progress(values: Mapping[str, Any], now: float, is_running: bool) -> dict[str, Any]:
    """How much is done, how fast, and when it ends."""
    paced = values.get("pace")
    if not paced or not paced["total"]:
        return {"done": 0, "total": 0, "progress": ""}
    pace = Pace.of_dict(paced, now)
    words = pace.words(values.get("unit", ""), datetime.fromtimestamp(now))
    if not is_running:  # no end is expected
        rate = pace.rate
        words = ", ".join([words.split(", ")[0], *([rate_words(rate)] if rate else [])])
    found = f", {paced['found']:,.0f} known before" if paced["found"] else ""
    return {"done": pace.done, "total": pace.total, "progress": words + found}
