"""What replay and timing share: counts of a design, the capacity of an SM, errors of hooks, warps of a path."""
