"""The Franka Hand, in a thread of its own: each of its commands takes as long as its motion."""

import threading
import time
from collections.abc import Mapping
from typing import Any

from cobalt_teleop.core.errors import CobaltError

_PERIOD_S = 0.05
_ANY_WIDTH_M = 1.0
_SAME = 0.02


class FrankaHand:
    """Closes by force, whatever is between the fingers, and opens by width.

    Args:
        gripper: franky's Gripper, homed.
        options: `gripper_speed` [m/s] and `gripper_force` [N].
    """

    def __init__(self, gripper: Any, options: Mapping[str, Any]) -> None:
        self._gripper = gripper
        self._speed, self._force = options['gripper_speed'], options['gripper_force']
        self._wanted: float | None = None
        self._done: float | None = None
        self._running: Any = None
        self.opening = 1.0
        self.trouble = ''
        threading.Thread(target=self._run, name='gripper', daemon=True).start()

    def grip(self, opening: float) -> None:
        """Brings it to 0 closed to 1 open."""
        self._wanted = opening

    def _run(self) -> None:
        while True:
            try:
                self._turn()
                self.trouble = ''
            except Exception as error:
                self.trouble = f'the Franka Hand: {error}'
            time.sleep(_PERIOD_S)

    def _turn(self) -> None:
        state, wanted = self._gripper.state, self._wanted
        if state.max_width <= 0.0:
            raise CobaltError('it has not been homed: home it in Desk')
        self.opening = min(1.0, max(0.0, state.width / state.max_width))
        if wanted is None or (self._done is not None and abs(wanted - self._done) < _SAME):
            return
        if self._running is not None and not self._running.wait(0.0):
            return  # one motion after the other
        width = wanted * state.max_width
        if wanted < self.opening:
            self._running = self._gripper.grasp_async(width, self._speed, self._force, _ANY_WIDTH_M, _ANY_WIDTH_M)
        else:
            self._running = self._gripper.move_async(width, self._speed)
        self._done = wanted
