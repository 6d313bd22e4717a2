"""Launches: a device, its kernels, arguments in, memory and faults out.

Read `device`, `launch`, `arguments`; `host_services` answers what a kernel requests from the host, `recorder` writes
the trace, `faults` and `fault_reports` say what went wrong.
"""
