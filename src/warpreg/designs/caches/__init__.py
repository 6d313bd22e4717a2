"""Small caches in front of the register file, filled by hardware."""
