"""How the hooks of a design meet the core.

Read `adapters`: for each hook the function that takes the place of a port.  `schedule_recorder` is a design that
records what happens and changes nothing.
"""
