"""The driver `ur_rtde`: an arm of Universal Robots by RTDE, with the library ur_rtde (servoJ at 125 to 500 Hz).

The library runs in a process of its own (ur_rtde_process.py). The emergency stop does not need it: it goes to the arm's
dashboard.
"""

from dataclasses import asdict, dataclass

from cobalt_devices.arm_driver.driver import DriverCapabilities, DriverContext, DriverError, DriverState
from cobalt_devices.arm_driver.driver_options import read_options
from cobalt_devices.drivers.library_driver import LibraryDriver
from cobalt_devices.drivers.ur_dashboard import ask_dashboard
from cobalt_devices.drivers.ur_rtde_process import JOINTS, NAME, REQUIREMENT
from cobalt_devices.drivers.vendor_library import require
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.parameter_table import parameter

_READY_S = 20.0


@dataclass(frozen=True, kw_only=True)
class UrRtdeOptions:
    """Options of the driver, in robot.yaml below `drivers: ur_rtde:`."""

    host: str = parameter('', "Address of the arm's controller")
    title: str = parameter('Universal Robots arm by RTDE', 'Name of the arm, for people')
    rate_hz: float = parameter(
        250.0, 'Set points a second; a CB3 controller takes 125, an e-Series up to 500 [Hz]', lower=125.0, upper=500.0
    )
    lookahead_s: float = parameter(0.1, 'lookahead_time of servoj: longer is smoother [s]', lower=0.03, upper=0.2)
    gain: float = parameter(300.0, 'gain of servoj: higher follows closer', lower=100.0, upper=2000.0)
    deceleration: float = parameter(4.0, 'Of the joints when the arm is to stand [rad/s2]', lower=0.5, upper=40.0)
    gripper: str = parameter('none', 'What is at its hand', choices=('none', 'robotiq'))
    gripper_speed: float = parameter(1.0, "Share of the gripper's speed", lower=0.0, upper=1.0)
    gripper_force: float = parameter(0.2, "Share of the gripper's force", lower=0.0, upper=1.0)


class UrRtdeDriver(LibraryDriver):
    """One arm of Universal Robots, by RTDE.

    Args:
        context: Robot and options.

    Raises:
        CobaltError: An option is wrong, or the library is not there.
    """

    def __init__(self, context: DriverContext) -> None:
        options = read_options(NAME, UrRtdeOptions, context.options)
        if not options.host:
            raise CobaltError(f"the driver {NAME} needs the arm's address: driver_options:=host=192.168.0.10")
        if len(context.robot.joints) != JOINTS:
            raise CobaltError(f'the driver {NAME} moves {JOINTS} joints; {context.robot.name} has another number')
        require(NAME, 'rtde_control', REQUIREMENT)
        super().__init__(
            'cobalt_devices.drivers.ur_rtde_process',
            asdict(options) | {'take_control': not context.shadow},
            DriverCapabilities(title=options.title, rate_hz=options.rate_hz),
            joints=JOINTS,
            ready_s=_READY_S,
        )
        self._host = options.host
        self._unstopped = ''

    def connect(self) -> None:
        """Connects, and starts the library's control program on the arm, which moves nothing.

        Raises:
            DriverError: The arm cannot be reached or refuses.
        """
        self._unstopped = ''
        super().connect()

    def read(self) -> DriverState:
        """Returns the newest measurement.

        Raises:
            DriverError: The arm has been lost, or did not answer to `stop`.
        """
        if self._unstopped:
            raise DriverError(self._unstopped)
        return super().read()

    def stop(self) -> None:
        """Ends the program on the arm through its dashboard, whatever the library is doing; the arm brakes to a stop.

        If the dashboard does not answer, `read` says so.
        """
        self._stopped = True
        try:
            ask_dashboard(self._host, 'stop', 'Stopped')
        except CobaltError as error:
            self._unstopped = f'{error}; use the emergency stop at the robot'
