"""A tiny plant whose joints follow at once: for tests of hosts, bridges and recorders without a physics engine."""

import time
from collections.abc import Mapping

import numpy as np

from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.kinematics import JointSolution
from cobalt_teleop.core.limits import PartLimits
from cobalt_teleop.core.pose import Pose, Vector, angle_between, quaternion, rotation_vector
from cobalt_teleop.workcell_host.plant import (
    CameraModel,
    Capabilities,
    FullState,
    Observation,
    PartAction,
    PartDescription,
    PartState,
    Picture,
    Progress,
    TaskInfo,
)

_JOINTS = ('x', 'y', 'z', 'rx', 'ry', 'rz')


class GantryKinematics:
    """Three sliding joints and a rotation vector: the joints are the pose."""

    def forward(self, joints: Vector) -> Pose:
        """Returns the tool's pose for (6,) joints [m, rad]."""
        return Pose(joints[:3].copy(), quaternion(joints[3:]))

    def solve(self, target: Pose, seed: Vector) -> JointSolution:
        """Returns the joints of a pose; the seed itself if it is there already."""
        here = self.forward(seed)
        if np.array_equal(here.position, target.position) and angle_between(here.quat_xyzw, target.quat_xyzw) < 1e-9:
            return JointSolution(seed.copy(), 0.0, 0.0)
        return JointSolution(np.concatenate([target.position, rotation_vector(target.quat_xyzw)]), 0.0, 0.0)


def gantry_limits() -> PartLimits:
    """Returns limits that are easy to reckon with: half a metre each way, 0.25 m/s, 1 rad/s."""
    return PartLimits(
        workspace_min=np.array([-0.5, -0.5, 0.0]),
        workspace_max=np.array([0.5, 0.5, 0.5]),
        linear_speed=0.25,
        angular_speed=1.0,
        linear_acceleration=2.0,
        angular_acceleration=8.0,
        joint_lower=np.array([-1.0, -1.0, -1.0, -4.0, -4.0, -4.0]),
        joint_upper=np.array([1.0, 1.0, 1.0, 4.0, 4.0, 4.0]),
        joint_speed=np.array([1.0, 1.0, 1.0, 4.0, 4.0, 4.0]),
        joint_acceleration=np.array([4.0, 4.0, 4.0, 16.0, 16.0, 16.0]),
    )


class IdealPlant:
    """A gantry a part, with one camera whose picture shows where the first tool is. Success: the tool is 0.4 m up.

    Args:
        parts: Names of its arms.
        period_s: Tick [s].
    """

    def __init__(self, parts: tuple[str, ...] = ('arm',), *, period_s: float = 0.05) -> None:
        self._period_s = period_s
        self._home = np.array([0.0, 0.0, 0.2, 0.0, 0.0, 0.0])
        self._joints = {name: self._home.copy() for name in parts}
        self._velocities = {name: np.zeros(6) for name in parts}
        self._grippers = dict.fromkeys(parts, 1.0)
        self._actions: dict[str, PartAction] = {}
        self._time_s = 0.0
        self._stamp_ns = time.time_ns()
        self.stopped = False
        self.faults: tuple[str, ...] = ()
        """What `observe` reports; for tests to set."""
        self._capabilities = Capabilities(
            real=False,
            robot='gantry',
            parts=tuple(
                PartDescription(
                    name=name,
                    robot='gantry',
                    joint_names=_JOINTS,
                    gripper_joint_name='gripper',
                    home=self._home,
                    limits=gantry_limits(),
                    kinematics=GantryKinematics(),
                )
                for name in parts
            ),
            cameras=(CameraModel(name='front', width=320, height=240, rate_hz=20.0, focal_px=300.0),),
            tasks=('raise',),
            can_reset=True,
            judges_success=True,
        )

    @property
    def capabilities(self) -> Capabilities:
        """What it is and can do."""
        return self._capabilities

    def task_info(self, task: str) -> TaskInfo:
        """Returns what the task asks for."""
        if task != 'raise':
            raise CobaltError(f"there is no task '{task}'; there is raise")
        return TaskInfo(name='raise', instruction='Bring the tool 40 cm up.', time_limit_s=60.0)

    def observe(self) -> Observation:
        """Returns the state of the last step."""
        states = {}
        for name, joints in self._joints.items():
            states[name] = PartState(
                pose=GantryKinematics().forward(joints),
                twist=self._velocities[name].copy(),
                joint_positions=joints.copy(),
                joint_velocities=self._velocities[name].copy(),
                joint_efforts=np.zeros(6),
                gripper=self._grippers[name],
            )
        return Observation(stamp_ns=self._stamp_ns, sim_time=self._time_s, parts=states, faults=self.faults)

    def apply(self, actions: Mapping[str, PartAction]) -> None:
        """Takes targets."""
        self._actions = dict(actions)

    def advance(self) -> None:
        """Puts the joints onto their targets."""
        for name, action in self._actions.items():
            self._velocities[name] = (action.joint_targets - self._joints[name]) / self._period_s
            self._joints[name] = action.joint_targets.copy()
            self._grippers[name] = action.gripper_target
        self._time_s += self._period_s
        self._stamp_ns = time.time_ns()

    def progress(self) -> Progress:
        """Returns how high the first tool is."""
        height = float(next(iter(self._joints.values()))[2])
        return Progress(stage=min(1.0, max(0.0, height / 0.4)), success=height >= 0.4)

    def reset(self, task: str, seed: int) -> None:
        """Puts the tools home, a little aside by the seed."""
        self.task_info(task)
        aside = np.random.default_rng(seed).uniform(-0.05, 0.05, size=2)
        for name in self._joints:
            self._joints[name] = self._home + np.array([*aside, 0.0, 0.0, 0.0, 0.0])
            self._velocities[name] = np.zeros(6)
        self._actions.clear()
        self._time_s = 0.0
        self.stopped = False
        self._stamp_ns = time.time_ns()

    def full_state(self) -> FullState | None:
        """Returns None: what it does is not worth living through again."""
        return None

    def hold(self) -> None:
        """Keeps the targets."""

    def stop(self) -> None:
        """Drops the targets."""
        self._actions.clear()
        self.stopped = True

    def capture(self, camera: str, size_px: tuple[int, int] | None = None) -> Picture:
        """Returns a dark picture with a bright square at the first tool's x and z, always of its own size."""
        picture = np.full((240, 320, 3), 40, dtype=np.uint8)
        picture[:, :, 1] = np.linspace(30, 90, 320, dtype=np.uint8)
        x, _, z = next(iter(self._joints.values()))[:3]
        column, row = int(160 + 280 * x), int(230 - 400 * z)
        picture[max(0, row - 8) : max(0, row + 8), max(0, column - 8) : max(0, column + 8)] = 230
        return picture

    def goal_picture(self, task: str) -> Picture | None:
        """Returns None: what is to be done is easily said."""
        return None

    def close(self) -> None:
        """Nothing to free."""
