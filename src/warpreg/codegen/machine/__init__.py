"""What the target machine has: registers, latencies, legal operands, side effects, textures."""
