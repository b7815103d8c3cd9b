"""What the nodes of this package can be told, for who checks before they start: executable, node, table."""

from typing import Any

from cobalt_devices.arm_driver.arm_driver_parameters import ArmDriverParameters
from cobalt_devices.gamepad_parameters import GamepadParameters
from cobalt_devices.keyboard_parameters import KeyboardParameters
from cobalt_devices.pose_parameters import PoseDeviceParameters
from cobalt_devices.spacemouse_parameters import SpaceMouseParameters
from cobalt_devices.usb_camera.usb_camera_parameters import UsbCameraParameters

_NODES: dict[str, type[Any]] = {
    'keyboard_node': KeyboardParameters,
    'phone_node': PoseDeviceParameters,
    'vr_node': PoseDeviceParameters,
    'spacemouse_node': SpaceMouseParameters,
    'gamepad_node': GamepadParameters,
}

TABLES = {
    'arm_driver_node': {'arm_driver': ArmDriverParameters},
    **{name: {name: table} for name, table in _NODES.items()},
    'page_devices': _NODES,
    'usb_camera': {'usb_camera': UsbCameraParameters},
}
