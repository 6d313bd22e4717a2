"""Launches: a device, its kernels, arguments in, memory and faults out.

Read `device`, `launch`, `arguments` with `structures`, `variables`; `host_services` executes a kernel's requests to the
host, `recorder` writes the trace, `faults` and `fault_reports` describe errors.
"""
