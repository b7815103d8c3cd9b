"""The driver `xarm`: UFACTORY's xArm 5, 6, 7, 850 and Lite 6, in servo mode, with the library xArm-Python-SDK.

The library runs in a process of its own (xarm_process.py), as it has threads of its own and waits for a lost arm.
"""

from dataclasses import asdict, dataclass

from cobalt_devices.arm_driver.driver import DriverCapabilities, DriverContext
from cobalt_devices.arm_driver.driver_options import read_options
from cobalt_devices.drivers.library_driver import LibraryDriver
from cobalt_devices.drivers.vendor_library import require
from cobalt_devices.drivers.xarm_process import MODULE, NAME, REQUIREMENT
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.parameter_table import parameter

_READY_S = 20.0


@dataclass(frozen=True, kw_only=True)
class XArmOptions:
    """Options of the driver, in robot.yaml below `drivers: xarm:`."""

    host: str = parameter('', "Address of the arm's control box, as numbers")
    title: str = parameter('UFACTORY arm in servo mode', 'Name of the arm, for people')
    rate_hz: float = parameter(100.0, 'Set points a second [Hz]', lower=50.0, upper=250.0)


class XArmDriver(LibraryDriver):
    """One arm of UFACTORY.

    Args:
        context: Robot and options.

    Raises:
        CobaltError: An option is wrong, or the library is not there.
    """

    def __init__(self, context: DriverContext) -> None:
        options = read_options(NAME, XArmOptions, context.options)
        if not options.host:
            raise CobaltError(f"the driver {NAME} needs the arm's address: driver_options:=host=192.168.1.200")
        require(NAME, MODULE, REQUIREMENT)
        joints = len(context.robot.joints)
        super().__init__(
            'cobalt_devices.drivers.xarm_process',
            asdict(options) | {'joints': joints, 'take_control': not context.shadow},
            DriverCapabilities(title=options.title, rate_hz=options.rate_hz),
            joints=joints,
            ready_s=_READY_S,
        )
