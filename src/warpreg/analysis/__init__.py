"""Questions about a kernel: control flow, dominators, loops, liveness, values, pressure; each answered once."""
