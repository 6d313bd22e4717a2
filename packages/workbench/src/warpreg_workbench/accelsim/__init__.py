"""Validation of the timing core against Accel-Sim on the same traces and machine tables."""
