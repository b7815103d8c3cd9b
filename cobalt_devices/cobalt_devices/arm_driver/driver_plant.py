"""A real arm as a plant of the host: what `sim_node` has in a simulator, `arm_driver_node` has in a driver."""

from collections.abc import Callable, Mapping, Sequence

from cobalt_devices.arm_driver.servo_loop import ServoLoop
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.kinematics.arm_kinematics import ArmKinematics
from cobalt_teleop.kinematics.robot_description import RobotDescription
from cobalt_teleop.workcell_host.plant import (
    CameraModel,
    Capabilities,
    FullState,
    Observation,
    PartAction,
    PartState,
    Picture,
    Progress,
    TaskInfo,
)
from cobalt_teleop.workcell_host.robot_part import robot_part

PART = 'arm'


class DriverPlant:
    """One arm behind a driver.

    Args:
        robot: Its description.
        loop: Connected and running.
        real: It can hurt.
        task: What a person is to do.
        cameras: Whose video other nodes publish.
        objection: Returns why the arm must not move though it could, in words; empty if it may.
        success: Returns whether somebody who watches says that the task is done; None if nobody watches.
    """

    def __init__(
        self,
        robot: RobotDescription,
        loop: ServoLoop,
        *,
        real: bool,
        task: TaskInfo,
        cameras: Sequence[CameraModel] = (),
        objection: Callable[[], str] = lambda: '',
        success: Callable[[], bool] | None = None,
    ) -> None:
        self._loop = loop
        self._task = task
        self._objection = objection
        self._success = success
        self._measuring = ArmKinematics(robot)
        self._capabilities = Capabilities(
            real=real,
            robot=robot.title,
            parts=(robot_part(PART, robot, ArmKinematics(robot)),),
            cameras=(),
            other_cameras=tuple(cameras),
            tasks=(task.name,),
            can_reset=False,
            judges_success=success is not None,
        )

    @property
    def capabilities(self) -> Capabilities:
        """What it is and can do; constant."""
        return self._capabilities

    def task_info(self, task: str) -> TaskInfo:
        """Returns what the task asks for."""
        if task != self._task.name:
            raise CobaltError(f"this arm's task is '{self._task.name}', not '{task}'; start it with task:={task}")
        return self._task

    def observe(self) -> Observation:
        """Returns the newest measured state. Does not wait."""
        state = self._loop.state
        objection = self._objection()
        pose, jacobian = self._measuring.forward_with_jacobian(state.joints)
        return Observation(
            stamp_ns=state.stamp_ns,
            sim_time=float('nan'),
            parts={
                PART: PartState(
                    pose=pose,
                    twist=jacobian @ state.velocities,
                    joint_positions=state.joints,
                    joint_velocities=state.velocities,
                    joint_efforts=state.efforts,
                    gripper=state.gripper,
                )
            },
            faults=(*((objection,) if objection else ()), *self._loop.faults),
        )

    def apply(self, actions: Mapping[str, PartAction]) -> None:
        """Takes the targets of this tick; with an objection, none."""
        action = actions.get(PART)
        if action is None or self._objection():
            return
        self._loop.aim(action.joint_targets, action.joint_velocities, action.gripper_target)

    def advance(self) -> None:
        """Returns at once: the arm has a clock of its own."""

    def progress(self) -> Progress:
        """Returns whether somebody who watches says that the task is done."""
        done = self._success is not None and self._success()
        return Progress(reward=float(done), stage=float(done), success=done)

    def reset(self, task: str, seed: int) -> None:
        """Changes nothing: a person sets up the scene."""
        self.task_info(task)

    def hold(self) -> None:
        """Keeps the present targets: the servo path comes to rest at them by itself."""

    def stop(self) -> None:
        """Emergency stop."""
        self._loop.stop()

    def capture(self, camera: str, size_px: tuple[int, int] | None = None) -> Picture:
        """Raises CobaltError: its cameras are filmed by other nodes."""
        raise CobaltError(f"the camera '{camera}' is filmed by camera_encoder")

    def full_state(self) -> FullState | None:
        """Returns None: nobody knows all of a real arm."""
        return None

    def goal_picture(self, task: str) -> Picture | None:
        """Returns None: a photograph can be given to the host."""
        return None

    def close(self) -> None:
        """Leaves the arm at rest."""
        self._loop.close()
