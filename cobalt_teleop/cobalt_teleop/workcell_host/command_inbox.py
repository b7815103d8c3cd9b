"""The newest admitted command of a topic, taken at the tick, with an age that a busy process cannot make younger."""

import dataclasses
import time
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from cobalt_teleop.core.command import HoldReason, Mode, MotionCommand, Press, Reference
from cobalt_teleop.core.pose import InvalidPoseError, Pose
from cobalt_teleop.ros.endpoints import TakenSubscription
from cobalt_teleop.ros.message_origin import origin_of
from cobalt_teleop.ros.poses import pose_of
from cobalt_teleop.ros.stamps import to_nanoseconds

_MAX_HEADER_AGE_S = 1.0
_MAX_TWIST = 1e3
"""A speed beyond this [m/s, rad/s] is no command, but a fault of its source."""

_TURN_S = 0.2
"""A device that drives and is silent for longer gives the turn to another of its operator [s]."""

_MOST_SOURCES = 16

_CLOCKS_AGREE_NS = 1_000_000_000
"""By more than this [ns] no clock of a publisher may be ahead of this machine's."""

Admission = Callable[[str, str, bytes | None], HoldReason]
"""Tells from lease id, source and publisher gid whether a command may drive."""


@dataclasses.dataclass
class _Source:
    """What is known of one device: its node's publisher, and the epochs of its presses or None.

    Attributes:
        publisher: Gid, where the middleware tells it.
        pressed: Of the press that is going on.
        waits: Of the newest press that came while another device drove.
        old: Of a press that may not drive until the source has let go.
        admitted: It was heard under the present lease: no stranger's names make this host forget it.
    """

    publisher: bytes | None
    pressed: int | None = None
    waits: int | None = None
    old: int | None = None
    admitted: bool = False


class CommandInbox:
    """Takes one part's commands from its subscription.

    One source at a time is heard. Another of the operator's devices takes its turn with a fresh press, once the one
    before has let go. A press that was not seen to begin drives only if it says that it began under this lease: a host
    that was started again does not know what was held over its death.

    Args:
        subscription: Of teleop_command or policy_command.
    """

    def __init__(self, subscription: TakenSubscription) -> None:
        self._subscription = subscription
        self._last_take_s = time.monotonic()
        self._received_s = 0.0
        self._samples = 0
        self._motion: MotionCommand | None = None
        self.message: Any = None
        """Newest admitted TeleopCommand as received, or None."""
        self.refusal = HoldReason.NONE
        """Why a message that came in this tick was not admitted; NONE if all were, or if none came."""
        self.refused_publisher: tuple[str, bytes] | None = None
        """Source and publisher of the newest message that came under another lease, or beside the bound publisher."""
        self._sources: dict[str, _Source] = {}
        self._presses_since_ns = 0
        self.rejected = False
        """Whether an invalid command arrived in this tick."""

    @property
    def presses(self) -> Collection[Press]:
        """Presses that are going on in any source, admitted or not."""
        return tuple((name, source.pressed) for name, source in self._sources.items() if source.pressed is not None)

    def begin_lease(self, presses_since_ns: int) -> None:
        """Forgets the newest command: its holder is no longer in control.

        Args:
            presses_since_ns: System time [ns] before which no press may have begun, unless it was seen to begin.
        """
        self.message, self._motion, self.refusal = None, None, HoldReason.NONE
        self._presses_since_ns = presses_since_ns
        for source in self._sources.values():
            source.admitted = False

    def take(self, admit: Admission) -> MotionCommand | None:
        """Returns the newest admitted command with its age, or None if there never was one."""
        now_s, system_ns = time.monotonic(), time.time_ns()
        self.rejected = False
        self.refusal = HoldReason.NONE
        for message, info in self._subscription.take_all():
            self._accept(message, info, admit, now_s, system_ns)
        self._last_take_s = now_s
        if self._motion is None:
            return None
        return self._with_age(self._motion, now_s, system_ns)

    def silent_s(self) -> float:
        """Returns how long no command was admitted [s]."""
        return time.monotonic() - self._received_s

    def age_ms(self) -> float:
        """Returns the age of the newest admitted command now [ms]; NaN if there is none."""
        return float('nan') if self.message is None else (time.monotonic() - self._received_s) * 1e3

    def _accept(self, message: Any, info: dict[str, Any], admit: Admission, now_s: float, system_ns: int) -> None:
        gid = origin_of(info).gid or None
        source = str(message.source)
        refusal = admit(message.lease_id, source, gid)
        if refusal is not HoldReason.FOREIGN_PUBLISHER:
            self._note(source, gid, message, admitted=refusal is HoldReason.NONE)
        if refusal is not HoldReason.NONE:
            self.refusal = refusal
            if refusal is not HoldReason.NO_LEASE and gid is not None:
                self.refused_publisher = source, gid
            return
        if message.engaged and self._sources[source].old == message.clutch_epoch:
            self.refusal = HoldReason.REENGAGE
            return
        if not self._has_turn(message, source, now_s):
            return
        self._samples += 1
        # The middleware's receive stamp, mapped to the monotonic clock. The message came after the last take, so a jump
        # of the system clock cannot make it younger than now nor older than that.
        age_s = (system_ns - int(info['received_timestamp'])) * 1e-9
        self._received_s = now_s - min(max(age_s, 0.0), now_s - self._last_take_s)
        self.message = message
        self._motion = _motion(message)
        self.rejected = (self._motion.pose if self._motion.mode is not Mode.TWIST else self._motion.twist) is None

    def _note(self, source: str, gid: bytes | None, message: Any, *, admitted: bool) -> None:
        """Keeps what a source presses, and sees which press is an old one.

        So is one that its node has brought along from before: from before this lease, or, if the node was started
        again, from when its press waited for its turn.
        """
        known = self._sources.pop(source, None)
        unseen = known is None or known.publisher != gid
        known = known or _Source(publisher=gid)
        self._sources[source] = known  # the newest comes last
        epoch = int(message.clutch_epoch) if message.engaged else None
        if epoch is None:
            known.old = None
        elif unseen:
            waited = known.pressed is not None and known.pressed in (known.waits, known.old)
            if waited or not self._began_under_lease(message):
                known.old = epoch
        known.publisher, known.pressed = gid, epoch
        known.admitted |= admitted
        if len(self._sources) > _MOST_SOURCES:
            strangers = (name for name, known in self._sources.items() if not known.admitted)
            del self._sources[next(strangers, next(iter(self._sources)))]

    def _began_under_lease(self, message: Any) -> bool:
        if not self._presses_since_ns:
            return True
        since_ns = to_nanoseconds(message.engaged_since)
        return self._presses_since_ns <= since_ns <= time.time_ns() + _CLOCKS_AGREE_NS

    def _has_turn(self, message: Any, source: str, now_s: float) -> bool:
        heard = self.message
        if heard is None or heard.source == source:
            return True
        if heard.engaged and now_s - self._received_s <= _TURN_S:
            # What was pressed while another drove must not drive by itself when that one lets go.
            self._sources[source].waits = int(message.clutch_epoch)
            return False
        if message.engaged and self._sources[source].waits == message.clutch_epoch:
            self.refusal = HoldReason.REENGAGE
            return False
        return bool(message.engaged)

    def _with_age(self, motion: MotionCommand, now_s: float, system_ns: int) -> MotionCommand:
        age_s = now_s - self._received_s
        header_age_s = (system_ns - to_nanoseconds(self.message.header.stamp)) * 1e-9
        if header_age_s > _MAX_HEADER_AGE_S:
            age_s = max(age_s, header_age_s)
        shown_ns = to_nanoseconds(self.message.shown_frame_stamp)
        return dataclasses.replace(
            motion,
            sample=self._samples,
            age_s=age_s,
            frame_age_s=_frame_age_s(shown_ns, system_ns),
        )


def _frame_age_s(shown_ns: int, system_ns: int) -> float:
    """Returns the age of the picture that was seen [s]: 0 if it is not told, endless if it is of a time to come."""
    if shown_ns > system_ns + _CLOCKS_AGREE_NS:
        return float('inf')
    return (system_ns - shown_ns) * 1e-9 if shown_ns else 0.0


def _motion(message: Any) -> MotionCommand:
    pose: Pose | None
    try:
        pose = pose_of(message.pose)
    except InvalidPoseError:
        pose = None
    linear, angular = message.twist.linear, message.twist.angular
    twist = np.array([linear.x, linear.y, linear.z, angular.x, angular.y, angular.z])
    return MotionCommand(
        mode=Mode(message.mode) if message.mode in tuple(Mode) else None,
        reference=Reference(message.reference) if message.reference in tuple(Reference) else None,
        pose=pose,
        twist=twist if bool(np.all(np.abs(twist) <= _MAX_TWIST)) else None,
        gripper=float(message.gripper),
        engaged=bool(message.engaged),
        tracked=bool(message.tracked),
        clutch_epoch=int(message.clutch_epoch),
        source=str(message.source),
        age_s=0.0,
    )
