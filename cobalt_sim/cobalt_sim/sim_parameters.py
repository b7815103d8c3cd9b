"""What sim_node can be told."""

from dataclasses import dataclass

from cobalt_sim.domain import DomainSpread
from cobalt_sim.render_profile import PROFILES
from cobalt_sim.tasks import TASKS
from cobalt_teleop.core.parameter_table import ParameterError, parameter
from cobalt_teleop.workcell_host.host_parameters import HostParameters


@dataclass(frozen=True, kw_only=True)
class SimParameters(HostParameters):
    """Parameters of sim_node."""

    num_envs: int = parameter(1, 'Number of workcells', lower=1, upper=64)
    processes: int = parameter(1, 'Processes among which they are shared out', lower=1, upper=64)
    first_env: int = parameter(0, 'Number of the first workcell', lower=0, upper=100000)
    gpus: tuple[str, ...] = parameter(
        (), 'Numbers of the GPUs that the processes draw on, in turn; empty for the first'
    )
    task: str = parameter('lift', 'What is to be done', choices=tuple(TASKS))
    robot: str = parameter('franka_panda', 'Arm or arms: a name in robots/, or the path of a robot.yaml or arms.yaml')
    cameras: tuple[str, ...] = parameter(('front', 'wrist'), 'Cameras of each workcell; empty for none')
    width: int = parameter(320, 'Width of the pictures, even [px]', lower=32, upper=1920)
    height: int = parameter(240, 'Height of the pictures, even [px]', lower=32, upper=1080)
    camera_rate_hz: float = parameter(20.0, 'Pictures a second of each camera, at most [Hz]', lower=0.5, upper=60.0)
    kbit_s: int = parameter(2000, "Upper bound of each camera's bit rate [kbit/s]", lower=100, upper=50000)
    profile: str = parameter('fast', 'Pictures: fast for a CPU, nice for a GPU', choices=tuple(PROFILES))
    shadows: str = parameter(
        'blob',
        'Below fingertips and objects: blob (the profile nice casts true ones instead), off',
        choices=('blob', 'off'),
    )
    render_threads: int = parameter(0, 'Threads that simulate and render; 0 for one a core', lower=0, upper=64)
    seed: int = parameter(0, 'Seed of the first start states; the next workcell has the next', lower=0, upper=2**31 - 1)
    workcell_prefix: str = parameter('env_', 'Names of the workcells are this and a number')
    randomise_lights: float = parameter(
        0.0, 'From episode to episode lights differ by so much of their brightness and direction', lower=0.0, upper=1.0
    )
    randomise_colours: float = parameter(0.0, 'Colours differ by so much of each', lower=0.0, upper=1.0)
    randomise_camera_mm: float = parameter(0.0, 'Cameras are moved by up to so much [mm]', lower=0.0, upper=200.0)
    randomise_camera_deg: float = parameter(0.0, 'And turned by up to so much [deg]', lower=0.0, upper=45.0)
    randomise_friction: float = parameter(0.0, 'Friction differs by so much of its own', lower=0.0, upper=0.9)
    randomise_mass: float = parameter(0.0, "Objects' masses differ by so much of their own", lower=0.0, upper=0.9)
    goal_picture: str = parameter('', "File, JPEG or PNG, shown as the goal; empty for one drawn of the task's end")
    draw_frame_code: bool = parameter(False, "Draw each picture's stamp into it, for measurements of latency")

    def __post_init__(self) -> None:
        if self.width % 2 or self.height % 2:
            raise ParameterError(f'pictures are {self.width} x {self.height}, but video needs even numbers')
        if not all(gpu.isdecimal() for gpu in self.gpus):
            raise ParameterError(f'gpus are {", ".join(self.gpus)}, but must be numbers such as 0')

    def domain(self) -> DomainSpread:
        """Returns how much differs from episode to episode."""
        return DomainSpread(
            lights=self.randomise_lights,
            colours=self.randomise_colours,
            camera_mm=self.randomise_camera_mm,
            camera_deg=self.randomise_camera_deg,
            friction=self.randomise_friction,
            mass=self.randomise_mass,
        )
