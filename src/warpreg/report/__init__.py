"""Figures and listings of measured results: `figures` for papers and slides, `listing` for the terminal."""
