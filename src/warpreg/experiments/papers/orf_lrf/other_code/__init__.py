"""Code that ablations run in place of a workload's."""
