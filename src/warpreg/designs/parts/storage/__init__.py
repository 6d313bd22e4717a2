"""Storage shared by several designs: the cache of a warp, and the age order of its entries in one word."""
