"""A person at the keyboard, for tests: looks at poses, holds keys in the browser, lifts the cube."""

import time

import numpy as np

from cobalt_interfaces.msg import PartStep
from cobalt_sim.experts.pick import grasp_yaw
from cobalt_teleop.core import topics
from cobalt_teleop.core.keyboard_actions import ACTIONS
from cobalt_teleop.core.pose import inverse, multiply, quaternion, rotation_vector

_CODES = {action.name: action.codes[0] for action in ACTIONS}
_POINTING_DOWN = np.array([1.0, 0.0, 0.0, 0.0])
_LOOK_S = 0.03
_LETS_GO_S = 0.7
_NOTHING_SPOILT = (PartStep.HOLD_NONE, PartStep.HOLD_NOT_ENGAGED, PartStep.HOLD_NO_COMMAND)


class KeyOperator:
    """Holds the keys that bring the tool to a place.

    Args:
        page: The operator's page.
        operator: Hears current_pose, object/cube/pose and control_step.
    """

    def __init__(self, page, operator):
        self._page = page
        self._operator = operator
        self._held = set()
        for topic in (topics.current_pose('arm'), topics.object_pose('cube'), topics.CONTROL_STEP):
            operator.listen(topic)

    def lift_the_cube(self, done, timeout_s=60.0):
        """Approaches, descends, grasps and lifts until `done()`."""
        end = time.monotonic() + timeout_s
        above = np.array([0.0, 0.0, 0.09])
        self._until_near(lambda: self._cube()[0] + above, end, tolerance=0.006, align=True)
        self._until_near(lambda: self._grasp_place(), end, tolerance=0.006, align=True)
        self._tap('gripper')
        time.sleep(0.7)
        place = self._tool()[0] + np.array([0.0, 0.0, 0.17])
        while not done():
            assert time.monotonic() < end, f'not lifted: {self._operator.newest(topics.CONTROL_STEP).parts[0]}'
            self._hold_for(place - self._tool()[0], 0.0, tolerance=0.01)
            time.sleep(_LOOK_S)
        self.release()

    def release(self):
        """Lets go of all keys."""
        self._set(set())

    def _grasp_place(self):
        place, _ = self._cube()
        return np.array([place[0], place[1], max(place[2], 0.016)])

    def _until_near(self, goal, end, *, tolerance, align):
        near = 0
        while near < 4:
            assert time.monotonic() < end, f'not there: {goal() - self._tool()[0]}'
            way = goal() - self._tool()[0]
            turn = self._turn_left() if align else 0.0
            self._hold_for(way, turn, tolerance)
            near = near + 1 if np.abs(way).max() < tolerance and abs(turn) < 0.08 else 0
            time.sleep(_LOOK_S)
        self.release()

    def _let_go_if_it_is_asked(self):
        """Does what the page says when a press is spoilt, by a busy machine or a late picture: let go, press again."""
        row = self._operator.newest(topics.CONTROL_STEP)
        if self._held and row.parts[0].hold_reason not in _NOTHING_SPOILT:
            self.release()
            time.sleep(_LETS_GO_S)

    def _hold_for(self, way, turn, tolerance):
        self._let_go_if_it_is_asked()
        # The camera faces the arm: away from the viewer is -x of the base, left is -y.
        wanted = set()
        for share, plus, minus in ((way[0], 'closer', 'away'), (way[1], 'right', 'left'), (way[2], 'up', 'down')):
            if abs(share) > tolerance * 0.7:
                wanted.add(plus if share > 0 else minus)
        if abs(turn) > 0.06:
            wanted.add('yaw_left' if turn > 0 else 'yaw_right')
        if np.abs(way).max() < 0.04 and abs(turn) < 0.25:
            wanted.add('slow')
        self._set(wanted if wanted != {'slow'} else set())

    def _set(self, wanted):
        for name in self._held - wanted:
            self._page.keyboard.up(_CODES[name])
        for name in sorted(wanted - self._held, key=lambda name: name != 'slow'):
            self._page.keyboard.down(_CODES[name])
        self._held = wanted

    def _tap(self, name):
        self._page.keyboard.press(_CODES[name], delay=60)

    def _tool(self):
        return _pose(self._operator.newest(topics.current_pose('arm')))

    def _cube(self):
        return _pose(self._operator.newest(topics.object_pose('cube')))

    def _turn_left(self):
        from cobalt_teleop.core.pose import Pose

        _, tool = self._tool()
        goal = multiply(quaternion([0.0, 0.0, grasp_yaw(Pose(*self._cube()))]), _POINTING_DOWN)
        return float(rotation_vector(multiply(goal, inverse(tool)))[2])


def _pose(message):
    place, quat = message.pose.position, message.pose.orientation
    return np.array([place.x, place.y, place.z]), np.array([quat.x, quat.y, quat.z, quat.w])
