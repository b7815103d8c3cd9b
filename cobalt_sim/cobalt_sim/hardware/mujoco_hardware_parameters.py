"""What mujoco_hardware can be told."""

from dataclasses import dataclass

from cobalt_sim.tasks import TASKS
from cobalt_teleop.core.parameter_table import ParameterError, parameter


@dataclass(frozen=True, kw_only=True)
class MujocoHardwareParameters:
    """Parameters of mujoco_hardware."""

    robot: str = parameter('franka_panda', 'Arm: a name in robots/, or the path of a robot.yaml')
    task: str = parameter('lift', 'What stands on the table', choices=tuple(TASKS))
    seed: int = parameter(0, 'Seed of the start state', lower=0, upper=2**31 - 1)
    state_rate_hz: float = parameter(250.0, 'Joint states a second [Hz]', lower=10.0, upper=500.0)
    latency_ms: float = parameter(2.0, 'A command takes effect after [ms]', lower=0.0, upper=500.0)
    noise_rad: float = parameter(0.0, 'Standard deviation of measured joints [rad]', lower=0.0, upper=0.1)
    encoder_offset_rad: float = parameter(0.0, 'Added to each measured joint [rad]', lower=-0.5, upper=0.5)
    largest_jump_rad: float = parameter(
        0.3, 'A command further than this from the joints is a protective stop [rad]', lower=0.01, upper=10.0
    )
    workcell: str = parameter('lab', 'Namespace of its cameras and of the poses of its objects')
    cameras: tuple[str, ...] = parameter(('front', 'wrist'), 'Cameras; empty for none')
    width: int = parameter(320, 'Width of the pictures, even [px]', lower=32, upper=1920)
    height: int = parameter(240, 'Height of the pictures, even [px]', lower=32, upper=1080)
    camera_rate_hz: float = parameter(20.0, 'Pictures a second [Hz]', lower=0.5, upper=60.0)

    def __post_init__(self) -> None:
        if self.width % 2 or self.height % 2:
            raise ParameterError(f'pictures are {self.width} x {self.height}, but video needs even numbers')
