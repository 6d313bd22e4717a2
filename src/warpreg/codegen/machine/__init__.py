"""Properties of the target machine: registers, latencies, legal operands, side effects, textures."""
