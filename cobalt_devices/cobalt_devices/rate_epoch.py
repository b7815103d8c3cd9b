"""One epoch of a device that moves the arm at a rate: motion since engage, on a leash, without ROS.

The host anchors the motion to its own measured pose at the first command of each clutch epoch that it accepts, so no
mapper needs to know where the arm is. A mapper that adds up rates needs to know how far the accepted target has
followed: without a leash its sum would wind up against every limit, and the arm would go on after the release.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from cobalt_devices.device_command import DeviceCommand, Feedback
from cobalt_teleop.core.pose import Pose, Vector, continuous, inverse, multiply, quaternion, rotate, rotation_vector

LINGER_S = 0.5
"""An epoch ends this long after the last motion [s]."""

WATCHDOG_S = 0.2
"""After a gap in the samples as long as this [s] the host holds: what was held over it counts no more."""

LONGEST_STEP_S = 0.1
"""A gap between two samples moves the arm no longer than this [s]."""

RESTART_NS = 1_000_000_000
"""A sample that is older than the one before by more than this [ns] comes from a device that has begun anew."""

AT_REST_S = 0.2
"""So long after the last step the target has followed [s]; what leads it still is held up by a limit, and dropped."""

_REST_SHARE = 0.125


def within(vector: Vector, length: float) -> Vector:
    """Returns a vector, shortened to a length if it is longer."""
    norm = float(np.linalg.norm(vector))
    return vector if norm <= length else vector * (length / norm)


@dataclass(frozen=True, kw_only=True)
class Leash:
    """How far the motion may lead the accepted target.

    Attributes:
        length_m: Its position [m].
        length_rad: Its rotation [rad].
    """

    length_m: float = 0.04
    length_rad: float = 0.3


@dataclass(kw_only=True)
class RateEpoch:
    """What has happened since the first motion.

    Attributes:
        number: Of the clutch epoch.
        started_ns: Time of its first sample, on the device's clock [ns].
        base_from_device: (4,) xyzw, from the device's axes to the base frame's; fixed while the epoch lasts.
        leash: Of the motion.
        active_ns: When the device last moved the arm, or tried to [ns].
        pose: Motion since engage, in axes of the base frame.
        gripper: 0 closed to 1 open; NaN leaves it.
        over: The host holds it; it lasts only so that the host can tell the operator why, until he lets go.
    """

    number: int
    started_ns: int
    base_from_device: Vector
    leash: Leash
    active_ns: int = 0
    pose: Pose = field(default_factory=Pose)
    gripper: float = math.nan
    over: bool = False
    _moved_ns: int = field(init=False)
    _zero: Pose | None = None

    def __post_init__(self) -> None:
        self.active_ns = self._moved_ns = self.started_ns

    def lingers(self, now_ns: int) -> bool:
        """Returns whether the last motion was a short while ago."""
        return (now_ns - self.active_ns) * 1e-9 <= LINGER_S

    def is_held(self, feedback: Feedback | None) -> bool:
        """Returns whether the host holds the part in this very epoch, and does not just begin it."""
        if feedback is None or feedback.clutch_epoch != self.number:
            return False
        return feedback.holding and not feedback.waiting

    def move(self, step: Vector, turn: Vector, now_ns: int) -> None:
        """Goes on by a step.

        Args:
            step: (3,) in the device's axes [m].
            turn: (3,) about them [rad].
            now_ns: On the device's clock [ns].
        """
        if not (step.any() or turn.any()):
            return
        self._moved_ns = now_ns
        turned = multiply(quaternion(rotate(self.base_from_device, turn)), self.pose.quat_xyzw)
        self.pose = Pose(
            self.pose.position + rotate(self.base_from_device, step),
            continuous(turned / np.linalg.norm(turned), self.pose.quat_xyzw),
        )

    def keep_on_leash(self, feedback: Feedback | None, now_ns: int) -> None:
        """Draws the motion back to the accepted target as far as the leash asks; to nearly nothing once it is at rest.

        Args:
            feedback: Newest tick of the host, if there is one.
            now_ns: On the device's clock [ns].
        """
        if feedback is None or feedback.holding or feedback.clutch_epoch != self.number:
            return
        if self._zero is None:
            self._zero = feedback.command
        zero = self._zero
        followed = feedback.target.position - feedback.anchor.position + zero.position
        turned = multiply(multiply(feedback.target.quat_xyzw, inverse(feedback.anchor.quat_xyzw)), zero.quat_xyzw)
        lead = self.pose.position - followed
        lead_turn = rotation_vector(multiply(self.pose.quat_xyzw, inverse(turned)))
        share = _REST_SHARE if (now_ns - self._moved_ns) * 1e-9 > AT_REST_S else 1.0
        length_m, length_rad = self.leash.length_m * share, self.leash.length_rad * share
        if np.linalg.norm(lead) <= length_m and np.linalg.norm(lead_turn) <= length_rad:
            return
        kept = multiply(quaternion(within(lead_turn, length_rad)), turned)
        self.pose = Pose(
            followed + within(lead, length_m), continuous(kept / np.linalg.norm(kept), self.pose.quat_xyzw)
        )

    def command(self, *, tracked: bool = True) -> DeviceCommand:
        """Returns the command that this epoch makes now."""
        return DeviceCommand(
            pose=self.pose, gripper=self.gripper, engaged=True, tracked=tracked, clutch_epoch=self.number
        )
