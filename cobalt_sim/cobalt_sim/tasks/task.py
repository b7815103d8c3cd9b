"""What a task adds to the scene, and how it judges a state.

All poses are in the table's frame, which is the base frame of a single arm.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from cobalt_teleop.core.pose import Pose, Vector
from cobalt_teleop.kinematics.arm_set import ARM
from cobalt_teleop.workcell_host.plant import Progress, TaskInfo

ONE_ARM = (ARM,)
TWO_ARMS = ('left', 'right')
"""Parts of workcells that a task is for."""


@dataclass(frozen=True, kw_only=True)
class SceneState:
    """What a judge may look at: the true state of one workcell.

    Attributes:
        time: Simulated seconds since the reset [s].
        tool: Pose of the tool.
        gripper: 0 closed to 1 open.
        objects: Poses, by name.
        held: Names of objects that every fingertip of a hand touches.
        touched: Names of objects that any part of the arms touches.
        tools: Poses of all tools, by part; `tool` is that of the first.
        held_by: Names of objects that every fingertip of a hand touches, by part.
    """

    time: float
    tool: Pose
    gripper: float
    objects: Mapping[str, Pose]
    held: frozenset[str]
    touched: frozenset[str] = frozenset()
    tools: Mapping[str, Pose] = field(default_factory=dict)
    held_by: Mapping[str, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class GoalScene:
    """What the scene looks like when a task is done.

    Attributes:
        tool: (3,) its place [m].
        quat_xyzw: (4,) its rotation; None for that of the arm's home posture.
        other_tools: (3,) places of the other arms' tools, by part, turned as at home [m].
        gripper: 0 closed to 1 open; fingers that meet an object on the way hold it.
        objects: Poses, by name.
    """

    tool: Vector
    gripper: float
    objects: Mapping[str, Pose]
    quat_xyzw: Vector | None = None
    other_tools: Mapping[str, Vector] = field(default_factory=dict)


class Judge(Protocol):
    """Follows one episode of one workcell. Told every state once, in order."""

    def judge(self, state: SceneState) -> Progress:
        """Returns how far the task has come."""
        ...


class Task(Protocol):
    """One task: a scene, a start state, and a judge. Shared by all workcells, so it keeps no state."""

    @property
    def info(self) -> TaskInfo:
        """Name, instruction and time limit."""
        ...

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the arms that it is for."""
        ...

    @property
    def objects(self) -> tuple[str, ...]:
        """Names of the bodies that each start puts somewhere: mocap bodies, or with a joint of the same name.

        That joint is free, or a slide or hinge of a body that is fixed to the world otherwise.
        """
        ...

    def add_to_scene(self, spec: Any) -> None:
        """Adds the objects to a mujoco.MjSpec whose world frame is the table's: z = 0 is the top of the table."""
        ...

    def start(self, rng: np.random.Generator) -> Mapping[str, Pose]:
        """Returns random start poses of the objects."""
        ...

    def goal(self) -> GoalScene:
        """Returns a scene in which the task is done."""
        ...

    def new_judge(self) -> Judge:
        """Returns the judge of an episode that starts now."""
        ...
