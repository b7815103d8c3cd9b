"""Axes and rotations of the page's devices, against transforms3d."""

import math

import numpy as np
import pytest
from page_module import evaluate
from transforms3d import euler, quaternions

MODULE = 'devices/rotation.js'
ROS_FROM_XR = np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
QUARTER = math.pi / 2


def of_wxyz(quat):
    return [float(value) for value in (*quat[1:], quat[0])]


def matrix(quat_xyzw):
    return quaternions.quat2mat([quat_xyzw[3], *quat_xyzw[:3]])


@pytest.fixture(scope='module')
def turns():
    rng = np.random.default_rng(4)
    return [of_wxyz(quat / np.linalg.norm(quat)) for quat in rng.normal(size=(200, 4))]


def test_poses_of_webxr_come_out_in_axes_of_ros(turns):
    poses = evaluate(
        MODULE,
        'return turns.map(([x, y, z, w], index) => m.poseFromXR('
        '{ position: { x: index, y: 2, z: -3 }, orientation: { x, y, z, w } }))',
        turns=turns,
    )
    for index, (turn, pose) in enumerate(zip(turns, poses, strict=True)):
        assert pose[:3] == pytest.approx(ROS_FROM_XR @ [index, 2, -3])
        assert matrix(pose[3:]) == pytest.approx(ROS_FROM_XR @ matrix(turn) @ ROS_FROM_XR.T)


def test_products_and_rotated_ways_are_those_of_transforms3d(turns):
    pairs = list(zip(turns[::2], turns[1::2], strict=True))
    got = evaluate(MODULE, 'return pairs.map(([a, b]) => [m.multiply(a, b), m.rotate(a, [1, -2, 3])])', pairs=pairs)
    for (a, b), (product, way) in zip(pairs, got, strict=True):
        assert matrix(product) == pytest.approx(matrix(a) @ matrix(b))
        assert way == pytest.approx(matrix(a) @ [1, -2, 3])


def test_a_sequence_of_rotations_keeps_its_sign():
    angles = np.linspace(0.0, 4 * math.pi, 81)
    quats = [of_wxyz(euler.euler2quat(0.0, 0.0, angle)) for angle in angles]
    flipped = [[-value for value in quat] if index % 3 else quat for index, quat in enumerate(quats)]
    kept = np.array(
        evaluate(
            MODULE, 'let b = flipped[0]; return flipped.map((quat) => (b = m.continuous(quat, b)))', flipped=flipped
        )
    )
    assert np.linalg.norm(np.diff(kept, axis=0), axis=1).max() < 0.1


@pytest.mark.parametrize('screen', [0, 90, 180, 270])
def test_the_sensors_tell_the_same_turn_however_the_screen_lies(screen):
    """The phone's content turns with it: what is up on the screen is up, and forward is away from who looks at it."""
    upright = {0: (0, 90, 0), 90: (90, 0, -90), 180: (180, -90, 0), 270: (-90, 0, 90)}[screen]
    turn = evaluate(MODULE, 'return m.turnFromAngles(...upright, screen)', upright=upright, screen=screen)
    # A phone in a device's axes is turned about z first, then x, then y; held upright before a person who looks north,
    # its back points north, which is y of those axes.
    assert matrix(turn) @ [1, 0, 0] == pytest.approx([0, 1, 0], abs=1e-9)
    assert matrix(turn) @ [0, 0, 1] == pytest.approx([0, 0, 1], abs=1e-9)


def test_angles_of_the_sensors_are_turns_about_z_then_x_then_y():
    angles = [(30, 40, 20), (-170, -100, 80), (10, 179, -89)]
    got = evaluate(MODULE, 'return angles.map((one) => m.turnFromAngles(...one, 0))', angles=angles)
    screen = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]])
    for (alpha, beta, gamma), turn in zip(angles, got, strict=True):
        expected = euler.euler2mat(*np.radians([alpha, beta, gamma]), axes='rzxy') @ screen
        assert matrix(turn) == pytest.approx(expected)


def test_a_phone_points_where_its_back_or_its_upper_edge_does():
    yaw, tilts = 0.7, np.linspace(-80, 80, 33)
    poses = [of_wxyz(euler.euler2quat(0.0, math.radians(tilt), yaw)) for tilt in tilts]
    flat = of_wxyz(euler.euler2quat(0.0, QUARTER, yaw))
    got = evaluate(MODULE, 'return poses.map(m.yawOf)', poses=[*poses, flat])
    assert got == pytest.approx([yaw] * len(got), abs=1e-9)
