"""Triton kernels and their specializations; ``python kernels.py`` writes their PTX (Triton 3.9, no GPU)."""

from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def vector_add(x, y, out, n, width: tl.constexpr):
    at = tl.program_id(0) * width + tl.arange(0, width)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def total(x, out, n, width: tl.constexpr):
    at = tl.program_id(0) * width + tl.arange(0, width)
    part = tl.sum(tl.load(x + at, mask=at < n, other=0), axis=0)
    tl.atomic_add(out, part)


@triton.jit
def softmax(x, out, columns, width: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, width)
    values = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    scaled = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + at, scaled / tl.sum(scaled, axis=0), mask=at < columns)


@triton.jit
def layer_norm(x, weight, bias, out, columns, epsilon, width: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, width)
    inside = at < columns
    values = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(values, axis=0) / columns
    centred = tl.where(inside, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + epsilon)
    result = centred * scale * tl.load(weight + at, mask=inside) + tl.load(bias + at, mask=inside)
    tl.store(out + row * columns + at, result.to(tl.float16), mask=inside)


@triton.jit
def running_sum(x, out, n, width: tl.constexpr):
    at = tl.arange(0, width)
    tl.store(out + at, tl.cumsum(tl.load(x + at, mask=at < n, other=0), axis=0), mask=at < n)


@triton.jit
def matmul(a, b, c, k, height: tl.constexpr, width: tl.constexpr, depth: tl.constexpr):
    rows, columns, inner = tl.arange(0, height), tl.arange(0, width), tl.arange(0, depth)
    sums = tl.zeros((height, width), tl.float32)
    for first in range(0, k, depth):
        left = tl.load(a + rows[:, None] * k + first + inner[None, :])
        right = tl.load(b + (first + inner)[:, None] * width + columns[None, :])
        sums = tl.dot(left, right, sums)
    tl.store(c + rows[:, None] * width + columns[None, :], sums)


KERNELS = {
    "vector_add": (vector_add, "*fp32 *fp32 *fp32 i32", {"width": 256}, 4),
    "total": (total, "*i32 *i32 i32", {"width": 128}, 2),
    "softmax": (softmax, "*fp32 *fp32 i32", {"width": 64}, 2),
    "layer_norm": (layer_norm, "*fp16 *fp32 *fp32 *fp16 i32 fp32", {"width": 128}, 2),
    "running_sum": (running_sum, "*i32 *i32 i32", {"width": 128}, 2),
    "matmul": (matmul, "*fp16 *fp16 *fp32 i32", {"height": 16, "width": 16, "depth": 16}, 1),
}
"""Function, types of the arguments, constants, warps."""

TARGETS = (75, 80, 90)


def main() -> None:
    for name, (function, types, constants, warps) in KERNELS.items():
        names = [n for n in function.arg_names if n not in constants]
        signature = dict(zip(names, types.split(), strict=True)) | dict.fromkeys(constants, "constexpr")
        for target in TARGETS:
            source = ASTSource(fn=function, signature=signature, constexprs=constants)
            compiled = triton.compile(source, target=GPUTarget("cuda", target, 32), options={"num_warps": warps})
            text = compiled.asm["ptx"]
            lines = [line for line in text.split("\n") if line.strip() and not line.strip().startswith("//")]
            body = "\n".join(lines).split("\t.file")[0].replace(str(Path(__file__).parent), "")
            kept = "\n".join(line for line in body.split("\n") if ".loc" not in line)
            shared = f"{compiled.metadata.shared} bytes of dynamic shared memory"
            header = f"// kernels.py by Triton {triton.__version__}: python kernels.py; {32 * warps} threads, {shared}"
            Path(__file__).with_name(f"{name}_sm_{target}.ptx").write_text(f"{header}\n{kept}\n")


if __name__ == "__main__":
    main()
