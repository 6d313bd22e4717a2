"""CUDA C++ to PTX with NVIDIA's compilers, the optional ``cuda`` extra; needs no GPU.

Reading order: `options`, `headers` (where headers are, and what a source includes), `templates` (kernels to
instantiate), `nvrtc` (the run-time compiler), `nvcc` (for files with host code), `internal_names`, `errors`, `compile`
(all together, cached), `sealed` (without files).
"""
