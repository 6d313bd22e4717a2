"""Measurements: runs of workloads, designs compared on them, and the speed figures of the package itself."""
