"""The driver `mujoco_hardware`: that of ros2_control, set up for the simulated arm of cobalt_sim."""

from dataclasses import replace

from cobalt_devices.arm_driver.driver import Driver, DriverContext
from cobalt_devices.drivers.ros2_control import Ros2ControlDriver

_OPTIONS = {
    'title': "MuJoCo's arm behind ros2_control's topics",
    'real': False,
    'rate_hz': 250.0,
    'gripper_topic': '/gripper_controller/commands',
    'diagnostics_topic': '/diagnostics',
    'diagnostics_name': 'mujoco_hardware',
    'stop_service': '/mujoco_hardware/stop',
    'recover_service': '/mujoco_hardware/recover',
}


def make(context: DriverContext) -> Driver:
    """Returns the driver; options of the context win."""
    gripper = {'gripper_joint': context.robot.gripper.joint} if context.robot.gripper else {}
    return Ros2ControlDriver(replace(context, options=_OPTIONS | gripper | dict(context.options)))
