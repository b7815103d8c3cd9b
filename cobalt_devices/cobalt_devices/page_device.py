"""A device of browser pages, whose samples come through the bridge."""

import functools
from collections.abc import Callable, Sequence
from typing import Generic

from rclpy.node import Node

from cobalt_devices.command_sender import CommandSender
from cobalt_devices.device_command import Mapper, NextEpoch, Sample
from cobalt_devices.sample_publishers import SamplePublishers
from cobalt_interfaces.msg import DeviceSample, WorkcellInfo
from cobalt_teleop.core import topics
from cobalt_teleop.ros.endpoints import create_subscription
from cobalt_teleop.ros.message_origin import Origin, WithOrigin
from cobalt_teleop.ros.stamps import to_nanoseconds
from cobalt_teleop.ros.workcells import WorkcellWatch

_MOST_VALUES = 64
_LARGEST_HEADING = 1e3
_LARGEST_SCALE = 10.0


def defect_of(sample: DeviceSample) -> str:
    """Returns why a sample cannot be used, in words; empty if it can. A pose that is none counts as lost tracking."""
    if not abs(sample.heading) <= _LARGEST_HEADING:
        return f'heading is {sample.heading} and must be within {_LARGEST_HEADING:g} rad'
    if not 0.0 <= sample.scale <= _LARGEST_SCALE:
        return f'scale is {sample.scale} and must be 0 to {_LARGEST_SCALE:g}'
    for name in ('axes', 'press_counts'):
        if len(getattr(sample, name)) > _MOST_VALUES:
            return f'{name} holds {len(getattr(sample, name))} values and may hold {_MOST_VALUES}'
    return ''


def device_time_ns(sample: DeviceSample) -> int:
    """Returns when a sample was taken, on the device's own clock [ns]; on the host's if it did not tell."""
    return to_nanoseconds(sample.device_stamp) or to_nanoseconds(sample.header.stamp)


class PageDevice(Generic[Sample]):
    """Answers each sample of a page at once with a command. It has no timer of its own.

    What sends the commands of a part is made with the part's first sample, as most operators have but one device; or at
    once for a device whose first press must not find it still being made.

    Args:
        node: Its executor brings the samples.
        device: One of topics.PAGE_DEVICES.
        workcells: Names or patterns; empty for all.
        parts: That it may drive; empty for all.
        make_mapper: Makes the mapper of a lease.
        read: Returns what the mapper takes of a sample.
        publishers: Tells whose samples count; shared with the other devices of the process.
        at_once: Makes what sends commands at once.
    """

    def __init__(
        self,
        node: Node,
        device: str,
        *,
        workcells: Sequence[str],
        parts: Sequence[str],
        make_mapper: Callable[[NextEpoch], Mapper[Sample]],
        read: Callable[[DeviceSample], Sample],
        publishers: SamplePublishers,
        at_once: bool = False,
    ) -> None:
        self._node = node
        self._device = device
        self._parts = parts
        self._make_mapper = make_mapper
        self._read = read
        self._publishers = publishers
        self._at_once = at_once
        self._senders: dict[tuple[str, str], CommandSender[Sample]] = {}
        self._served: set[tuple[str, str]] = set()
        self._watch = WorkcellWatch(node, self._on_workcell, workcells)

    def _on_workcell(self, info: WorkcellInfo) -> None:
        for part in info.parts:
            place = info.workcell_id, part.name
            if place in self._served or (self._parts and part.name not in self._parts):
                continue
            self._served.add(place)
            if self._at_once:
                self._sender_of(place)
            topic = topics.operator_sample(self._device, part.name)
            take = functools.partial(self._take, place, topic.absolute(info.workcell_id))
            create_subscription(self._node, topic, info.workcell_id, WithOrigin(take))

    def _take(self, place: tuple[str, str], topic: str, sample: DeviceSample, origin: Origin) -> None:
        if not sample.lease_id:
            # Somebody who only watches must not speak over the one who drives.
            return
        if not self._publishers.admits(self._node, topic, sample.lease_id, origin):
            return
        defect = defect_of(sample)
        if defect:
            self._leave_out(topic, defect)
            return
        try:
            self._answer(place, sample)
        except Exception as error:
            # Whatever a sample holds, the other operators of this process drive on; this one's press is over.
            self._sender_of(place).forget(sample.lease_id)
            self._leave_out(topic, f'{type(error).__name__}: {error}')

    def _leave_out(self, topic: str, defect: str) -> None:
        self._node.get_logger().warning(f'a sample on {topic} is left out: {defect}', throttle_duration_sec=5.0)

    def _answer(self, place: tuple[str, str], sample: DeviceSample) -> None:
        self._sender_of(place).send(
            self._read(sample),
            lease_id=sample.lease_id,
            stamp=sample.header.stamp,
            device_stamp=sample.device_stamp,
            shown_frame_stamp=sample.shown_frame_stamp,
        )

    def _sender_of(self, place: tuple[str, str]) -> CommandSender[Sample]:
        sender = self._senders.get(place)
        if sender is None:
            sender = self._senders[place] = CommandSender(self._node, *place, self._device, self._make_mapper)
        return sender
