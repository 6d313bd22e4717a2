"""What the compiler knows about a window of recent instructions (thesis, chapter 3).

``warp_flow`` gives the orders in which a warp executes the blocks of a kernel, ``window`` the rules of the window,
``destinations`` classifies results, ``transient`` finds values that need no register and the register demand without
them, ``check`` verifies a classification, ``window_events`` makes a kernel whose execution verifies it.
"""
