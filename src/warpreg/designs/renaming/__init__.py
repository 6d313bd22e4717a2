"""Registers that are renamed to entries: packed, virtual, or coalesced."""
