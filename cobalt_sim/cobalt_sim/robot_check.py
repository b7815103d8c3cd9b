"""Whether an arm that a robot.yaml describes can be driven: its home, the reach of its box, its servos."""

import itertools
from collections.abc import Iterator

import numpy as np

from cobalt_sim.goal_scene import joints_at
from cobalt_sim.mujoco_plant import PART, MujocoPlant
from cobalt_sim.render_profile import load_profile
from cobalt_sim.sim_world import SimWorld
from cobalt_sim.tasks import load_task
from cobalt_teleop.core.finding import Finding
from cobalt_teleop.core.pose import Vector
from cobalt_teleop.kinematics.arm_kinematics import ArmKinematics
from cobalt_teleop.kinematics.robot_description import RobotDescription
from cobalt_teleop.workcell_host.plant import PartAction, PartState

TASK = 'reach_position'
"""What stands in the scene: nothing that an arm could touch."""

_REACHED_M = 0.001
_DRIFT_M = 0.005
_REST_S = 2.0
_GRIP_S = 1.5
_CLOSED, _OPEN = 0.1, 0.9


def check_robot(robot: RobotDescription) -> Iterator[Finding]:
    """Checks an arm, one thing after the other.

    Raises:
        CobaltError: No scene can be built with it.
    """
    kinematics = ArmKinematics(robot)
    yield _check_ranges(robot)
    yield _check_home_in_box(robot, kinematics)
    yield _check_posture(robot, kinematics)
    yield _check_reach(robot, kinematics)
    plant = MujocoPlant(SimWorld(robot, load_task(TASK), (), load_profile('fast')))
    yield _check_rest(robot, plant)
    if robot.gripper is not None:
        yield _check_gripper(robot, plant)


def _check_ranges(robot: RobotDescription) -> Finding:
    limits = robot.limits
    room = np.minimum(robot.home - limits.joint_lower, limits.joint_upper - robot.home)
    near = [name for name, left in zip(robot.joints, room, strict=True) if left < limits.joint_margin]
    if near:
        text = f'{", ".join(near)} stand within {limits.joint_margin:g} rad of their ends: choose another home'
        return Finding('joint ranges', False, text)
    return Finding('joint ranges', True, f'at home every joint has {np.min(room):.2f} rad or more to its end')


def _check_home_in_box(robot: RobotDescription, kinematics: ArmKinematics) -> Finding:
    limits, place = robot.limits, kinematics.forward(robot.home).position
    told = f'the tool at home is at {_metres(place)}'
    if (limits.workspace_min <= place).all() and (place <= limits.workspace_max).all():
        return Finding('home', True, f'{told}, in the box')
    box = f'{_metres(limits.workspace_min)} to {_metres(limits.workspace_max)}'
    return Finding('home', False, f'{told}, outside of the box {box}: change home, workspace_min or workspace_max')


def _check_posture(robot: RobotDescription, kinematics: ArmKinematics) -> Finding:
    solution = kinematics.solve(kinematics.forward(robot.home), robot.home)
    if solution.near_singular:
        text = 'home is nearly singular, where some motions need joints that are too fast: bend the arm at home'
        return Finding('posture', False, text)
    return Finding('posture', True, 'home is far from singular postures')


def _check_reach(robot: RobotDescription, kinematics: ArmKinematics) -> Finding:
    limits = robot.limits
    corners = itertools.product(*zip(limits.workspace_min, limits.workspace_max, strict=True))
    beyond = []
    for corner in map(np.array, corners):
        joints = joints_at(kinematics, robot.home, corner)
        if np.linalg.norm(kinematics.forward(joints).position - corner) > _REACHED_M:
            beyond.append(_metres(corner))
    if beyond:
        text = f'{len(beyond)} of 8 corners of the box are not reached with the hand as at home, such as {beyond[0]}'
        return Finding('reach', False, f'{text}: make the box smaller')
    return Finding('reach', True, 'all corners of the box are reached with the hand as at home')


def _check_rest(robot: RobotDescription, plant: MujocoPlant) -> Finding:
    plant.reset(TASK, 0)
    before = _part(plant).pose.position
    after = _lived(plant, robot.home, 1.0, _REST_S)
    if plant.observe().faults:
        return Finding(
            'rest', False, f'{", ".join(plant.observe().faults)}: look at masses, inertias and servos of the model'
        )
    moved_m = float(np.linalg.norm(after.pose.position - before))
    text = f'in {_REST_S:g} s of rest the tool moved by {moved_m * 1e3:.1f} mm'
    if moved_m > _DRIFT_M:
        return Finding('rest', False, f'{text}: stiffer servos, or gravcomp="1" for the arm\'s bodies')
    return Finding('rest', True, text)


def _check_gripper(robot: RobotDescription, plant: MujocoPlant) -> Finding:
    plant.reset(TASK, 0)
    closed = _lived(plant, robot.home, 0.0, _GRIP_S).gripper
    opened = _lived(plant, robot.home, 1.0, _GRIP_S).gripper
    text = f'told to close it stands at {closed:.2f}, to open at {opened:.2f} (0 closed, 1 open)'
    if closed > _CLOSED or opened < _OPEN:
        keys = 'joint_closed, joint_open, actuator_closed and actuator_open'
        return Finding('gripper', False, f'{text}: look at {keys}')
    return Finding('gripper', True, text)


def _lived(plant: MujocoPlant, joints: Vector, gripper: float, seconds: float) -> PartState:
    """Returns the arm's state after some simulated time with these targets."""
    end = plant.observe().sim_time + seconds
    while plant.observe().sim_time < end and not plant.observe().faults:
        plant.apply(
            {PART: PartAction(joint_targets=joints, gripper_target=gripper, joint_velocities=np.zeros_like(joints))}
        )
        plant.advance()
    return _part(plant)


def _part(plant: MujocoPlant) -> PartState:
    return plant.observe().parts[PART]


def _metres(place: Vector) -> str:
    return f'({", ".join(f"{value:.3f}" for value in place)}) m'
