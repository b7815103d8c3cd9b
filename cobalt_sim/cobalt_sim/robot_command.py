"""`cobalt robot`: lists the arms that come with Cobalt, and checks the description of one."""

import argparse
import json
import sys
from pathlib import Path

import cv2

from cobalt_sim.mujoco_plant import MujocoPlant
from cobalt_sim.render_profile import load_profile
from cobalt_sim.robot_check import TASK, check_robot
from cobalt_sim.scene import FRONT, camera_models
from cobalt_sim.sim_world import SimWorld
from cobalt_sim.tasks import load_task
from cobalt_sim.tasks.task import ONE_ARM
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.finding import Finding
from cobalt_teleop.kinematics.arm_set import ArmSet, arm_set_names, load_arms
from cobalt_teleop.kinematics.robot_description import robot_names

_WIDTH, _HEIGHT = 960, 720
_TWO_ARM_TASK = 'two_arm_lift'


def add_parser(subparsers: 'argparse._SubParsersAction[argparse.ArgumentParser]') -> None:
    """Adds `cobalt robot`."""
    parser = subparsers.add_parser('robot', help='list arms, and check the description of one')
    commands = parser.add_subparsers(title='commands', metavar='COMMAND', required=True)
    commands.add_parser('list', help='list the arms that come with Cobalt').set_defaults(func=_list)
    check = commands.add_parser(
        'check',
        help='check a robot.yaml',
        description='Checks whether an arm can be driven: names, home, reach of the box, servos, gripper. '
        'Exits with 0 if it can, 1 if a check fails, 2 if the file is wrong.',
    )
    check.add_argument('robot', help='name of an arm that comes with Cobalt, or path of a robot.yaml or arms.yaml')
    check.add_argument('--picture', type=Path, metavar='FILE', help='draw the arm at home into a PNG or JPEG')
    check.add_argument('--json', action='store_true', help='print the findings as JSON')
    check.set_defaults(func=_check)


def _list(options: argparse.Namespace) -> int:
    for name in (*robot_names(), *arm_set_names()):
        print(f'{name:<20} {load_arms(name).title}')
    return 0


def _check(options: argparse.Namespace) -> int:
    try:
        arms = load_arms(options.robot)
        findings = []
        for robot in {arm.robot.name: arm.robot for arm in arms.arms}.values():
            for finding in check_robot(robot):
                findings.append(finding)
                if not options.json:
                    print(finding.line, flush=True)
        if options.json:
            print(json.dumps(_as_json(arms, findings), indent=2))
        if options.picture is not None:
            _draw(arms, options.picture)
    except CobaltError as error:
        print(f'cobalt robot: {error}', file=sys.stderr)
        return 2
    return 0 if all(finding.ok for finding in findings) else 1


def _as_json(arms: ArmSet, findings: list[Finding]) -> dict[str, object]:
    checks = [{'name': finding.name, 'ok': finding.ok, 'text': finding.text} for finding in findings]
    return {'robot': arms.name, 'title': arms.title, 'ok': all(finding.ok for finding in findings), 'checks': checks}


def _draw(arms: ArmSet, path: Path) -> None:
    cameras = camera_models(arms, (FRONT,), width=_WIDTH, height=_HEIGHT, rate_hz=1.0)
    task = load_task(TASK if arms.parts == ONE_ARM else _TWO_ARM_TASK)
    world = SimWorld(arms, task, cameras, load_profile('nice'))
    try:
        picture = MujocoPlant(world).capture(FRONT)
        written, data = cv2.imencode(path.suffix or '.png', cv2.cvtColor(picture, cv2.COLOR_RGB2BGR))
    except cv2.error as error:
        raise CobaltError(f'{path.name} must end in .png or .jpg') from error
    finally:
        world.close_thread()
    if not written:
        raise CobaltError(f'the picture cannot be written as {path.suffix}')
    path.write_bytes(data.tobytes())
    print(f'picture: {path}', file=sys.stderr)
