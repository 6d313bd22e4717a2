"""Results of a timing run: cycles, counts, stall account, traffic of the memory system."""
