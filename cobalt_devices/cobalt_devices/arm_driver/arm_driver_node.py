"""`arm_driver_node`: the host of one real arm, through a driver."""

import sys

from cobalt_devices.arm_driver.arm_driver_parameters import ArmDriverParameters
from cobalt_devices.arm_driver.confirmed_limits import confirmation_of
from cobalt_devices.arm_driver.driver import Driver, DriverContext
from cobalt_devices.arm_driver.driver_options import given_options
from cobalt_devices.arm_driver.driver_plant import DriverPlant
from cobalt_devices.arm_driver.driver_registry import load_driver
from cobalt_devices.arm_driver.servo_loop import ServoLoop
from cobalt_devices.arm_driver.servo_path import ServoPath
from cobalt_devices.arm_driver.shadow_driver import ShadowDriver
from cobalt_devices.arm_driver.success_watch import SuccessWatch
from cobalt_teleop.bridge.door.state_folder import StateFolder
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.kinematics.robot_description import RobotDescription, load_robot
from cobalt_teleop.ros.parameters import read_parameters
from cobalt_teleop.ros.process import Stop, run_node
from cobalt_teleop.video.camera_list import camera_names
from cobalt_teleop.workcell_host.host_node import HostNode, HostOptions
from cobalt_teleop.workcell_host.plant import CameraModel, TaskInfo

_SUMMARY = 'Hosts one real arm: commands in, set points to its driver, states out.'

_SWITCH_INTERVAL_S = 2e-4
"""A thread that computes gives way to the servo thread after this long; Python's own 5 ms are ten servo periods [s]."""


class ArmDriverNode(HostNode):
    """The host of one real arm. Its name is the host's id: `arm_driver`."""

    def __init__(self, stop: Stop) -> None:
        super().__init__('arm_driver')
        parameters = read_parameters(self, ArmDriverParameters)
        robot = load_robot(parameters.robot)
        driver = self._make_driver(parameters, robot)
        objection = self._objection(parameters, robot, driver)
        sys.setswitchinterval(_SWITCH_INTERVAL_S)
        period_s = 1.0 / driver.capabilities.rate_hz
        path = ServoPath(robot.limits, period_s=period_s, tick_s=1.0 / parameters.control_rate_hz)
        loop = ServoLoop(driver, path, period_s=period_s)
        loop.start()
        plant = DriverPlant(
            robot,
            loop,
            real=driver.capabilities.real,
            task=TaskInfo(
                name=parameters.task, instruction=parameters.instruction, time_limit_s=parameters.time_limit_s
            ),
            cameras=_cameras(parameters),
            objection=lambda: objection,
            success=SuccessWatch(self, parameters.success_topic) if parameters.success_topic else None,
        )
        self.hear_stop_button(parameters)
        self.host(
            {parameters.workcell: plant},
            HostOptions(
                control_rate_hz=parameters.control_rate_hz,
                render_threads=1,
                max_frame_age_s=parameters.max_frame_age_s,
                goal_picture=parameters.goal_picture,
            ),
        )
        self.get_logger().info(f'ready: {driver.capabilities.title}, at {driver.capabilities.rate_hz:g} Hz')

    def _make_driver(self, parameters: ArmDriverParameters, robot: RobotDescription) -> Driver:
        options = given_options(parameters.driver, robot.drivers, parameters.driver_options)
        context = DriverContext(robot=robot, options=options, node=self, shadow=parameters.shadow)
        driver = load_driver(parameters.driver)(context)
        return ShadowDriver(driver) if parameters.shadow else driver

    def _objection(self, parameters: ArmDriverParameters, robot: RobotDescription, driver: Driver) -> str:
        """Returns why a real arm must not move yet: nobody has confirmed its limits."""
        if parameters.shadow or not driver.capabilities.real:
            return ''
        confirmed = confirmation_of(robot, parameters.driver, StateFolder(parameters.state_dir))
        if confirmed is not None:
            self.get_logger().info(f'{confirmed.person} confirmed the limits of this arm at {confirmed.at}')
            return ''
        command = f'cobalt driver confirm --robot {parameters.robot} --driver {parameters.driver}'
        self.get_logger().warning(f'nobody has confirmed the limits of this arm, so it does not move. Type: {command}')
        return f'nobody has confirmed the limits of this arm: type "{command}", and start anew'


def _cameras(parameters: ArmDriverParameters) -> tuple[CameraModel, ...]:
    names = camera_names(parameters.cameras)
    for name in names:
        if not name.isidentifier():
            raise CobaltError(f"the camera '{name}' must have a name of letters, digits and underscores")
    # Whoever films knows their sizes.
    return tuple(CameraModel(name=name, width=0, height=0, rate_hz=0.0, focal_px=0.0) for name in names)


def main() -> int:
    """Entry point of `arm_driver_node`."""
    return run_node('arm_driver_node', _SUMMARY, ArmDriverParameters, ArmDriverNode)


if __name__ == '__main__':
    sys.exit(main())
