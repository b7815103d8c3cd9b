"""The page back end: keys that browser pages send through the bridge."""

import functools
from collections.abc import Sequence

from rclpy.node import Node

from cobalt_devices.command_sender import CommandSender
from cobalt_devices.keyboard_mapper import KeyboardRates, KeySample
from cobalt_interfaces.msg import DeviceSample, WorkcellInfo
from cobalt_teleop.core import topics
from cobalt_teleop.ros.endpoints import create_subscription
from cobalt_teleop.ros.stamps import to_nanoseconds
from cobalt_teleop.ros.workcells import WorkcellWatch


class PageKeyboard:
    """Answers each sample of a page at once with a command. It has no timer of its own.

    Args:
        node: Its executor brings the samples.
        workcells: Names or patterns; empty for all.
        part: Part that the keys move.
        rates: Speeds, view and leash.
    """

    def __init__(self, node: Node, workcells: Sequence[str], part: str, rates: KeyboardRates) -> None:
        self._node = node
        self._part = part
        self._rates = rates
        self._senders: dict[str, CommandSender] = {}
        self._watch = WorkcellWatch(node, self._on_workcell, workcells)
        node.get_logger().info('back end page: keys come from browser pages through the bridge')

    def _on_workcell(self, info: WorkcellInfo) -> None:
        if info.workcell_id in self._senders or self._part not in [part.name for part in info.parts]:
            return
        sender = CommandSender(self._node, info.workcell_id, self._part, self._rates)
        self._senders[info.workcell_id] = sender
        topic = topics.operator_sample('keyboard', self._part)
        create_subscription(self._node, topic, info.workcell_id, functools.partial(_answer, sender))


def _answer(sender: CommandSender, sample: DeviceSample) -> None:
    if not sample.lease_id:
        # Somebody who only watches must not speak over the one who drives.
        return
    sender.send(
        KeySample(
            stamp_ns=to_nanoseconds(sample.device_stamp) or to_nanoseconds(sample.header.stamp),
            buttons=sample.buttons,
            press_counts=tuple(sample.press_counts),
            engaged=sample.engaged,
            tracked=sample.tracked,
        ),
        session_id=sample.session_id,
        lease_id=sample.lease_id,
        stamp=sample.header.stamp,
        device_stamp=sample.device_stamp,
        shown_frame_stamp=sample.shown_frame_stamp,
    )
