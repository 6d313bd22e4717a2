"""How schedulers choose: the names in machine files, and their numbers in the timing core."""

from __future__ import annotations

PRIORITIES = ("lrr", "gto", "oldest", "greedy")
"""Which ready warp goes first: the next in turn; the last one as long as it can, then the oldest; the oldest; the last
one as long as it can, then the next in turn.
"""
LRR, GTO, OLDEST, GREEDY = range(len(PRIORITIES))
TWO_LEVEL = "two-level"
POLICIES = (PRIORITIES[LRR], PRIORITIES[GTO], PRIORITIES[OLDEST], TWO_LEVEL)
INNER = (PRIORITIES[GREEDY], PRIORITIES[LRR], PRIORITIES[GTO])
"""What a two-level scheduler may do within its active set."""

SUSPENDS = ("static", "pending", "stall")
"""What suspends a warp: a flag of its head; that and a result with a long latency; a time without issue."""
STATIC, PENDING, STALL = range(len(SUSPENDS))
