"""What makes a scripted operator a good or a bad one: habits that stand between an expert and its commands. Pure."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from cobalt_sim.experts.expert import Expert, ExpertCommand
from cobalt_teleop.core.pose import Pose, Vector, continuous, multiply, quaternion, rotation_vector
from cobalt_teleop.core.pose import inverse as inverted

_TREMOR_WAVES = 3
_TREMOR_SPREAD = 0.3
_TREMOR_GROWS_S = 0.3


@dataclass(frozen=True, kw_only=True)
class Habits:
    """How an operator drives.

    Attributes:
        slowness: How many times slower than the expert.
        tremor_m: Standard deviation of the hand's shaking along each axis [m].
        tremor_hz: Its frequency [Hz].
        pause_every_s: Mean time from one pause to the next [s]; 0 for none.
        pause_s: Length of a pause, in which the hand stands still with the clutch pressed [s].
        grasps: The gripper closes.
        gives_up_s: Time after which an episode is ended as a failure [s]; 0 for never.
    """

    slowness: int = 1
    tremor_m: float = 0.0
    tremor_hz: float = 5.0
    pause_every_s: float = 0.0
    pause_s: float = 1.5
    grasps: bool = True
    gives_up_s: float = 0.0


class HabitualExpert:
    """An expert whose commands are given by a person.

    Args:
        expert: That knows what to do.
        habits: Of the person.
        period_s: Time between two calls of `step` [s].
        seed: Of pauses and shaking.
    """

    def __init__(self, expert: Expert, habits: Habits, *, period_s: float, seed: int) -> None:
        self._expert = expert
        self._habits = habits
        self._period_s = period_s
        self._generator = np.random.default_rng(seed)
        self.restart()

    def restart(self) -> None:
        """Releases the clutch; the next steps begin anew, as after a reset."""
        self._expert.restart()
        self._passed_s = self._engaged_s = self._rests_s = 0.0
        self._calls = 0
        self._before = self._after = ExpertCommand(pose=Pose(), gripper=math.nan, engaged=False)
        spread = self._generator.uniform(-_TREMOR_SPREAD, _TREMOR_SPREAD, (_TREMOR_WAVES, 3))
        self._tremor_rad_s = 2.0 * np.pi * self._habits.tremor_hz * (1.0 + spread)
        self._tremor_phase = self._generator.uniform(0.0, 2.0 * np.pi, (_TREMOR_WAVES, 3))

    @property
    def gives_up(self) -> bool:
        """Whether the person has had enough of this episode."""
        return bool(self._habits.gives_up_s) and self._passed_s >= self._habits.gives_up_s

    def step(self, *, tool: Pose, objects: Mapping[str, Pose], gripper: float) -> ExpertCommand:
        """Decides one tick, as Expert.step does."""
        self._passed_s += self._period_s
        if self._rests_s > 0.0:
            self._rests_s -= self._period_s
        else:
            self._go_on(tool, objects, gripper)
        command = self._between()
        self._engaged_s = self._engaged_s + self._period_s if command.engaged else 0.0
        if not command.engaged:
            return command
        shaken = replace(command.pose, position=command.pose.position + self._tremor())
        return replace(command, pose=shaken, gripper=command.gripper if self._habits.grasps else 1.0)

    def _go_on(self, tool: Pose, objects: Mapping[str, Pose], gripper: float) -> None:
        self._calls += 1
        if self._calls % self._habits.slowness == 0 or not self._after.engaged:
            self._before, self._after = self._after, self._expert.step(tool=tool, objects=objects, gripper=gripper)
            self._calls = 0
        every_s = self._habits.pause_every_s
        if every_s and self._after.engaged and self._generator.random() < self._period_s / every_s:
            self._rests_s = self._habits.pause_s

    def _between(self) -> ExpertCommand:
        """Returns the command on the way from the expert's last but one to its last."""
        before, after = self._before, self._after
        if not (before.engaged and after.engaged):
            return after
        share = (self._calls + 1) / self._habits.slowness
        turn = rotation_vector(multiply(after.pose.quat_xyzw, inverted(before.pose.quat_xyzw)))
        position = before.pose.position + share * (after.pose.position - before.pose.position)
        turned = multiply(quaternion(share * turn), before.pose.quat_xyzw)
        return replace(after, pose=Pose(position, continuous(turned / np.linalg.norm(turned), after.pose.quat_xyzw)))

    def _tremor(self) -> Vector:
        """Returns (3,) how far the hand is off [m]: nothing at the press, so that an engage is no jump."""
        waves = np.sin(self._tremor_rad_s * self._engaged_s + self._tremor_phase).sum(axis=0)
        grown = min(1.0, max(0.0, self._engaged_s - self._period_s) / _TREMOR_GROWS_S)
        return np.asarray(self._habits.tremor_m * math.sqrt(2.0 / _TREMOR_WAVES) * grown * waves)
