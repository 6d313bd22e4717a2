"""Scheduling policies: their names in machine files, and their numbers in the timing core."""

from __future__ import annotations

PRIORITIES = ("lrr", "gto", "oldest", "greedy", "gty")
"""Orders of ready warps: round-robin; the last one while it can issue, then the oldest; the oldest; the last one while
it can issue, then the next in turn; the last one while it can issue, then the youngest.
"""
LRR, GTO, OLDEST, GREEDY, GTY = range(len(PRIORITIES))
TWO_LEVEL = "two-level"
POLICIES = (PRIORITIES[LRR], PRIORITIES[GTO], PRIORITIES[OLDEST], PRIORITIES[GTY], TWO_LEVEL)
INNER = (PRIORITIES[GREEDY], PRIORITIES[LRR], PRIORITIES[GTO])
"""Policies within the active set of a two-level scheduler."""

SUSPENDS = ("static", "pending", "stall")
"""Conditions that suspend a warp: a flag of its head; the flag and a pending long-latency result; a time without
issue.
"""
STATIC, PENDING, STALL = range(len(SUSPENDS))

SCOREBOARDS = ("named", "all")
"""Outstanding results of its warp that an instruction waits for: those of cells that it names; all."""
NAMED_RESULTS, ALL_RESULTS = range(len(SCOREBOARDS))

DEPENDENCES = ("scoreboard", "control")
"""What an instruction waits for: cells in a scoreboard; what its control code says, where the code has control codes.
"""
