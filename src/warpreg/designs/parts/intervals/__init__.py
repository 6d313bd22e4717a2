"""Register intervals: parts of a kernel whose registers fit a cache; read `pieces`, `formation`, then `expand`."""
