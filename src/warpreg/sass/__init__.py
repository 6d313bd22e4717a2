"""SASS, the machine code of NVIDIA GPUs, and recorded hardware traces: nothing here yet."""
