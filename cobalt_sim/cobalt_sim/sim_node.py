"""`sim_node`: a host of simulated workcells."""

import sys

from rclpy.node import Node

from cobalt_sim.mujoco_plant import MujocoPlant
from cobalt_sim.render_profile import load_profile
from cobalt_sim.scene import camera_models
from cobalt_sim.sim_parameters import SimParameters
from cobalt_sim.sim_processes import SimProcesses
from cobalt_sim.sim_world import SimWorld
from cobalt_sim.tasks import load_task
from cobalt_teleop.kinematics.arm_set import load_arms
from cobalt_teleop.ros.parameters import read_parameters
from cobalt_teleop.ros.process import Stop, run_node
from cobalt_teleop.workcell_host.host_node import HostNode, HostOptions

_SUMMARY = 'Simulates workcells, each an arm at a table, and hosts them: commands in, states and video out.'


class SimNode(HostNode):
    """The host of simulated workcells. Its name is the host's id: `sim`."""

    def __init__(self, stop: Stop) -> None:
        super().__init__('sim')
        parameters = read_parameters(self, SimParameters)
        arms = load_arms(parameters.robot)
        world = SimWorld(
            arms,
            load_task(parameters.task),
            camera_models(
                arms,
                parameters.cameras,
                width=parameters.width,
                height=parameters.height,
                rate_hz=parameters.camera_rate_hz,
            ),
            load_profile(parameters.profile, shadows=parameters.shadows != 'off'),
            tick_s=1.0 / parameters.control_rate_hz,
            domain=parameters.domain(),
        )
        plants = {
            f'{parameters.workcell_prefix}{parameters.first_env + index}': MujocoPlant(
                world, seed=parameters.seed + index
            )
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


def _build(stop: Stop) -> Node:
    reader = Node('sim', enable_rosout=False, start_parameter_services=False)
    try:
        processes = read_parameters(reader, SimParameters).processes
    finally:
        reader.destroy_node()
    return SimNode(stop) if processes == 1 else SimProcesses(stop)


def main() -> int:
    """Entry point of `sim_node`."""
    return run_node('sim_node', _SUMMARY, SimParameters, _build)


if __name__ == '__main__':
    sys.exit(main())
