"""Makes this folder's model: Menagerie's Panda with a Robotiq 2F-85, as the wheel gym-hil carries it, made light once.

    pip install trimesh fast-simplification
    python make_model.py

The visual meshes are merged by body and colour and decimated, the collision meshes become convex hulls of few faces,
and the motors become position servos. The result is committed; nobody needs this script to run Cobalt.
"""

import argparse
import tempfile
from pathlib import Path
from xml.etree import ElementTree

import trimesh

from cobalt_teleop.robots.light_model import element, found, hull, loaded, merged, save_meshes, unpack_wheel

WHEEL = 'gym-hil==0.1.14'
HERE = Path(__file__).resolve().parent

VISUAL_FACES = 6500
AS_HULL = ('base_mount_black', 'base_black')  # Full of threaded holes that nobody sees.
NEAR = ('driver', 'coupler', 'spring_link', 'follower', 'pad')  # The wrist camera looks at these.
SERVOS = {  # joint: kp [Nm/rad], kv [Nms/rad], largest torque [Nm]
    'joint1': (11000, 440, 87),
    'joint2': (11000, 440, 87),
    'joint3': (8500, 340, 87),
    'joint4': (8500, 340, 87),
    'joint5': (2000, 40, 12),
    'joint6': (2000, 40, 12),
    'joint7': (2000, 40, 12),
}
COLOURS = {  # of the wheel's materials
    'white': 'white',
    'off_white': 'white',
    'dark_grey': 'dark_grey',
    'metal': 'grey',
    'gray': 'grey',
    'black': 'black',
    'silicone': 'black',
    'green': 'accent',
    'light_blue': 'accent',
}
MATERIALS = {
    'white': {'rgba': '0.93 0.94 0.95 1', 'specular': '0.45', 'shininess': '0.55'},
    'dark_grey': {'rgba': '0.20 0.21 0.23 1', 'specular': '0.35', 'shininess': '0.4'},
    'grey': {'rgba': '0.52 0.54 0.57 1', 'specular': '0.7', 'shininess': '0.6'},
    'black': {'rgba': '0.15 0.155 0.165 1', 'specular': '0.5', 'shininess': '0.45'},
    'fingertip': {'rgba': '0.95 0.42 0.10 1', 'specular': '0.2', 'shininess': '0.2'},
    'accent': {'rgba': '0.04 0.45 0.86 1', 'specular': '0.4', 'shininess': '0.5'},
}
WITH_HULL = {'link5': ('link5_c0', 'link5_c1', 'link5_c2'), 'base': ('base',), 'base_mount': ('base_mount',)}
WITH_HULL |= {f'link{i}': (f'link{i}_c',) for i in (0, 1, 2, 3, 4, 6, 7)}
WITH_HULL |= {f'{side}_follower': ('follower',) for side in ('left', 'right')}


class MeshSource:
    """The wheel's meshes by the name that its MJCF gives them, in metres."""

    def __init__(self, folder: Path, mjcf: ElementTree.Element) -> None:
        self._files = {
            mesh.get('name', Path(mesh.attrib['file']).stem): (
                folder / mesh.attrib['file'],
                0.001 if mesh.get('class') == '2f85' else 1.0,
            )
            for mesh in mjcf.iter('mesh')
            if 'file' in mesh.attrib
        }

    def merged(self, names: tuple[str, ...]) -> trimesh.Trimesh:
        """Returns one welded mesh of several."""
        return merged([loaded(*self._files[name]) for name in names])


def replace_geoms(root: ElementTree.Element, source: MeshSource) -> dict[str, trimesh.Trimesh]:
    """Replaces every body's mesh geoms by merged visual meshes and hulls; returns the new meshes by name, in full."""
    meshes: dict[str, trimesh.Trimesh] = {}
    names: dict[tuple[str, ...], str] = {}

    def named(parts: tuple[str, ...], name: str, mesh: trimesh.Trimesh | None = None) -> str:
        key = (*parts, 'hull') if mesh is not None else parts
        if key not in names:
            names[key] = name
            meshes[name] = source.merged(parts) if mesh is None else mesh
        return names[key]

    for body in root.iter('body'):
        by_colour: dict[str, list[str]] = {}
        for geom in body.findall('geom'):
            if 'mesh' not in geom.attrib:
                continue
            if geom.attrib['class'].endswith('/visual'):
                by_colour.setdefault(COLOURS[geom.get('material', 'gray')], []).append(geom.attrib['mesh'])
            body.remove(geom)
        stem = body.attrib['name'].removeprefix('right_').removeprefix('left_')
        at = next((i for i, child in enumerate(body) if child.tag == 'body'), len(body))
        for colour, parts in by_colour.items():
            mesh = named(tuple(parts), f'{stem}_{colour}')
            body.insert(at, element('geom', mesh=mesh, material=colour, class_='visual'))
        if solids := WITH_HULL.get(body.attrib['name']):
            mesh = named(solids, f'{stem}_hull', hull(source.merged(solids)))
            body.insert(at, element('geom', mesh=mesh, class_='collision'))
    return meshes


def edit(root: ElementTree.Element) -> None:
    """Replaces defaults, materials, actuators and what else the model does not need."""
    root.set('model', 'franka_panda')
    for tag in ('sensor', 'actuator', 'asset'):
        root.remove(found(root, tag))
    found(root, 'compiler').set('meshdir', 'meshes')
    panda = found(root, 'default/default[@class="panda"]')
    hand = found(root, 'default/default[@class="2f85"]')
    for group in (panda, hand):
        for child in group.findall('default'):
            if child.attrib['class'].endswith(('/visual', '/collision')):
                for pad in child.findall('default'):
                    group.append(pad)
                group.remove(child)
        for child in (*group.findall('mesh'), *group.findall('general')):
            group.remove(child)
    for name, shade in (('pad_box1', '0.55'), ('pad_box2', '0.45')):
        pad = found(root, f'.//default[@class="{name}"]/geom')
        # Rubber: the fourth dimension keeps a held cube from turning about the line between the fingertips.
        pad.attrib.update(friction='1.2 0.03 0.001', condim='4', group='3', rgba=f'{shade} {shade} {shade} 1')
    defaults = found(root, 'default')
    visual = element('default', class_='visual')
    visual.append(element('geom', type='mesh', contype='0', conaffinity='0', group='2', mass='0'))
    collision = element('default', class_='collision')
    collision.append(element('geom', type='mesh', group='3', mass='0'))
    defaults.extend((visual, collision))

    for body in root.iter('body'):
        body.set('gravcomp', '1')
        if body.attrib['name'].endswith('_pad'):
            # Operators shall see at a glance where the hand grasps.
            for geom in body.findall('geom[@class="visual"]'):
                geom.set('material', 'fingertip')
        for useless in (*body.findall('camera'), *body.findall('site')):
            body.remove(useless)
    mount = found(root, './/body[@name="base_mount"]')
    mount.insert(0, element('inertial', pos='0 0 0.002', mass='0.12', diaginertia='0.0001 0.0001 0.0002'))
    hand_base = found(root, './/body[@name="base"]')
    hand_base.insert(1, element('site', name='tool', pos='0 0 0.152'))

    actuators = element('actuator')
    for joint, (kp, kv, torque) in SERVOS.items():
        actuators.append(
            element(
                'position', name=joint, joint=joint, kp=str(kp), kv=str(kv), forcerange=f'-{torque} {torque}',
                inheritrange='1',
            )
        )  # fmt: skip
    actuators.append(
        element(
            'general', name='fingers', tendon='split', ctrlrange='0 255', forcerange='-5 5', biastype='affine',
            gainprm='0.3137255 0 0', biasprm='0 -100 -10',
        )
    )  # fmt: skip
    root.append(actuators)


def main() -> None:
    """Downloads, converts and writes into this folder, or with other numbers of faces elsewhere."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--into', type=Path, default=HERE, help='folder of the model (that of this script)')
    parser.add_argument('--faces', type=int, default=VISUAL_FACES, help=f'of all visual meshes ({VISUAL_FACES})')
    options = parser.parse_args()
    options.into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        unpack_wheel(WHEEL, folder)
        assets = folder / 'gym_hil' / 'assets'
        tree = ElementTree.parse(assets / 'panda.xml')
        root = tree.getroot()
        source = MeshSource(assets, root)
        meshes = replace_geoms(root, source)
        edit(root)
        as_hull = AS_HULL if options.faces == VISUAL_FACES else ()
        save_meshes(meshes, options.into / 'meshes', visual_faces=options.faces, near=NEAR, as_hull=as_hull)
        asset = element('asset')
        for name, attributes in MATERIALS.items():
            asset.append(element('material', name=name, **attributes))
        for name in meshes:
            asset.append(element('mesh', name=name, file=f'{name}.stl', inertia='shell'))
        root.insert(list(root).index(found(root, 'worldbody')), asset)
        ElementTree.indent(root)
        note = f' Made by make_model.py from {WHEEL} (models of MuJoCo Menagerie), see LICENSE. Edit the script alone. '
        root.insert(0, ElementTree.Comment(note))
        tree.write(options.into / 'franka_panda.xml')
        (options.into / 'LICENSE').write_text(next(folder.glob('*.dist-info/licenses/LICENSE')).read_text())


if __name__ == '__main__':
    main()
