"""The compiler against `ptxas`: registers and instructions of every kernel, and the page about them."""
