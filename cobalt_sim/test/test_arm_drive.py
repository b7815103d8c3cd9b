import mujoco
import numpy as np
import pytest

from cobalt_sim.arm_drive import ArmDrive, make_servos_run
from cobalt_teleop.core.errors import CobaltError

TICK_S = 0.05
STEPS = 25
_JOINT = """
<mujoco model="one_joint"><option gravity="0 0 0" integrator="implicitfast"/><worldbody><body>
  <joint name="joint" axis="0 0 1"/><geom type="box" size=".1 .1 .1" mass="1"/></body></worldbody>
  <actuator>{}</actuator></mujoco>
"""


class Joint:
    """One joint, driven at 20 Hz; remembers where it and its set point were in each step."""

    def __init__(self, *, reach=3.0, speed=2.0):
        spec = mujoco.MjSpec.from_string(_JOINT.format('<position name="servo" joint="joint" kp="50" kv="4"/>'))
        make_servos_run(spec, ['servo'])
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        bound = np.array([reach])
        self.drive = ArmDrive(
            self.model,
            np.array([0]),
            joint_lower=-bound,
            joint_upper=bound,
            joint_speed=np.array([speed]),
            tick_s=TICK_S,
        )
        self.drive.rest_at(self.data, np.zeros(1))
        self.angles = []

    def tick(self, target=None, velocity=None):
        if target is not None:
            self.drive.aim(np.array([target]), None if velocity is None else np.array([velocity]))
        self.drive.run(self.data)
        for _ in range(STEPS):
            mujoco.mj_step(self.model, self.data)
            self.angles.append(float(self.data.qpos[0]))


def test_it_follows_an_even_motion_within_half_a_tick():
    joint = Joint()
    for tick in range(40):
        joint.tick(0.4 * tick * TICK_S, 0.4)
    lag_s = 39 * TICK_S + TICK_S - joint.angles[-1] / 0.4
    assert 0.0 < lag_s < 0.040


def test_an_even_motion_is_even_within_the_ticks_too():
    joint = Joint()
    for tick in range(40):
        joint.tick(0.4 * tick * TICK_S, 0.4)
    speeds = np.diff(joint.angles[-4 * STEPS :]) / joint.model.opt.timestep
    assert np.ptp(speeds) < 0.02 * 0.4


def test_it_comes_to_rest_at_the_last_target_where_no_fresh_one_comes():
    joint = Joint()
    for tick in range(10):
        joint.tick(0.4 * tick * TICK_S, 0.4)
    for _ in range(20):
        joint.tick()
    assert joint.angles[-1] == pytest.approx(0.4 * 9 * TICK_S, abs=1e-3)


def test_a_jump_is_followed_at_the_joints_speed_without_swinging_over():
    joint = Joint(speed=1.0)
    for _ in range(30):
        joint.tick(0.5, 0.0)
    assert joint.angles[-1] == pytest.approx(0.5, abs=1e-4)
    assert max(joint.angles) < 0.5 * 1.02
    assert np.diff(joint.angles).max() / joint.model.opt.timestep < 1.05


def test_getting_ahead_makes_the_joint_little_faster_than_its_target():
    joint = Joint()
    for tick in range(20):
        joint.tick(0.4 * tick * TICK_S, 0.4)
    assert np.diff(joint.angles).max() / joint.model.opt.timestep < 1.3 * 0.4


def test_the_set_point_stays_in_the_joints_range_but_a_joint_outside_is_not_thrown_back():
    joint = Joint(reach=0.3)
    for tick in range(40):
        joint.tick(min(0.3, 0.4 * tick * TICK_S), 0.4)
    assert max(joint.angles) < 0.302
    outside = Joint(reach=0.3)
    outside.drive.rest_at(outside.data, np.array([0.35]))
    outside.data.qpos[0] = 0.35
    outside.tick(0.35, 0.0)
    assert outside.angles[-1] == pytest.approx(0.35, abs=1e-6)


def test_to_rest_is_to_stay_there():
    joint = Joint()
    for tick in range(10):
        joint.tick(0.4 * tick * TICK_S, 0.4)
    at = joint.angles[-1]
    joint.drive.rest_at(joint.data, joint.data.qpos.copy())
    for _ in range(10):
        joint.tick()
    assert joint.angles[-1] == pytest.approx(at, abs=1e-3)


def test_a_motor_is_refused_in_words():
    spec = mujoco.MjSpec.from_string(_JOINT.format('<motor name="servo" joint="joint"/>'))
    with pytest.raises(CobaltError, match="'servo' of one_joint must be a position servo"):
        make_servos_run(spec, ['servo'])
