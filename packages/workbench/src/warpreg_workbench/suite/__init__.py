"""Tables over the whole suite: characteristics, comparison with the originals, stall accounts, sampling accuracy."""
