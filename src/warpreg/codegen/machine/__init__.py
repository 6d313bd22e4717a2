"""What the target machine has: registers, legal operands, side effects, textures."""
