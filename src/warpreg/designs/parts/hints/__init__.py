"""Analyses that fill hint columns: last reads, suspension points, reads ahead, partial results."""
