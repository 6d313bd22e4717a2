"""What a timing run returns: cycles, counts, the stall account, and the traffic of the memory system."""
