"""The timing core held against Accel-Sim: the same traces, machine tables and, hopefully, cycles."""
