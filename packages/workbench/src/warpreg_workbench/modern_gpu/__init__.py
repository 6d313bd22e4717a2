"""A modern GPU: what designs bring on top of the operand reuse cache, and how near its timing is to a real one."""
