"""Tables of what a file of measurements holds."""

from __future__ import annotations

from statistics import median
from typing import Any

Rows = list[dict[str, Any]]


def tables(measurements: dict[str, Any]) -> dict[str, Rows]:
    """Rows by title: latencies, rates, register banks, memory, workloads, failures."""
    return {
        "Latency of a dependent copy, cycles": latencies(measurements["micro"]),
        "Cycles of an SM for a warp's copy, by warps": rates(measurements["micro"]),
        "Cycles of an FFMA by banks of its sources, by warps": banks(measurements["banks"]),
        "Cycles of a dependent load by bytes visited": chases(measurements["micro"]),
        "Cycles of a load by what came before it": between(measurements.get("between", {})),
        "Workloads": sizes(measurements["workloads"]),
        "Failures": failures(measurements),
    }


def latencies(micro: dict[str, Any]) -> Rows:
    """Chains; a copy may have several instructions."""
    chains = {name: one for name, one in micro.items() if name.startswith("chain-") and "cycles_per_copy" in one}
    return [
        {
            "chain": name.removeprefix("chain-"),
            "cycles": one["cycles_per_copy"],
            "instructions": one["instructions_per_copy"],
        }
        for name, one in chains.items()
    ]


def rates(micro: dict[str, Any]) -> Rows:
    """Independent instructions."""
    found = {name: one for name, one in micro.items() if name.startswith("rate-") and "cycles_per_warp_copy" in one}
    return [{"rate": name.removeprefix("rate-"), **one["cycles_per_warp_copy"]} for name, one in found.items()]


def banks(measured: dict[str, Any]) -> Rows:
    """Patched FFMA."""
    return [{"sources": one["case"], **one["cycles_per_ffma_of_a_warp"]} for one in measured.get("cases", ())]


def chases(micro: dict[str, Any]) -> Rows:
    """Through the first-level cache, and past it."""
    chase = micro.get("memory", {}).get("chase", {})
    cached, past = (chase.get(name, {}) for name in ("chase_cached", "chase"))
    return [{"bytes": int(size), "first level": cached[size], "second level": past.get(size)} for size in cached]


def between(measured: dict[str, Any]) -> Rows:
    """What a launch finds in the second level of what the one before it visited."""
    return [{"bytes": int(size), **row} for size, row in measured.get("cycles_per_load", {}).items()]


def sizes(workloads: dict[str, Any]) -> Rows:
    """Workloads and launches by size."""
    rows = []
    for size, measured in workloads.items():
        good = [one for one in measured.values() if "launches" in one]
        times = [launch["cold_ms"] for one in good for launch in one["launches"]]
        rows.append(
            {
                "size": size,
                "workloads": len(good),
                "launches": len(times),
                "median launch, us": 1000 * median(times) if times else 0.0,
                "with a sequence": sum(bool(one["sequence"]) for one in good),
            }
        )
    return rows


def failures(measurements: dict[str, Any]) -> Rows:
    """What was not measured, or is wrong."""
    rows = [{"task": name, "reason": one["error"]} for name, one in measurements["micro"].items() if "error" in one]
    for size, measured in measurements["workloads"].items():
        for name, one in measured.items():
            if reason := one.get("error") or one.get("failure"):
                rows.append({"task": f"{name} {size}", "reason": reason})
    return rows + [{"task": " ".join(task), "reason": "no time left"} for task in measurements["not_measured"]]
