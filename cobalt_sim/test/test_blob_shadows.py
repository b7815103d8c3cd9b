import mujoco
import numpy as np
import pytest
from sim_cameras import camera

from cobalt_sim.blob_shadows import _outline
from cobalt_sim.mujoco_plant import MujocoPlant
from cobalt_sim.render_profile import load_profile
from cobalt_sim.sim_world import SimWorld
from cobalt_sim.tasks import load_task
from cobalt_sim.tasks.lift import CUBE, HALF_EDGE


@pytest.fixture(scope='module')
def plain_world(robot):
    world = SimWorld(robot, load_task('lift'), [camera(robot, 'front')], load_profile('fast', shadows=False))
    yield world
    world.close_thread()


def _darkened(world, plain_world, place):
    """Returns by how much the shadows darken the front picture [grey levels], with the cube somewhere."""
    pictures = []
    for each in (world, plain_world):
        plant = MujocoPlant(each, 1)
        at = each.indices.object_qpos[CUBE]
        plant.data.qpos[at : at + 3] = place
        mujoco.mj_forward(each.model, plant.data)
        pictures.append(plant.capture('front').astype(int).mean(axis=2))
    return pictures[1] - pictures[0]


def test_shadows_darken_alone_and_only_a_part(seen_world, plain_world):
    darker = _darkened(seen_world, plain_world, [0.55, 0.15, HALF_EDGE])
    assert darker.min() >= 0
    assert 20 < (darker > 10).sum() < 0.1 * darker.size


def test_a_lifted_cube_has_a_paler_shadow(seen_world, plain_world):
    low, high = (_darkened(seen_world, plain_world, [0.60, 0.20, height]).max() for height in (0.05, 0.35))
    assert low > high + 10


def test_nothing_beyond_the_table_has_a_shadow(seen_world, plain_world):
    gone = _darkened(seen_world, plain_world, [3.0, 0.0, HALF_EDGE])
    also_gone = _darkened(seen_world, plain_world, [0.6, 0.2, -0.5])
    assert np.array_equal(gone, also_gone)
    assert (gone > 10).any(), 'the hand keeps its shadow'


def test_the_outline_of_a_box_follows_its_turn():
    half = [0.03, 0.02, 0.01]
    below, direction, sizes = _outline(list(np.eye(3).ravel()), half)
    assert below == pytest.approx(0.01)
    assert abs(direction[0]) == pytest.approx(1.0)
    assert sizes == pytest.approx((0.03, 0.02))
    turned = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    _, direction, sizes = _outline(list(turned.ravel()), half)
    assert abs(direction[1]) == pytest.approx(1.0)
    assert sizes == pytest.approx((0.03, 0.02))
    on_end = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    below, _, sizes = _outline(list(on_end.ravel()), half)
    assert below == pytest.approx(0.03)
    assert sorted(sizes) == pytest.approx([0.01, 0.02])
