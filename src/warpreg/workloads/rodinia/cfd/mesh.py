"""An unstructured mesh of tetrahedra around an obstacle: neighbours, face normals and sizes of its elements."""

from __future__ import annotations

import itertools

import numpy as np

from warpreg.workloads.workload import Array, Arrays

WING, FAR_FIELD = -1, -2


def tetrahedra(side: int, rng: np.random.Generator) -> Arrays:
    """Those of ``side``^3 cubes in six tetrahedra each, without a slab in their middle, with displaced corners.

    ``neighbours``: int32[4, n], the element beyond each face, `WING` or `FAR_FIELD`; ``normals``: float64[3, 4, n],
    inward, as long as the face is large; ``areas``: float64[n], the squared surface.  Elements are numbered roughly
    along x, y and z, shuffled among near ones.
    """
    corners, places = _corners(side), _places(side, rng)
    corners = corners[np.argsort(np.arange(len(corners)) + rng.uniform(0, 100, len(corners)))]
    faces = np.stack([np.delete(corners, opposite, axis=1) for opposite in range(4)])
    normals = _inward_normals(places[faces], places[corners.T])
    neighbours = _neighbours(np.sort(faces.reshape(-1, 3), axis=1), side).reshape(4, -1)
    surface = np.linalg.norm(normals, axis=2).sum(axis=0)
    return {"neighbours": neighbours, "normals": np.moveaxis(normals, 2, 0), "areas": surface**2}


def _corners(side: int) -> Array:
    """int64[n, 4]: the vertex numbers of each tetrahedron; each of the six in a cube goes from its first vertex to the
    opposite one along the axes in another order."""
    third, steps = side // 3, ((side + 1) ** 2, side + 1, 1)
    z, y, x = np.meshgrid(*(np.arange(side),) * 3, indexing="ij")
    slab = (x // third == 1) & (y // third == 1) & (abs(2 * z - side) <= 2)
    first = (z * steps[0] + y * steps[1] + x)[~slab]
    ways = [np.cumsum([0, *way]) for way in itertools.permutations(steps)]
    result: Array = (first[:, None, None] + np.array(ways)[None]).reshape(-1, 4)
    return result


def _places(side: int, rng: np.random.Generator) -> Array:
    """float64[vertices, 3]: a unit grid with vertices displaced by up to a tenth."""
    z, y, x = np.meshgrid(*(np.arange(side + 1.0),) * 3, indexing="ij")
    grid: Array = np.stack((x, y, z), axis=-1).reshape(-1, 3)
    return grid + rng.uniform(-0.1, 0.1, grid.shape)


def _inward_normals(faces: Array, corners: Array) -> Array:
    """float64[4, n, 3] of face vertices [4, n, 3, 3] and the vertices opposite to them [4, n, 3]."""
    normals = np.cross(faces[:, :, 1] - faces[:, :, 0], faces[:, :, 2] - faces[:, :, 0]) / 2
    outward = (normals * (corners - faces[:, :, 0])).sum(axis=2) < 0
    result: Array = np.where(outward[:, :, None], -normals, normals)
    return result


def _neighbours(faces: Array, side: int) -> Array:
    """int32[4 n] of the sorted vertices of all faces, [4 n, 3]: two elements that share a face are neighbours."""
    count = len(faces) // 4
    keys = (faces[:, 0] << 40) + (faces[:, 1] << 20) + faces[:, 2]
    order = np.argsort(keys)
    same = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    one, other = order[same], order[same + 1]
    neighbours = np.full(len(faces), WING)
    neighbours[one], neighbours[other] = other % count, one % count
    alone = np.flatnonzero(neighbours == WING)
    axes = np.stack([faces[alone] // (side + 1) ** power % (side + 1) for power in range(3)])
    outside = ((axes == 0).all(axis=2) | (axes == side).all(axis=2)).any(axis=0)
    neighbours[alone[outside]] = FAR_FIELD
    return neighbours.astype(np.int32)
