"""`page_devices`: all devices of browser pages in one process; a node for each, as if it ran by itself."""

import sys
from functools import partial

from cobalt_devices import gamepad_node, keyboard_node, spacemouse_node
from cobalt_devices.gamepad_parameters import GamepadParameters
from cobalt_devices.keyboard_parameters import KeyboardParameters
from cobalt_devices.pose_device import PoseDeviceNode
from cobalt_devices.pose_parameters import PoseDeviceParameters
from cobalt_devices.sample_publishers import SamplePublishers
from cobalt_devices.spacemouse_parameters import SpaceMouseParameters
from cobalt_teleop.ros.message_executor import message_executor
from cobalt_teleop.ros.process import NodePlan, run_nodes

_SUMMARY = 'Drives arms by all devices of browser pages: keys, phones, headsets, gamepads and SpaceMice.'

_PUBLISHERS = SamplePublishers()

_PLANS = (
    NodePlan('keyboard_node', KeyboardParameters, partial(keyboard_node.KeyboardNode, publishers=_PUBLISHERS)),
    NodePlan('phone_node', PoseDeviceParameters, partial(PoseDeviceNode, 'phone', publishers=_PUBLISHERS)),
    NodePlan('vr_node', PoseDeviceParameters, partial(PoseDeviceNode, 'vr', publishers=_PUBLISHERS)),
    NodePlan('spacemouse_node', SpaceMouseParameters, partial(spacemouse_node.SpaceMouseNode, publishers=_PUBLISHERS)),
    NodePlan('gamepad_node', GamepadParameters, partial(gamepad_node.GamepadNode, publishers=_PUBLISHERS)),
)


def main() -> int:
    """Entry point of `page_devices`."""
    return run_nodes('page_devices', _SUMMARY, _PLANS, make_executor=message_executor)


if __name__ == '__main__':
    sys.exit(main())
