from collections.abc import Callable, Iterator, Sequence

import pytest
from sim_cameras import camera

from cobalt_sim.mujoco_plant import MujocoPlant
from cobalt_sim.render_profile import load_profile
from cobalt_sim.sim_world import SimWorld
from cobalt_sim.tasks import load_task
from cobalt_teleop.kinematics.robot_description import RobotDescription, load_robot


@pytest.fixture(scope='session')
def robot() -> RobotDescription:
    return load_robot('franka_panda')


@pytest.fixture(scope='session')
def world(robot: RobotDescription) -> SimWorld:
    """A world without pictures."""
    return SimWorld(robot, load_task('lift'), [], load_profile('fast'))


@pytest.fixture
def make_plants(world: SimWorld) -> Callable[[Sequence[int]], list[MujocoPlant]]:
    return lambda seeds: [MujocoPlant(world, seed) for seed in seeds]


@pytest.fixture(scope='session')
def seen_world(robot: RobotDescription) -> Iterator[SimWorld]:
    """A world with both cameras."""
    world = SimWorld(robot, load_task('lift'), [camera(robot, 'front'), camera(robot, 'wrist')], load_profile('fast'))
    yield world
    world.close_thread()
