"""`sim_node`: a host of simulated workcells."""

import sys
from dataclasses import dataclass

from cobalt_sim.mujoco_plant import PART, MujocoPlant
from cobalt_sim.render_profile import PROFILES, load_profile
from cobalt_sim.scene import camera_model, camera_names
from cobalt_sim.sim_world import SimWorld
from cobalt_sim.tasks import TASKS, load_task
from cobalt_teleop.core.clutch import MAX_FRAME_AGE_S
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.kinematics.robot_description import RobotDescription, load_robot
from cobalt_teleop.ros.parameters import parameter, read_parameters
from cobalt_teleop.ros.process import Stop, run_node
from cobalt_teleop.workcell_host.host_node import HostNode, HostOptions
from cobalt_teleop.workcell_host.plant import CameraModel
from cobalt_teleop.workcell_host.stop_button import StopButtonParameters

_SUMMARY = 'Simulates workcells, each an arm at a table, and hosts them: commands in, states and video out.'


@dataclass(frozen=True, kw_only=True)
class SimParameters(StopButtonParameters):
    """Parameters of sim_node."""

    num_envs: int = parameter(1, 'Number of workcells', lower=1, upper=64)
    task: str = parameter('lift', f'What is to be done: {", ".join(TASKS)}')
    robot: str = parameter('franka_panda', 'Arm: a name in robots/, or the path of a robot.yaml')
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
    control_rate_hz: float = parameter(20.0, 'Ticks of each workcell [Hz]', lower=5.0, upper=100.0)
    max_frame_age_s: float = parameter(
        MAX_FRAME_AGE_S,
        "Age of the picture on an operator's screen above which the arm holds [s]",
        lower=0.1,
        upper=10.0,
    )
    seed: int = parameter(0, 'Seed of the first start states; workcell i gets seed + i', lower=0, upper=2**31 - 1)
    workcell_prefix: str = parameter('env_', 'Names of the workcells are this and a number')
    goal_picture: str = parameter('', "File, JPEG or PNG, shown as the goal; empty for one drawn of the task's end")
    draw_frame_code: bool = parameter(False, "Draw each picture's stamp into it, for measurements of latency")


class SimNode(HostNode):
    """The host of simulated workcells. Its name is the host's id: `sim`."""

    def __init__(self, stop: Stop) -> None:
        super().__init__('sim')
        parameters = read_parameters(self, SimParameters)
        robot = load_robot(parameters.robot)
        world = SimWorld(
            robot,
            load_task(parameters.task),
            _cameras(parameters, robot),
            load_profile(parameters.profile, shadows=parameters.shadows != 'off'),
            tick_s=1.0 / parameters.control_rate_hz,
        )
        plants = {
            f'{parameters.workcell_prefix}{index}': MujocoPlant(world, seed=parameters.seed + index)
            for index in range(parameters.num_envs)
        }
        self.hear_stop_button(parameters)
        self.host(
            plants,
            HostOptions(
                control_rate_hz=parameters.control_rate_hz,
                render_threads=parameters.render_threads,
                kbit_s=parameters.kbit_s,
                max_frame_age_s=parameters.max_frame_age_s,
                draw_frame_code=parameters.draw_frame_code,
                goal_picture=parameters.goal_picture,
                on_thread_end=world.close_thread,
            ),
        )


def _cameras(parameters: SimParameters, robot: RobotDescription) -> tuple[CameraModel, ...]:
    if parameters.width % 2 or parameters.height % 2:
        raise CobaltError(f'pictures are {parameters.width} x {parameters.height}, but video needs even numbers')
    for name in parameters.cameras:
        if name not in camera_names(robot):
            raise CobaltError(f"there is no camera '{name}'; this scene has {', '.join(camera_names(robot))}")
    return tuple(
        camera_model(
            robot, PART, name, width=parameters.width, height=parameters.height, rate_hz=parameters.camera_rate_hz
        )
        for name in dict.fromkeys(parameters.cameras)
    )


def main() -> int:
    """Entry point of `sim_node`."""
    return run_node('sim_node', _SUMMARY, SimParameters, SimNode)


if __name__ == '__main__':
    sys.exit(main())
