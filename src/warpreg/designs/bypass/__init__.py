"""Windows of recent instructions, whose operands bypass the register file."""
