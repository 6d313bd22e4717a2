"""Storage that several designs share: the entries of a cache of a warp, and their order in one word."""
