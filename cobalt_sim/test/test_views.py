"""What the operator needs to see is in the pictures of the cameras."""

import itertools

import mujoco
import numpy as np
import pytest

from cobalt_sim.in_process import run_expert
from cobalt_sim.scene import FRONT, WRIST

_ASPECT = 4 / 3


def _seen_at(plant, name, point):
    """Returns where a point is in a picture: -1 to 1 from left to right, and from bottom to top."""
    model, data = plant._world.model, plant.data
    index = model.camera(name).id
    x, y, z = data.cam_xmat[index].reshape(3, 3).T @ (np.asarray(point) - data.cam_xpos[index])
    assert z < 0, f'{point} is behind the camera {name}'
    scale = 1.0 / np.tan(np.deg2rad(model.cam_fovy[index]) / 2.0)
    return np.array([scale * x / -z / _ASPECT, scale * y / -z])


def _tool(plant):
    return plant.data.site_xpos[plant._world.indices.arms['arm'].tool_site]


def _first_on_ray(plant, name, point):
    """Returns the body that a ray from the camera to a point meets first before the point; None if the way is free."""
    model, data = plant._world.model, plant.data
    eye = data.cam_xpos[model.camera(name).id]
    way = point - eye
    geom = np.array([-1], np.int32)
    groups = np.array([1, 1, 1, 0, 0, 0], np.uint8)
    share = mujoco.mj_ray(model, data, eye, way, groups, 1, -1, geom)
    return model.body(model.geom_bodyid[geom[0]]).name if 0.0 <= share < 0.98 else None


def test_the_front_camera_sees_the_whole_workspace(world, make_plants):
    (plant,) = make_plants([0])
    limits = plant.capabilities.parts[0].limits
    for corner in itertools.product(*zip(limits.workspace_min, limits.workspace_max, strict=True)):
        assert (np.abs(_seen_at(plant, FRONT, corner)) < 0.97).all()


def test_the_front_camera_looks_nearly_against_the_base_frame_so_that_keys_and_picture_agree(make_plants):
    (plant,) = make_plants([0])
    back = plant.data.cam_xmat[plant._world.model.camera(FRONT).id].reshape(3, 3)[:, 2]
    assert abs(np.degrees(np.arctan2(back[1], back[0]))) < 11.0
    here = np.array([0.47, 0.0, 0.1])
    at = _seen_at(plant, FRONT, here)
    left, away, up = (_seen_at(plant, FRONT, here + step) - at for step in ([0, -0.1, 0], [-0.1, 0, 0], [0, 0, 0.1]))
    assert left[0] < -2 * abs(left[1])
    assert away[1] > 2 * abs(away[0])
    assert up[1] > 2 * abs(up[0])


def test_the_hand_at_home_is_apart_from_the_base_in_the_front_picture(make_plants):
    (plant,) = make_plants([0])
    tool = _seen_at(plant, FRONT, _tool(plant))
    foot = [_seen_at(plant, FRONT, corner) for corner in itertools.product((-0.17, 0.09), (-0.11, 0.11), (0.0, 0.14))]
    lowest, leftmost = np.min(foot, axis=0)[1], np.min(foot, axis=0)[0]
    assert tool[1] < lowest - 0.05 or tool[0] < leftmost - 0.05


@pytest.mark.parametrize('seed', [1, 3, 5])
def test_the_wrist_camera_sees_the_place_between_the_fingertips_all_the_way_down(make_plants, seed):
    (plant,) = make_plants([seed])
    looked = set()

    def look(guarded):
        data = plant.data
        assert (np.abs(_seen_at(plant, WRIST, _tool(plant))) < 0.5).all()
        first = _first_on_ray(plant, WRIST, _tool(plant))
        assert first in (None, 'cube')
        looked.add(first)
        for tip in plant._world.indices.arms['arm'].fingertips:
            assert (np.abs(_seen_at(plant, WRIST, data.xpos[tip])) < 0.8).all()

    assert run_expert(plant, seed, after_tick=look) is not None
    assert looked == {None, 'cube'}


def test_left_in_the_wrist_picture_is_left_in_the_front_picture(make_plants):
    (plant,) = make_plants([0])
    tool = _tool(plant)
    for name in (FRONT, WRIST):
        assert _seen_at(plant, name, tool - np.array([0.0, 0.03, 0.0]))[0] < _seen_at(plant, name, tool)[0] - 0.02
