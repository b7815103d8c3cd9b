"""The arm follows a hand closely, through the guard; and what it holds stays in its hand."""

import mujoco
import numpy as np
import pytest

from cobalt_sim.experts.expert import ExpertCommand
from cobalt_sim.in_process import GuardedPlant, run_expert
from cobalt_sim.mujoco_plant import PART
from cobalt_sim.tasks.lift import CUBE, HALF_EDGE
from cobalt_teleop.core.pose import Pose, angle_between, multiply, quaternion

TICK_S = 0.05
MIDDLE = np.array([0.47, 0.0, 0.22])


class Hand:
    """Drives the tool of one workcell along positions and turns since the press, one a tick."""

    def __init__(self, plant, *, gripper=1.0):
        self.plant, self.gripper = plant, gripper
        self.guarded = GuardedPlant(plant)
        self.press()

    def press(self):
        self.start = self.tool()
        for engaged in (False, True):
            self.guarded.tick(ExpertCommand(pose=self.start, gripper=float('nan'), engaged=engaged))

    def tool(self):
        return self.plant.observe().parts[PART].pose

    def move(self, way, turn=(0.0, 0.0, 0.0)):
        pose = Pose(self.start.position + way, multiply(quaternion(turn), self.start.quat_xyzw))
        self.guarded.tick(ExpertCommand(pose=pose, gripper=self.gripper, engaged=True))

    def glide(self, ways, turns=None, seconds=2.0):
        """Moves evenly between two ways and two turns."""
        turns = turns or (np.zeros(3), np.zeros(3))
        ticks = round(seconds / TICK_S)
        for tick in range(1, ticks + 1):
            share = tick / ticks
            self.move(*((1.0 - share) * np.asarray(pair[0]) + share * np.asarray(pair[1]) for pair in (ways, turns)))

    def rest(self, seconds, way=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0)):
        for _ in range(round(seconds / TICK_S)):
            self.move(np.asarray(way), turn)


@pytest.fixture
def hand(make_plants):
    """A hand in the middle of the workspace."""
    (plant,) = make_plants([0])
    hand = Hand(plant)
    way = MIDDLE - hand.start.position
    hand.glide((np.zeros(3), way))
    hand.rest(0.5, way)
    hand.press()
    return hand


def test_it_lags_behind_a_smooth_hand_by_less_than_40_ms(hand):
    def way(time_s):
        return np.array([0.05 * np.sin(2.5 * time_s), 0.05 * (1.0 - np.cos(2.5 * time_s)), 0.03 * np.sin(4.0 * time_s)])

    behind, speeds = [], []
    for tick in range(160):
        hand.move(way(tick * TICK_S))
        if tick > 10:
            after_s = (tick + 1) * TICK_S
            behind.append(hand.start.position + way(after_s) - hand.tool().position)
            speeds.append((way(after_s + 0.01) - way(after_s - 0.01)) / 0.02)
    behind, speeds = np.array(behind), np.array(speeds)
    lag_s = (behind * speeds).sum() / (speeds**2).sum()
    assert 0.0 < lag_s < 0.040
    assert np.linalg.norm(behind, axis=1).max() < 0.012


@pytest.mark.parametrize('size', [0.02, 0.049])
@pytest.mark.parametrize('axis', [0, 1, 2])
def test_a_step_is_not_overshot(hand, axis, size):
    way = np.eye(3)[axis] * size
    reached = []
    for _ in range(20):
        hand.move(way)
        reached.append((hand.tool().position - hand.start.position)[axis])
    assert max(reached) < 1.05 * size
    assert reached[-1] == pytest.approx(size, abs=1e-3)


def test_the_joints_live_far_from_their_torque_limits(hand):
    plant = hand.plant
    servos = plant._world.indices.arms['arm'].arm_ctrl
    torque = plant._world.model.actuator_forcerange[servos, 1]
    at_limit = []
    mujoco.set_mjcb_control(lambda _, data: at_limit.append(np.abs(data.actuator_force[servos]) > 0.999 * torque))
    try:
        for tick in range(100):
            angle = 2.0 * np.pi * tick * TICK_S
            share = min(1.0, tick / 20)
            hand.move(0.03 * share * np.array([np.sin(angle), 1.0 - np.cos(angle), 0.0]))
    finally:
        mujoco.set_mjcb_control(None)
    assert np.mean(at_limit, axis=0).max() < 0.02


def test_a_cube_is_held_turned_and_set_down_within_a_minute(make_plants):
    (plant,) = make_plants([4])
    assert run_expert(plant, 4) is not None
    hand = Hand(plant, gripper=0.0)
    grasp = hand.tool().inverse() @ plant.observe().objects[CUBE]
    yaw, tilt = np.array([0.0, 0.0, 1.2]), np.array([0.5, 0.0, 0.0])
    still = np.zeros(3)
    for turn in (yaw, -yaw, tilt, -tilt):
        hand.glide((still, still), (still, turn), 3.0)
        hand.rest(5.0, turn=turn)
        hand.glide((still, still), (turn, still), 3.0)
    held = hand.tool().inverse() @ plant.observe().objects[CUBE]
    assert np.linalg.norm(held.position - grasp.position) < 0.004
    assert angle_between(held.quat_xyzw, grasp.quat_xyzw) < np.deg2rad(6.0)
    down = np.array([0.0, 0.0, HALF_EDGE + 0.001 - plant.observe().objects[CUBE].position[2]])
    hand.glide((still, down), seconds=4.0)
    hand.rest(1.0, down)
    hand.gripper = 1.0
    hand.rest(1.0, down)
    away = down + np.array([0.0, 0.0, 0.1])
    hand.glide((down, away), seconds=2.0)
    hand.rest(1.0, away)
    cube = plant.observe().objects[CUBE]
    assert cube.position[2] == pytest.approx(HALF_EDGE, abs=1e-3)
    assert not plant.progress().success
    assert plant.data.time > 55.0


def test_pressed_onto_the_table_nothing_passes_through_it_and_the_arm_comes_free(hand):
    hand.gripper = 0.0
    down = np.array([0.0, 0.0, -MIDDLE[2]])
    hand.glide((np.zeros(3), down), seconds=2.0)
    hand.rest(2.0, down)
    tips = hand.plant._world.indices.arms['arm'].fingertips
    assert min(hand.plant.data.xpos[tips, 2]) > 0.0
    assert hand.plant.observe().faults == ()
    hand.glide((down, np.zeros(3)), seconds=2.0)
    hand.rest(0.5)
    assert hand.tool().position == pytest.approx(MIDDLE, abs=2e-3)
