"""Memory contention under load, with synthetic traffic and with kernels on the timing core."""
