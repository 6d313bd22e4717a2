"""How memory slows down under load, by traffic alone and by kernels on the timing core."""
