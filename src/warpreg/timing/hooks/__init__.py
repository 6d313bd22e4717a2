"""Calls of design hooks by the core.

Read `adapters`: for each hook, the function that stands for a port.  `schedule_recorder` is a design that records
events and changes nothing.
"""
