"""Small kernels written as their relevant instructions: declarations, parameters and launch are added here.

``run`` makes a kernel ``k`` with one parameter for each keyword argument, of the same name: an array becomes a buffer
and a pointer, an ``int`` a ``.u32``, a ``float`` an ``.f32``.  Code before the body loads each parameter into
``%name``, the linear thread index of the whole grid into ``%t``, and for each pointer the address of its 32-bit element
``%t`` into ``%my_name``.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpreg.codegen import CompileOptions
from warpreg.simt import Buffer, Device, Launch, Record

REGISTERS = ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .f32 %f<9>; .reg .b64 %rd<40>; .reg .f64 %fd<9>;"
VIRTUAL, COMPILED = None, CompileOptions(predicate=False)


def words(*numbers: int) -> NDArray[np.uint32]:
    """An array of 32-bit words; negative numbers as two's complement."""
    return np.array([number % (1 << 32) for number in numbers], np.uint32)


def parameter(name: str, value: Any) -> tuple[str, str]:
    """A parameter's declaration and the code that reads it."""
    if isinstance(value, np.ndarray):
        read = f"ld.param.u64 %{name}, [{name}]; mad.wide.u32 %my_{name}, %t, 4, %{name};"
        return f".param .u64 {name}", f".reg .b64 %{name}, %my_{name}; {read}"
    kind = "f32" if isinstance(value, float) else "u32"
    return f".param .{kind} {name}", f".reg .{kind} %{name}; ld.param.{kind} %{name}, [{name}];"


INDEX = """.reg .b32 %t, %t_block, %t_width;
mov.u32 %t, %tid.x; mov.u32 %t_block, %ctaid.x; mov.u32 %t_width, %ntid.x; mad.lo.u32 %t, %t_block, %t_width, %t;"""


def module(body: str, parameters: Mapping[str, Any], before: str = "") -> str:
    """PTX of a module with the kernel ``k``; ``before`` stands in front of the kernel."""
    parts = [parameter(name, value) for name, value in parameters.items()]
    return "\n".join(
        [
            ".version 8.0\n.target sm_80\n.address_size 64",
            textwrap.dedent(before),
            f".visible .entry k({', '.join(declared for declared, _ in parts)})",
            "{",
            REGISTERS,
            INDEX,
            *(read for _, read in parts),
            textwrap.dedent(body),
            "ret;\n}\n",
        ]
    )


@dataclass
class Outcome:
    """A finished launch with the buffers it worked on; ``outcome["x"]`` is the content of ``x`` afterwards."""

    device: Device
    launch: Launch
    buffers: dict[str, Buffer] = field(default_factory=dict)

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.buffers[name].download()


def prepare(
    body: str,
    parameters: Mapping[str, Any],
    before: str = "",
    options: CompileOptions | None = COMPILED,
    record: Record = Record(),  # noqa: B008 - a frozen value
) -> tuple[Device, dict[str, Any]]:
    """A device for a kernel, and its arguments: buffers for arrays."""
    device = Device(module(body, parameters, before), options=options, record=record)
    arguments = {n: device.upload(v, n) if isinstance(v, np.ndarray) else v for n, v in parameters.items()}
    return device, arguments


@dataclass(frozen=True)
class Runner:
    """Runs kernels on one version of their code: virtual registers or compiled."""

    options: CompileOptions | None

    def __call__(
        self,
        body: str,
        *,
        grid: Any = 1,
        block: Any = 32,
        before: str = "",
        record: Record = Record(),  # noqa: B008 - a frozen value
        shared_bytes: int = 0,
        **parameters: Any,
    ) -> Outcome:
        device, arguments = prepare(body, parameters, before, self.options, record)
        launch = device.launch("k", grid, block, *arguments.values(), shared_bytes=shared_bytes)
        return Outcome(device, launch, {n: v for n, v in arguments.items() if isinstance(v, Buffer)})
