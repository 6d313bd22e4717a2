"""The timing core held against Accel-Sim: the same traces and machine tables, and its cycles."""
