"""How far the greedy placement is from the best possible one (`warpreg oracle`), and its page."""
