"""The driver `franka`: a Franka arm by its control interface (FCI), with the library franky (libfranka).

Set points go to an impedance controller of the library, at 1 kHz in a process of its own (franka_process.py).
"""

from dataclasses import asdict, dataclass

from cobalt_devices.arm_driver.driver import DriverCapabilities, DriverContext
from cobalt_devices.arm_driver.driver_options import read_options
from cobalt_devices.drivers.franka_process import JOINTS, MODULE, NAME, REQUIREMENT
from cobalt_devices.drivers.library_driver import LibraryDriver
from cobalt_devices.drivers.vendor_library import require
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.parameter_table import parameter

_READY_S = 20.0


@dataclass(frozen=True, kw_only=True)
class FrankaOptions:
    """Options of the driver, in robot.yaml below `drivers: franka:`."""

    host: str = parameter('', "Address of the arm's controller, at the Control's port")
    title: str = parameter('Franka arm by FCI', 'Name of the arm, for people')
    rate_hz: float = parameter(250.0, 'Set points a second [Hz]', lower=50.0, upper=1000.0)
    realtime: bool = parameter(True, 'Insist on a kernel with real-time scheduling, as Franka asks for')
    stiffness: tuple[str, ...] = parameter(
        ('600', '600', '600', '600', '250', '150', '50'), 'Of each joint: higher follows closer [Nm/rad]'
    )
    damping: tuple[str, ...] = parameter(
        ('50', '50', '50', '50', '20', '12', '4'), 'Of each joint: lower is faster, and overshoots [Nm s/rad]'
    )
    collision_torque: float = parameter(
        20.0, 'External torque at a joint that stops the arm [Nm]', lower=1.0, upper=100.0
    )
    collision_force: float = parameter(
        30.0, 'External force at the hand that stops the arm [N]', lower=1.0, upper=100.0
    )
    gripper: str = parameter('none', 'What is at its hand', choices=('none', 'franka_hand'))
    gripper_speed: float = parameter(0.1, "Of the hand's fingers [m/s]", lower=0.01, upper=0.2)
    gripper_force: float = parameter(20.0, 'With which the hand closes [N]', lower=1.0, upper=70.0)


class FrankaDriver(LibraryDriver):
    """One Franka arm, by FCI.

    Args:
        context: Robot and options.

    Raises:
        CobaltError: An option is wrong, or the library is not there.
    """

    def __init__(self, context: DriverContext) -> None:
        options = read_options(NAME, FrankaOptions, context.options)
        if not options.host:
            raise CobaltError(f"the driver {NAME} needs the arm's address: driver_options:=host=172.16.0.2")
        if len(context.robot.joints) != JOINTS:
            raise CobaltError(f'the driver {NAME} moves {JOINTS} joints; {context.robot.name} has another number')
        gains = {
            'stiffness': _gains('stiffness', options.stiffness, 1000.0),
            'damping': _gains('damping', options.damping, 200.0),
        }
        require(NAME, MODULE, REQUIREMENT)
        super().__init__(
            'cobalt_devices.drivers.franka_process',
            asdict(options) | gains,
            DriverCapabilities(title=options.title, rate_hz=options.rate_hz),
            joints=JOINTS,
            ready_s=_READY_S,
        )


def _gains(name: str, texts: tuple[str, ...], upper: float) -> list[float]:
    try:
        values = [float(text) for text in texts]
    except ValueError as error:
        raise CobaltError(f'the driver {NAME} needs numbers in {name}: {error}') from error
    if len(values) != JOINTS or not all(0.0 < value <= upper for value in values):
        raise CobaltError(f'the driver {NAME} needs {JOINTS} numbers in {name}, above 0 and up to {upper:g}')
    return values
