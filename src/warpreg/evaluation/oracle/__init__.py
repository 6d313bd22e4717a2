"""The gap between greedy and optimal placement (`warpreg oracle`), and its documentation page."""
