"""An arm that is driven into the table stops pressing, says so, and does not leap when it comes free."""

from dataclasses import replace

import numpy as np

from cobalt_sim.mujoco_plant import PART
from cobalt_teleop.core.command import Authority, HoldReason, Mode, MotionCommand, Reference
from cobalt_teleop.core.part_controller import Measured, PartController
from cobalt_teleop.core.pose import Pose
from cobalt_teleop.workcell_host.plant import PartAction

TICK_S = 0.05


def test_an_arm_that_is_driven_into_the_table_stops_and_presses_no_longer(make_plants):
    (plant,) = make_plants([0])
    part = plant.capabilities.parts[0]
    no_floor = replace(part.limits, workspace_min=part.limits.workspace_min - [0.0, 0.0, 0.5])
    controller = PartController(limits=no_floor, kinematics=part.kinematics, home=part.home, period_s=TICK_S)

    def measure():
        state = plant.observe().parts[PART]
        return Measured(pose=state.pose, joints=state.joint_positions.copy(), gripper=state.gripper)

    controller.start_from(measure())
    holds, errors, speeds, efforts = [], [], [], []
    for tick in range(100):
        down = MotionCommand(
            mode=Mode.POSE,
            reference=Reference.ENGAGE,
            pose=Pose(np.array([0.0, 0.0, -0.012 * tick])),
            engaged=True,
            tracked=True,
            clutch_epoch=1,
            sample=tick,
            age_s=0.0,
        )
        decision = controller.step(measured=measure(), authority=Authority.HUMAN, human=down, policy=None)
        plant.apply({PART: PartAction(joint_targets=decision.joint_targets, gripper_target=0.0)})
        plant.advance()
        state = plant.observe().parts[PART]
        holds.append(decision.hold_reason)
        errors.append(np.abs(decision.joint_targets - state.joint_positions).max())
        speeds.append(np.linalg.norm(state.twist[:3]))
        efforts.append(np.abs(state.joint_efforts).max())
    blocked = holds.index(HoldReason.BLOCKED)
    assert all(reason is HoldReason.NONE for reason in holds[:blocked])
    assert all(reason is HoldReason.BLOCKED for reason in holds[blocked:])
    assert max(errors) < part.limits.following_error + 0.05
    assert errors[-1] < 0.01 and speeds[-1] < 0.01
    assert max(speeds[blocked:]) < 1.5 * part.limits.linear_speed
    assert efforts[-1] < 0.2 * efforts[blocked - 1]
