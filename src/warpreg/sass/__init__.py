"""SASS, the machine code of NVIDIA GPUs: opcode tables (`opcodes`), recorded hardware traces in (`reader`) and out
(`export`)."""
