"""Tables over the whole suite: characteristics, namesakes, stall accounts, the accuracy of samples."""
