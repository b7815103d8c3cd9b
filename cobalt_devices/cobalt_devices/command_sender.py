"""From a device's samples to `teleop_command`: the ROS side of a mapper, for one part of one workcell."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Generic

from builtin_interfaces.msg import Time
from rclpy.node import Node

from cobalt_devices.device_command import DeviceCommand, Feedback, Mapper, NextEpoch, Sample
from cobalt_interfaces.msg import PartStep, TeleopCommand
from cobalt_teleop.core import topics
from cobalt_teleop.core.pose import InvalidPoseError, Pose
from cobalt_teleop.ros.endpoints import TakenSubscription, create_publisher
from cobalt_teleop.ros.poses import fill_pose, pose_of
from cobalt_teleop.ros.stamps import now_ns, to_stamp

_MOST_LEASES = 8

_FRESH_S = 0.05
"""A tick that was read within so short a time does for a sample [s]."""

_NEWEST_STEP = replace(topics.CONTROL_STEP, qos=topics.LATEST)


def feedback_of(part: PartStep, source: str) -> Feedback | None:
    """Returns a tick's answer to a device; None if the tick holds no valid poses."""
    try:
        return Feedback(
            clutch_epoch=part.human.clutch_epoch if part.has_human and part.human.source == source else None,
            command=pose_of(part.human.pose) if part.has_human else Pose(),
            measured=pose_of(part.pose),
            anchor=pose_of(part.anchor),
            target=pose_of(part.target),
            gripper_target=float(part.gripper_target),
            holding=part.hold_reason != PartStep.HOLD_NONE,
            waiting=part.hold_reason == PartStep.HOLD_NOT_ENGAGED,
        )
    except InvalidPoseError:
        return None


@dataclass
class _Lease(Generic[Sample]):
    """What is driven by under one lease, and since when it is pressed."""

    mapper: Mapper[Sample]
    _epoch: int | None = None
    _since: Time = field(default_factory=Time)

    def engaged_since(self, command: DeviceCommand) -> Time:
        epoch = command.clutch_epoch if command.engaged else None
        if epoch != self._epoch:
            self._epoch, self._since = epoch, Time() if epoch is None else to_stamp(now_ns())
        return self._since


class CommandSender(Generic[Sample]):
    """The publisher of one part's commands from one kind of device, with a mapper for each lease.

    Nothing that was pressed under one lease moves anything under the next: its mapper begins anew.

    Args:
        node: Owns publisher and subscription.
        workcell_id: Such as env_0.
        part: Such as arm.
        source: Name of the device in its commands.
        make_mapper: Makes the mapper of a lease.
    """

    def __init__(
        self,
        node: Node,
        workcell_id: str,
        part: str,
        source: str,
        make_mapper: Callable[[NextEpoch], Mapper[Sample]],
    ) -> None:
        self._part = part
        self._source = source
        # Filled anew for each sample: making it takes longer than sending it.
        self._message = TeleopCommand(
            mode=TeleopCommand.MODE_POSE, reference=TeleopCommand.REFERENCE_ENGAGE, source=source
        )
        self._message.header.frame_id = topics.base_frame(workcell_id, part)
        self._make_mapper = make_mapper
        self._publisher = create_publisher(node, topics.teleop_command(part), workcell_id)
        self._steps = TakenSubscription(node, _NEWEST_STEP, workcell_id, hidden=True)
        self._leases: dict[str, _Lease[Sample]] = {}
        # A node that was started again must not repeat an epoch that the host knows.
        self._epoch = int(time.time() * 10) % 2**31
        self._sequence = 0
        self._looked_s = float('-inf')
        self._newest_part: PartStep | None = None
        self._feedback: Feedback | None = None

    def send(
        self,
        sample: Sample,
        *,
        lease_id: str,
        stamp: Time,
        device_stamp: Time,
        shown_frame_stamp: Time,
    ) -> None:
        """Publishes the command of one sample.

        Args:
            sample: Newest state of the device.
            lease_id: Under which it was taken; each has a mapper of its own.
            stamp: The sample's time on the host's clock.
            device_stamp: On the device's own clock.
            shown_frame_stamp: Of the newest picture that the operator saw; zero if unknown.
        """
        lease = self._lease_of(lease_id)
        mapper = lease.mapper
        listens = mapper.listens(sample)
        if listens and not self._knows_enough:
            self.look()
        command = mapper.update(sample, self._feedback if listens else None)
        if command is None:
            return
        self._sequence += 1
        message = self._message
        fill_pose(message.pose, command.pose)
        message.gripper = command.gripper
        message.engaged = command.engaged
        message.tracked = command.tracked
        message.clutch_epoch = command.clutch_epoch
        message.engaged_since = lease.engaged_since(command)
        message.sequence = self._sequence
        message.lease_id = lease_id
        message.device_stamp = device_stamp
        message.shown_frame_stamp = shown_frame_stamp
        message.filter_delay_ms = command.filter_delay_s * 1e3
        message.header.stamp = stamp
        self._publisher.publish(message)
        if listens:
            # For the next sample: to read a tick takes longer than all the rest.
            self.look()

    @property
    def _knows_enough(self) -> bool:
        """The host has answered to the epoch that is on, and was looked at a moment ago."""
        answered = self._feedback is not None and self._feedback.clutch_epoch == self._epoch
        return answered and time.monotonic() - self._looked_s <= _FRESH_S

    def _lease_of(self, lease_id: str) -> '_Lease[Sample]':
        lease = self._leases.pop(lease_id, None) or _Lease(self._make_mapper(self._next_epoch))
        self._leases[lease_id] = lease
        if len(self._leases) > _MOST_LEASES:
            del self._leases[next(iter(self._leases))]
        return lease

    def forget(self, lease_id: str) -> None:
        """Begins anew with a lease, after a sample that its mapper could not take."""
        self._leases.pop(lease_id, None)

    def look(self) -> PartStep | None:
        """Takes the newest tick, if there is a new one, and returns the part's share of the newest known."""
        self._looked_s = time.monotonic()
        taken: Any = self._steps.take()
        # The terminal row of an episode has no action: its targets say nothing.
        if taken is not None and not taken[0].terminal:
            part = self._newest_part = next((part for part in taken[0].parts if part.part == self._part), None)
            self._feedback = None if part is None else feedback_of(part, self._source)
        return self._newest_part

    def _next_epoch(self) -> int:
        self._epoch = (self._epoch + 1) % 2**32
        return self._epoch
