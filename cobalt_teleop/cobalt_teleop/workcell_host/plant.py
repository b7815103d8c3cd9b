"""What a host drives: one workcell of a simulator, or one real robot.

The host calls a plant from one thread at a time, but from different threads over time, and different plants at once.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cobalt_teleop.core.kinematics import Kinematics
from cobalt_teleop.core.limits import PartLimits
from cobalt_teleop.core.pose import Pose, Vector

Picture = NDArray[np.uint8]


@dataclass(frozen=True, kw_only=True)
class PartDescription:
    """One arm of a plant.

    Attributes:
        name: arm, or left and right.
        robot: Name of the folder in robots/.
        joint_names: n names of the arm's joints, without the gripper's.
        gripper_joint_name: Empty if it has no gripper.
        home: (n,) [rad].
        limits: What the guard keeps it within.
        kinematics: Of this arm; not shared with other plants.
    """

    name: str
    robot: str
    joint_names: tuple[str, ...]
    gripper_joint_name: str
    home: Vector
    limits: PartLimits
    kinematics: Kinematics


@dataclass(frozen=True, kw_only=True)
class CameraModel:
    """One camera of a plant.

    Attributes:
        name: Such as front or wrist.
        width: [px].
        height: [px].
        rate_hz: Pictures a second at most [Hz].
        focal_px: Focal length, equal in both directions [px]; the principal point is the middle, without distortion.
        carried_by: Part whose tool carries it; empty if it is fixed.
        yaw: Where a fixed camera looks, in the first part's base frame [rad]: 0 along x; NaN if it is not known.
    """

    name: str
    width: int
    height: int
    rate_hz: float
    focal_px: float
    carried_by: str = ''
    yaw: float = math.nan


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What a plant is and can do.

    Attributes:
        real: A robot that can hurt, not a simulation.
        robot: Name for people.
        parts: Its arms.
        cameras: Cameras that `capture` serves.
        other_cameras: Cameras of the workcell whose video another node publishes, such as camera_encoder.
        tasks: Tasks that `reset` accepts; the first is the default.
        objects: Names of the objects whose poses `observe` tells.
        can_reset: `reset` brings the scene into a start state by itself.
        judges_success: `progress` knows success.
        tells_full_state: `full_state` knows all that a simulation goes on from.
        randomisation: How much differs from episode to episode by its seed, as JSON; empty if nothing does.
    """

    real: bool
    robot: str
    parts: tuple[PartDescription, ...]
    cameras: tuple[CameraModel, ...]
    tasks: tuple[str, ...]
    objects: tuple[str, ...] = ()
    other_cameras: tuple[CameraModel, ...] = ()
    can_reset: bool
    judges_success: bool
    tells_full_state: bool = False
    randomisation: str = ''


@dataclass(frozen=True, kw_only=True)
class PartState:
    """Measured state of one arm.

    Attributes:
        pose: Tool in the base frame.
        twist: (6,) tool's linear [m/s] and angular [rad/s] velocity, axes of the base frame.
        joint_positions: (n,) [rad].
        joint_velocities: (n,) [rad/s].
        joint_efforts: (n,) [Nm].
        gripper: 0 closed to 1 open.
    """

    pose: Pose
    twist: Vector
    joint_positions: Vector
    joint_velocities: Vector
    joint_efforts: Vector
    gripper: float


@dataclass(frozen=True, kw_only=True)
class Observation:
    """Measured state of a plant.

    Attributes:
        stamp_ns: System time of the state [ns]; in simulation the time at which the step that made it ended.
        sim_time: Simulated seconds since the reset [s]; NaN on hardware.
        parts: By name.
        objects: Poses of the task's objects in the first part's base frame, by name; empty on hardware.
        faults: In words; any fault means hold.
    """

    stamp_ns: int
    sim_time: float
    parts: Mapping[str, PartState]
    objects: Mapping[str, Pose] = field(default_factory=dict)
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PartAction:
    """What one arm does in a tick.

    Attributes:
        joint_targets: (n,) [rad].
        gripper_target: 0 closed to 1 open.
        joint_velocities: (n,) at which the targets are expected to go on in the tick [rad/s]; None if nobody knows.
            Servos may lead by it.
    """

    joint_targets: Vector
    gripper_target: float
    joint_velocities: Vector | None = None


@dataclass(frozen=True, kw_only=True)
class FullState:
    """All that a simulation goes on from.

    Attributes:
        format: What the values are, and of which simulator and version.
        values: (n,)
    """

    format: str
    values: Vector


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far the task has come.

    Attributes:
        reward: Of this state.
        stage: 0 to 1.
        success: The task's predicate holds.
    """

    reward: float = 0.0
    stage: float = 0.0
    success: bool = False


@dataclass(frozen=True, kw_only=True)
class TaskInfo:
    """What a person is to do.

    Attributes:
        name: Such as lift.
        instruction: The goal in a sentence.
        time_limit_s: [s]; 0 if none.
    """

    name: str
    instruction: str
    time_limit_s: float = field(default=0.0)


class Plant(Protocol):
    """One workcell, as its host drives it."""

    @property
    def capabilities(self) -> Capabilities:
        """What it is and can do; constant."""
        ...

    def task_info(self, task: str) -> TaskInfo:
        """Returns what `task`, one of capabilities.tasks, asks for."""
        ...

    def observe(self) -> Observation:
        """Returns the measured state. Does not wait."""
        ...

    def full_state(self) -> FullState | None:
        """Returns all that a simulation goes on from; None on hardware, and where nobody can tell."""
        ...

    def apply(self, actions: Mapping[str, PartAction]) -> None:
        """Takes the targets of each part for this tick."""
        ...

    def advance(self) -> None:
        """Lives through one control period: simulates it, or on hardware returns at once."""
        ...

    def progress(self) -> Progress:
        """Returns the progress of the present state."""
        ...

    def reset(self, task: str, seed: int) -> None:
        """Brings this workcell, and no other, into the start state of a task. Does not advance time."""
        ...

    def hold(self) -> None:
        """Keeps the present targets; told when control is lost."""
        ...

    def stop(self) -> None:
        """Emergency stop: no motion, by the fastest safe means."""
        ...

    def capture(self, camera: str, size_px: tuple[int, int] | None = None) -> Picture:
        """Returns a picture of the present state, (height, width, 3) RGB.

        Called in a render thread; may keep a context for it.

        Args:
            camera: One of capabilities.cameras.
            size_px: Width and height that are wanted; the camera's own by default. A plant that cannot change it
                returns its own: what is too large is scaled down by who asked.
        """
        ...

    def goal_picture(self, task: str) -> Picture | None:
        """Returns a picture of what `task`, one of capabilities.tasks, asks for; None if it has none to show.

        Called in a render thread, before the first tick or after one. (height, width, 3) RGB.
        """
        ...

    def close(self) -> None:
        """Frees everything."""
        ...
