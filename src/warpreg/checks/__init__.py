"""Correctness checks: workloads against references, placements by execution, seeded corruptions."""
