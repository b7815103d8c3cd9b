"""`page_devices`: all devices of browser pages in one process; a node for each, as if it ran by itself."""

import sys
from functools import partial

from cobalt_devices import gamepad_node, keyboard_node, spacemouse_node
from cobalt_devices.gamepad_parameters import GamepadParameters
from cobalt_devices.keyboard_parameters import KeyboardParameters
from cobalt_devices.pose_device import PoseDeviceNode
from cobalt_devices.pose_parameters import PoseDeviceParameters
from cobalt_devices.spacemouse_parameters import SpaceMouseParameters
from cobalt_teleop.ros.message_executor import message_executor
from cobalt_teleop.ros.process import NodePlan, run_nodes

_SUMMARY = 'Drives arms by all devices of browser pages: keys, phones, headsets, gamepads and SpaceMice.'

_PLANS = (
    NodePlan('keyboard_node', KeyboardParameters, keyboard_node.KeyboardNode),
    NodePlan('phone_node', PoseDeviceParameters, partial(PoseDeviceNode, 'phone')),
    NodePlan('vr_node', PoseDeviceParameters, partial(PoseDeviceNode, 'vr')),
    NodePlan('spacemouse_node', SpaceMouseParameters, spacemouse_node.SpaceMouseNode),
    NodePlan('gamepad_node', GamepadParameters, gamepad_node.GamepadNode),
)


def main() -> int:
    """Entry point of `page_devices`."""
    return run_nodes('page_devices', _SUMMARY, _PLANS, make_executor=message_executor)


if __name__ == '__main__':
    sys.exit(main())
