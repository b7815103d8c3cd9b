"""The driver `so101`: the SO-101 and other arms of Feetech STS3215 bus servos, with the library feetech-servo-sdk.

The library runs in a process of its own (so101_process.py), as it waits for the bus by spinning.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from cobalt_devices.arm_driver.driver import DriverCapabilities, DriverContext
from cobalt_devices.arm_driver.driver_options import read_options
from cobalt_devices.drivers.library_driver import LibraryDriver
from cobalt_devices.drivers.so101_process import MODULE, NAME, REQUIREMENT, TICKS
from cobalt_devices.drivers.vendor_library import require
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.parameter_table import parameter

_READY_S = 10.0
_LAST_ID = 252


@dataclass(frozen=True, kw_only=True)
class So101Options:
    """Options of the driver, in robot.yaml below `drivers: so101:`."""

    port: str = parameter('/dev/ttyACM0', "Serial port of the arm's board")
    title: str = parameter('SO-101', 'Name of the arm, for people')
    rate_hz: float = parameter(100.0, 'Set points a second [Hz]', lower=20.0, upper=200.0)
    ids: tuple[str, ...] = parameter((), 'Numbers of the servos in the order of the joints; empty for 1, 2, 3 ...')
    zeros: tuple[str, ...] = parameter((), 'Position of each servo at which its joint is at 0 [ticks]; empty for 2048')
    directions: tuple[str, ...] = parameter((), '1, or -1 where the servo counts against the joint; empty for 1')
    gripper_id: int = parameter(6, 'Number of the servo of the gripper; 0 for none', lower=0, upper=_LAST_ID)
    gripper_closed: int = parameter(2048, 'Position of that servo when it is closed [ticks]', lower=0, upper=TICKS - 1)
    gripper_open: int = parameter(3072, 'Likewise when it is open [ticks]', lower=0, upper=TICKS - 1)
    torque_limit: float = parameter(1.0, 'Share of the full torque that the servos may use', lower=0.05, upper=1.0)
    stall_torque: float = parameter(
        0.0, 'Torque of a servo at full load, to reckon efforts with; 0 to tell none [Nm]', lower=0.0, upper=20.0
    )


class So101Driver(LibraryDriver):
    """One arm of Feetech bus servos, such as the SO-101.

    Args:
        context: Robot and options.

    Raises:
        CobaltError: An option is wrong, or the library is not there.
    """

    def __init__(self, context: DriverContext) -> None:
        options = read_options(NAME, So101Options, context.options)
        joints = context.robot.joints
        ids = _whole_numbers('ids', options.ids, range(1, len(joints) + 1), range(1, _LAST_ID + 1))
        zeros = _whole_numbers('zeros', options.zeros, [TICKS // 2] * len(joints), range(TICKS))
        directions = _whole_numbers('directions', options.directions, [1] * len(joints), (-1, 1))
        if not len(ids) == len(zeros) == len(directions) == len(joints):
            raise CobaltError(
                f'the driver {NAME} needs a number for each of the {len(joints)} joints in ids, zeros and directions'
            )
        if len({*ids, options.gripper_id}) != len(joints) + 1:
            raise CobaltError(f'the driver {NAME} has a servo twice: ids {ids}, gripper_id {options.gripper_id}')
        if options.gripper_open == options.gripper_closed:
            raise CobaltError(f'the driver {NAME} has gripper_open = gripper_closed = {options.gripper_open}')
        require(NAME, MODULE, REQUIREMENT)
        numbers = {
            'take_control': not context.shadow,
            'ids': ids,
            'zeros': zeros,
            'directions': directions,
            'joints': joints,
        }
        super().__init__(
            'cobalt_devices.drivers.so101_process',
            asdict(options) | numbers,
            DriverCapabilities(title=options.title, rate_hz=options.rate_hz),
            joints=len(joints),
            ready_s=_READY_S,
        )


def _whole_numbers(name: str, texts: tuple[str, ...], usual: Sequence[int], valid: Sequence[int]) -> list[int]:
    try:
        numbers = [int(text) for text in texts] or list(usual)
    except ValueError as error:
        raise CobaltError(f'the driver {NAME} has {name} = {", ".join(texts)}, but needs whole numbers') from error
    for number in numbers:
        if number not in valid:
            raise CobaltError(f'the driver {NAME} has {number} in {name}, but it must be in {valid[0]} to {valid[-1]}')
    return numbers
