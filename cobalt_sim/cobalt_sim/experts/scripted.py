"""What all experts do: they press, follow a script, and begin it again where the arm does not follow. Pure."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any

from cobalt_sim.experts.expert import ExpertCommand
from cobalt_sim.experts.steady_hand import ExpertSkill, SteadyHand, is_there, ticks
from cobalt_teleop.core.pose import Pose

_PRESS_S = 0.15
"""Time for which the clutch is let go of before it is pressed [s]."""


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What a script wants in a tick.

    Attributes:
        goal: Where the tool shall get to, in the base frame.
        gripper: 0 closed to 1 open.
        slowness: How many times slower than it can the tool moves.
        reaches: The tool must get to the goal.
    """

    goal: Pose
    gripper: float
    slowness: float = 1.0
    reaches: bool = False


Moves = Generator[Wish, None, bool]
"""Wishes, tick by tick; whether they came to their end."""


class ScriptedExpert(ABC):
    """Drives one arm by a script, which sees `tool`, `objects` and `gripper` as they are in each tick.

    Args:
        period_s: Time between two calls of `step` [s].
        skill: How it moves.
    """

    def __init__(self, *, period_s: float = 0.05, skill: ExpertSkill | None = None) -> None:
        self._period_s = period_s
        self._skill = skill or ExpertSkill()
        self._hand = SteadyHand(self._skill, period_s)
        self.tool = Pose()
        self.objects: Mapping[str, Pose] = {}
        self.gripper = 1.0
        self.restart()

    def restart(self) -> None:
        """Releases the clutch; the next steps begin anew, as after a reset."""
        self._moves: Generator[Wish, None, Any] | None = None
        self._ticks_released = 0

    def step(self, *, tool: Pose, objects: Mapping[str, Pose], gripper: float) -> ExpertCommand:
        """Decides one tick from measured poses in the base frame and the gripper's opening (0 to 1)."""
        self.tool, self.objects, self.gripper = tool, objects, gripper
        if self._moves is None:
            self._ticks_released += 1
            if self._ticks_released <= ticks(_PRESS_S, self._period_s):
                return ExpertCommand(pose=tool, gripper=math.nan, engaged=False)
            self._hand.start_from(tool)
            self._moves = self._over_and_over()
            return ExpertCommand(pose=tool, gripper=1.0, engaged=True)
        wish = next(self._moves)
        if not self._hand.is_followed(tool, wish.goal, reaches=wish.reaches):
            self.restart()
            return ExpertCommand(pose=tool, gripper=math.nan, engaged=False)
        self._hand.move_towards(wish.goal, slowness=wish.slowness)
        return ExpertCommand(pose=self._hand.wanted, gripper=wish.gripper, engaged=True)

    def _over_and_over(self) -> Generator[Wish, None, Any]:
        while True:
            yield from self._script()
            yield Wish(goal=self._hand.wanted, gripper=1.0)

    @abstractmethod
    def _script(self) -> Generator[Wish, None, Any]:
        """Yields the wishes of one attempt. What comes after it is the next one: had it helped, all would be over."""

    def _go(
        self,
        goal: Callable[[], Pose],
        *,
        gripper: float = 1.0,
        slowness: float = 1.0,
        reaches: bool = False,
        until: Callable[[], bool] | None = None,
        unless: Callable[[], bool] | None = None,
        limit_s: float = math.inf,
    ) -> Moves:
        """Moves the tool to a goal, which may move itself.

        Args:
            goal: In the base frame, of this tick.
            gripper: 0 closed to 1 open.
            slowness: How many times slower than it can.
            reaches: The tool must get there.
            until: When it is done; by default when the tool is there.
            unless: What breaks it off.
            limit_s: Time after which it is done in any case [s].

        Returns:
            False if it was broken off.
        """
        passed_s = 0.0
        while passed_s < limit_s:
            yield Wish(goal=goal(), gripper=gripper, slowness=slowness, reaches=reaches)
            passed_s += self._period_s
            if unless is not None and unless():
                return False
            if until() if until is not None else is_there(self.tool, goal()):
                break
        return True
