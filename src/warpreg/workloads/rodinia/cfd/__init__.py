"""cfd: flow of air around an obstacle, the Euler equations on an unstructured mesh."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from warpreg.workloads.rodinia.cfd import mesh
from warpreg.workloads.workload import Array, Arrays, Device, Size, Tolerance, Workload

THREADS = 192
GAMMA = 1.4
MACH = 1.2
SMOOTHING = 0.2


def make_inputs(size: Size, rng: np.random.Generator) -> Arrays:
    """The mesh of `mesh.tetrahedra` in float32, its last element repeated until blocks are full."""
    return padded(mesh.tetrahedra(size["side"], rng), np.float32)


def padded(elements: Arrays, dtype: type[np.floating[Any]]) -> Arrays:
    """The mesh with a multiple of ``THREADS`` elements, floating-point numbers as ``dtype``."""
    result = {}
    for name, array in elements.items():
        missing = -array.shape[-1] % THREADS
        array = np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, missing)], mode="edge")
        result[name] = array if array.dtype == np.int32 else array.astype(dtype)
    return result


def run(device: Device, size: Size, inputs: Arrays) -> Arrays:
    """Steps of ``stages`` Runge-Kutta stages, from a uniform flow; ``variables``: float32[5, elements], density,
    momentum and energy."""
    dtype = inputs["areas"].dtype
    elements = len(inputs["areas"])
    grid = elements // THREADS
    neighbours, normals, areas = (device.upload(inputs[name]) for name in ("neighbours", "normals", "areas"))
    now, later, spare = (device.zeros((5, elements), dtype) for _ in range(3))
    steps = device.zeros(elements, dtype)

    state, _ = far_field()
    device.assign("far_state", state.astype(dtype))
    device.launch("fill_with_far_field", grid, THREADS, elements, now)
    for _ in range(size["steps"]):
        device.launch("find_steps", grid, THREADS, elements, now, areas, steps)
        start = now
        for stage in range(size["stages"]):
            share = dtype.type(1 / (3 + 1 - stage))
            arguments = (elements, share, neighbours, normals, steps, start, now, later)
            device.launch("advance", grid, THREADS, *arguments)
            now, later = later, spare if now is start else now
        spare = start
    return {"variables": now.download()}


def far_field() -> tuple[Array, Array]:
    """The state of the undisturbed flow, float64[5], and its fluxes along x, y and z, float64[5, 3]."""
    density, pressure = 1.4, 1.0
    speed = MACH * np.sqrt(GAMMA * pressure / density)
    state = np.array([density, density * speed, 0, 0, density * speed**2 / 2 + pressure / (GAMMA - 1)])
    return state, _fluxes(state)


def reference(size: Size, inputs: Arrays) -> Arrays:
    """The scheme in float64, with the four neighbours of all elements at once."""
    neighbours = inputs["neighbours"]
    normals, areas = (inputs[name].astype(np.float64) for name in ("normals", "areas"))
    state, far = far_field()
    variables = np.repeat(state[:, None], len(areas), axis=1)
    for _ in range(size["steps"]):
        before = variables
        factors = 0.5 / (np.sqrt(areas) * _fastest(before))
        for stage in range(size["stages"]):
            variables = before + factors / (3 + 1 - stage) * _gains(variables, neighbours, normals, far)
    return {"variables": variables.astype(inputs["areas"].dtype)}


def _gains(variables: Array, neighbours: Array, normals: Array, far: Array) -> Array:
    """float64[5, elements]: what flows into each element through its four faces."""
    flux, fastest, pressure = _fluxes(variables), _fastest(variables), _pressure(variables)
    gains = np.zeros_like(variables)
    for other, normal in zip(neighbours, normals.swapaxes(0, 1), strict=True):
        inside = other >= 0
        beyond = np.where(inside, other, 0)
        beyond_flux = np.where(inside, flux[:, :, beyond], far[:, :, None])
        through = np.einsum("vde,de->ve", (flux + beyond_flux) / 2, normal)
        mixing = SMOOTHING / 2 * np.linalg.norm(normal, axis=0) * (fastest + fastest[beyond])
        through += np.where(inside, mixing * (variables[:, beyond] - variables), 0)
        wing = np.zeros_like(variables)
        wing[1:4] = normal * pressure
        gains += np.where(other == mesh.WING, wing, through)
    return gains


def _velocity(variables: Array) -> Array:
    result: Array = variables[1:4] / variables[0]
    return result


def _pressure(variables: Array) -> Array:
    """Of an ideal gas."""
    result: Array = (GAMMA - 1) * (variables[4] - variables[0] / 2 * (_velocity(variables) ** 2).sum(axis=0))
    return result


def _fastest(variables: Array) -> Array:
    """The speed of the gas and that of sound in it, added."""
    speed = np.sqrt((_velocity(variables) ** 2).sum(axis=0))
    result: Array = speed + np.sqrt(GAMMA * _pressure(variables) / variables[0])
    return result


def _fluxes(variables: Array) -> Array:
    """[5, 3, ...] of variables [5, ...]: what flows along x, y and z."""
    velocity, pressure = _velocity(variables), _pressure(variables)
    carried = np.concatenate((variables[:4], [variables[4] + pressure]))
    fluxes: Array = carried[:, None] * velocity[None]
    for axis in range(3):
        fluxes[1 + axis, axis] += pressure
    return fluxes


WORKLOAD = Workload(
    name="cfd",
    title="Unstructured flow solver",
    description=(
        "Compressible flow around an obstacle on a mesh of tetrahedra, in finite volumes with a Runge-Kutta scheme."
        " Nearly all work is in the kernel of a stage, with one thread an element: it keeps its state, velocity and"
        " pressure through an unrolled loop over four neighbours, and for each gathers five variables from wherever the"
        " mesh has them, takes square roots and quotients and adds what flows along the face's normal to five sums, by"
        " which it moves its state. Surface and far field, whose state is in constant memory, are branches of their"
        " own. Some thirty values live throughout, the loads of several neighbours besides; no shared memory. At the"
        " small size a step has one stage in place of three."
    ),
    suite="rodinia",
    tags=("float", "memory", "constant-memory", "sfu", "divergence", "several-launches", "iterative"),
    papers=("rc-rsp",),
    originals=("rodinia/cfd",),
    differences=(
        "The namesake's kernels are listed for four programs: in single and double precision, and both once more with"
        " the fluxes of elements computed beforehand. This is the first of them, cfd-double the second. Its fluxes and"
        " its time step are two kernels, which are one here."
    ),
    source=Path(__file__).with_name("kernel.cu"),
    sizes={
        "tiny": {"side": 6, "steps": 2, "stages": 3},
        "small": {"side": 39, "steps": 1, "stages": 1},
        "full": {"side": 26, "steps": 20, "stages": 3},
    },
    inputs=make_inputs,
    run=run,
    reference=reference,
    # Variables are between 0 and 5; a stage changes them by sums of about twenty terms of that size over the surface,
    # each rounded: 20 * 2^-24 * 5 = 6e-6 of a step, of which the scheme damps what is not smooth.
    tolerance=Tolerance(relative=1e-6, absolute=6e-6),
)
