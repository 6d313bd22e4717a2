"""The vendor's machine code beside that of this compiler, and its execution beside a GPU's: figures of a docs page."""
