"""Replacements of workloads for ablations."""
