"""Places of thread blocks on an SM, for designs whose warps share something by thread block."""
