"""The measured arm keeps the limits, and not only its targets do, whatever is asked of it."""

import mujoco
import numpy as np
import pytest

from cobalt_sim.mujoco_plant import PART
from cobalt_teleop.core.command import Authority, Mode, MotionCommand, Reference
from cobalt_teleop.core.part_controller import Measured, PartController
from cobalt_teleop.core.pose import Pose, multiply, quaternion
from cobalt_teleop.workcell_host.plant import PartAction

TICK_S = 0.05
TICKS = 250

# The targets keep the limits exactly. The servos lead a little to lag less, so that the arm is faster than its target
# while it catches up, and swings over by a little: these are what is measured with some room.
SPEED_TOLERANCE = 1.4
"""Of the mean of each tick; of each moment but one in a hundred, it is less."""
MOST_MOMENTS_TOLERANCE = 1.3
JOINT_SPEED_TOLERANCE = 1.1
BOX_TOLERANCE_M = 0.005


class Watch:
    """Looks at the arm in every step of the physics; a row is a tick."""

    def __init__(self, plant):
        self._world, self._velocity = plant._world, np.zeros(6)
        self.speed, self.turning, self.joints, self.places = [[]], [[]], [[]], []

    def __call__(self, model, data):
        indices = self._world.indices.arms['arm']
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_SITE, indices.tool_site, self._velocity, 0)
        self.speed[-1].append(float(np.linalg.norm(self._velocity[3:])))
        self.turning[-1].append(float(np.linalg.norm(self._velocity[:3])))
        self.joints[-1].append(data.qvel[indices.arm_dofs].copy())
        to_base = data.xmat[indices.base_body].reshape(3, 3).T
        self.places.append(to_base @ (data.site_xpos[indices.tool_site] - data.xpos[indices.base_body]))

    def next_tick(self):
        for rows in (self.speed, self.turning, self.joints):
            rows.append([])


def of_ticks(rows):
    """Returns the mean of each tick."""
    return np.array([np.mean(row, axis=0) for row in rows if row])


def of_most_moments(rows):
    return np.percentile(np.concatenate([row for row in rows if row]), 99)


def hostile_commands(rng, limits):
    """Yields commands of a hand that shakes, a policy that leaps, and a stick that is thrown about, with lapses."""
    middle = 0.5 * (limits.workspace_min + limits.workspace_max)
    reach = limits.workspace_max - limits.workspace_min
    place, quat_xyzw, epoch, sample = middle.copy(), np.array([1.0, 0.0, 0.0, 0.0]), 0, 0
    while True:
        epoch += 1
        kind = rng.choice(['hand', 'policy', 'stick'])
        twist = np.zeros(6)
        lasts = rng.integers(4, 40)
        for tick in range(lasts):
            if kind == 'hand':
                place = place + rng.uniform(-0.045, 0.045, 3)
                quat_xyzw = multiply(quaternion(rng.uniform(-0.3, 0.3, 3)), quat_xyzw)
            elif tick % rng.integers(2, 9) == 0:
                place = middle + rng.uniform(-0.7, 0.7, 3) * reach
                quat_xyzw = multiply(quaternion(rng.uniform(-0.8, 0.8, 3)), [1.0, 0.0, 0.0, 0.0])
                twist = rng.uniform(-2.0, 2.0, 6) * np.repeat([limits.linear_speed, limits.angular_speed], 3)
            sample += 1
            # The policy must come near enough not to be taken for lost tracking: a leap takes a press.
            yield MotionCommand(
                mode=Mode.TWIST if kind == 'stick' else Mode.POSE,
                reference=Reference.ABSOLUTE if kind == 'policy' else Reference.ENGAGE,
                pose=Pose(place, quat_xyzw) if rng.random() > 0.01 else None,
                twist=twist,
                engaged=bool(rng.random() > 0.03),
                tracked=bool(rng.random() > 0.01),
                clutch_epoch=epoch + 1000 * (tick // 4 if kind == 'policy' else 0),
                sample=sample,
                age_s=0.3 if rng.random() < 0.01 else 0.0,
            )


@pytest.mark.parametrize('seed', [1, 4, 6])
def test_the_measured_speed_keeps_the_limits(make_plants, seed):
    (plant,) = make_plants([0])
    part = plant.capabilities.parts[0]
    limits = part.limits
    controller = PartController(limits=limits, kinematics=part.kinematics, home=part.home, period_s=TICK_S)

    def measure():
        state = plant.observe().parts[PART]
        return Measured(pose=state.pose, joints=state.joint_positions, gripper=state.gripper)

    controller.start_from(measure())
    commands = hostile_commands(np.random.default_rng(seed), limits)
    watch, engaged = Watch(plant), 0
    mujoco.set_mjcb_control(watch)
    try:
        for _ in range(TICKS):
            decision = controller.step(measured=measure(), authority=Authority.HUMAN, human=next(commands), policy=None)
            engaged += decision.authority is Authority.HUMAN
            plant.apply(
                {
                    PART: PartAction(
                        joint_targets=decision.joint_targets,
                        gripper_target=0.0,
                        joint_velocities=decision.joint_velocities,
                    )
                }
            )
            plant.advance()
            watch.next_tick()
    finally:
        mujoco.set_mjcb_control(None)
    assert plant.observe().faults == ()
    assert engaged > TICKS / 3
    for rows, limit in ((watch.speed, limits.linear_speed), (watch.turning, limits.angular_speed)):
        assert 0.8 * limit < of_ticks(rows).max() < SPEED_TOLERANCE * limit
        assert of_most_moments(rows) < MOST_MOMENTS_TOLERANCE * limit
    assert np.all(np.abs(of_ticks(watch.joints)).max(axis=0) < JOINT_SPEED_TOLERANCE * limits.joint_speed)
    assert np.min(np.array(watch.places) - limits.workspace_min) > -BOX_TOLERANCE_M
    assert np.min(limits.workspace_max - np.array(watch.places)) > -BOX_TOLERANCE_M
