"""Whether results are right: workloads against references, placements by running, seeded corruptions."""
