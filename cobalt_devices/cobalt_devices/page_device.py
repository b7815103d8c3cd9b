"""A device of browser pages, whose samples come through the bridge."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Generic

from rclpy.node import Node

from cobalt_devices.command_sender import CommandSender
from cobalt_devices.device_command import Mapper, NextEpoch, Sample
from cobalt_interfaces.msg import DeviceSample, WorkcellInfo
from cobalt_teleop.core import topics
from cobalt_teleop.ros.endpoints import create_subscription
from cobalt_teleop.ros.stamps import to_nanoseconds
from cobalt_teleop.ros.workcells import WorkcellWatch


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
        make_mapper: Makes the mapper of a session.
        read: Returns what the mapper takes of a sample.
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
        at_once: bool = False,
    ) -> None:
        self._node = node
        self._device = device
        self._parts = parts
        self._make_mapper = make_mapper
        self._read = read
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
            create_subscription(self._node, topic, info.workcell_id, functools.partial(self._answer, place))

    def _answer(self, place: tuple[str, str], sample: DeviceSample) -> None:
        if not sample.lease_id:
            # Somebody who only watches must not speak over the one who drives.
            return
        if not (math.isfinite(sample.heading) and math.isfinite(sample.scale)):
            return
        self._sender_of(place).send(
            self._read(sample),
            session_id=sample.session_id,
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
