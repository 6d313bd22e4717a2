"""Register file cache and two-level scheduler (Gebhart et al., ISCA 2011)."""
