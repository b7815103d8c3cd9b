import threading

import mujoco
import numpy as np
import pytest
from sim_cameras import camera

from cobalt_sim import render_backend
from cobalt_sim.mujoco_plant import MujocoPlant
from cobalt_sim.render_profile import load_profile
from cobalt_sim.sim_world import SimWorld
from cobalt_sim.tasks import load_task
from cobalt_sim.tasks.lift import CUBE
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.pose import rotate


def test_pictures_of_workcells_differ_and_are_repeatable(seen_world):
    plants = [MujocoPlant(seen_world, seed) for seed in (1, 2)]
    for name in ('front', 'wrist'):
        first, second = (plant.capture(name) for plant in plants)
        assert first.shape == (120, 160, 3)
        assert first.dtype == np.uint8
        assert (first != second).any()
        assert np.array_equal(first, plants[0].capture(name))


def test_threads_draw_at_once_each_with_its_own_context_for_life(seen_world):
    plants = [MujocoPlant(seen_world, seed) for seed in range(6)]
    expected = [plant.capture('front') for plant in plants]
    barrier = threading.Barrier(3)
    wrong, contexts = [], set()

    def work(shift):
        barrier.wait()
        for turn in range(20):
            index = (turn + shift) % len(plants)
            # A software rasteriser may split edges otherwise by thread; a wrong picture differs by far more.
            if np.mean(plants[index].capture('front') != expected[index]) > 0.001:
                wrong.append(index)
        contexts.add(id(seen_world._renderer._threads.context))
        seen_world.close_thread()

    threads = [threading.Thread(target=work, args=(shift,)) for shift in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    assert wrong == []
    assert len(contexts) == 3


def test_many_short_threads_leave_nothing_behind(seen_world):
    plant = MujocoPlant(seen_world, 1)

    def work():
        plant.capture('wrist')
        seen_world.close_thread()

    for _ in range(5):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join(20)
        assert not thread.is_alive()
    assert plant.capture('wrist').any()


def test_drawing_does_not_change_the_state(seen_world):
    plant = MujocoPlant(seen_world, 1)
    before = plant.data.qpos.copy(), plant.data.qvel.copy(), plant.data.time
    plant.capture('front')
    assert np.array_equal(plant.data.qpos, before[0])
    assert np.array_equal(plant.data.qvel, before[1])
    assert plant.data.time == before[2]


def test_the_cube_is_seen_where_the_camera_model_says(robot):
    model = camera(robot, 'front', 320, 240)
    world = SimWorld(robot, load_task('lift'), [model], load_profile('fast'))
    eye = world.model.camera('front')
    for seed in range(4):
        plant = MujocoPlant(world, seed)
        picture = plant.capture('front').astype(int)
        blue = (
            (picture[..., 2] > 90)
            & (picture[..., 2] > 1.8 * picture[..., 0])
            & (picture[..., 2] > 1.5 * picture[..., 1])
        )
        rows, columns = np.nonzero(blue)
        # Camera axes: x right, y up, looking along -z.
        axes = np.roll(eye.quat, -1)
        place = rotate(axes * np.array([-1, -1, -1, 1]), plant.observe().objects[CUBE].position - eye.pos)
        u = 160 + model.focal_px * place[0] / -place[2]
        v = 120 - model.focal_px * place[1] / -place[2]
        assert len(rows) > 20
        assert columns.mean() == pytest.approx(u, abs=3)
        assert rows.mean() == pytest.approx(v, abs=4)
    world.close_thread()


def test_the_nice_profile_draws_shadows(robot, seen_world):
    world = SimWorld(robot, load_task('lift'), [camera(robot, 'front')], load_profile('nice'))
    assert world.model.vis.quality.offsamples == 4
    nice = MujocoPlant(world, 1).capture('front')
    fast = MujocoPlant(seen_world, 1).capture('front')
    assert np.abs(nice.astype(int) - fast.astype(int)).mean() > 1.0
    world.close_thread()


def test_a_size_above_the_buffer_is_drawn_in_full(seen_world):
    plant = MujocoPlant(seen_world, 1)
    large = seen_world.draw(plant.data, 'front', (400, 300))
    assert large.shape == (300, 400, 3)
    assert large[0].any()
    assert large[-1].any()
    assert large[:, -1].any()


def test_an_unknown_camera_or_profile_is_refused_in_words(robot):
    with pytest.raises(CobaltError, match="no rendering profile 'ugly'; known are fast, nice"):
        load_profile('ugly')
    side = camera(robot, 'front')
    side = type(side)(name='side', width=32, height=32, rate_hz=20.0, focal_px=1.0)
    with pytest.raises(CobaltError, match="no camera 'side'; the scene has front, wrist"):
        SimWorld(robot, load_task('lift'), [side], load_profile('fast'))


def test_a_broken_back_end_gives_way_to_the_next(monkeypatch):
    monkeypatch.delenv('MUJOCO_GL', raising=False)
    monkeypatch.setattr(render_backend, '_trial', lambda backend: 'hangs' if backend == 'egl' else None)
    assert render_backend.find_backend() == 'osmesa'


def test_without_any_back_end_the_message_has_the_line_to_type(monkeypatch):
    monkeypatch.delenv('MUJOCO_GL', raising=False)
    monkeypatch.setattr(render_backend, '_trial', lambda backend: 'no library')
    with pytest.raises(
        CobaltError, match='sudo apt-get install libegl1 libgl1-mesa-dri or sudo apt-get install libosmesa6'
    ):
        render_backend.find_backend()


def test_the_trial_ends_a_driver_that_hangs(monkeypatch, tmp_path):
    (tmp_path / 'cobalt_sim').mkdir()
    (tmp_path / 'cobalt_sim' / '__init__.py').touch()
    (tmp_path / 'cobalt_sim' / 'render_backend.py').write_text('import time\ntime.sleep(60)\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(render_backend, '_TRIAL_LIMIT_S', 1.0)
    assert 'within 1 s' in render_backend._trial('egl')


def test_a_wrong_mujoco_gl_is_refused_in_words(monkeypatch):
    monkeypatch.setenv('MUJOCO_GL', 'glfw')
    with pytest.raises(CobaltError, match="MUJOCO_GL is 'glfw', but must be one of egl, osmesa"):
        render_backend.find_backend()


def test_a_picture_may_be_asked_for_in_another_size(seen_world):
    plant = MujocoPlant(seen_world, 1)
    full = plant.capture('front').astype(int)
    small = plant.capture('front', (80, 60)).astype(int)
    assert small.shape == (60, 80, 3)
    shrunk = full.reshape(60, 2, 80, 2, 3).mean(axis=(1, 3))
    assert np.abs(small - shrunk).mean() < 6, 'the same view'
    assert np.array_equal(plant.capture('front'), full)


def test_depth_is_the_way_along_the_axis_of_the_camera(seen_world):
    plant = MujocoPlant(seen_world, 1)
    model, data = seen_world.model, plant.data
    camera = model.camera('front').id
    place, axes = data.cam_xpos[camera], data.cam_xmat[camera].reshape(3, 3)
    depth = plant.capture_depth('front')
    height, width = depth.shape
    focal_px = seen_world.cameras['front'].focal_px
    shown = np.array([1, 1, 1, 0, 1, 1], dtype=np.uint8)
    for row, column in ((height // 2, width // 2), (height - 20, 30), (height // 2, width - 40)):
        way = axes @ np.array([(column + 0.5 - width / 2) / focal_px, -(row + 0.5 - height / 2) / focal_px, -1.0])
        length = np.linalg.norm(way)
        hit = mujoco.mj_ray(model, data, place, way / length, shown, 1, -1, np.zeros(1, dtype=np.int32))
        assert depth[row, column] == pytest.approx(hit / length, abs=0.01)


def test_each_pixel_tells_which_body_it_shows(seen_world):
    plant = MujocoPlant(seen_world, 1)
    before = plant.capture('front').copy()
    bodies, names = plant.capture_bodies('front'), seen_world.body_names
    model, data = seen_world.model, plant.data
    camera = model.camera('front').id
    inside = data.cam_xmat[camera].reshape(3, 3).T @ (data.body(CUBE).xpos - data.cam_xpos[camera])
    focal_px = seen_world.cameras['front'].focal_px
    column = int(bodies.shape[1] / 2 + focal_px * inside[0] / -inside[2])
    row = int(bodies.shape[0] / 2 - focal_px * inside[1] / -inside[2])
    assert names[bodies[row, column]] == CUBE
    assert bodies[0, 0] == 0 and 3 < len(np.unique(bodies)) < len(names)
    assert (plant.capture('front') == before).all(), 'what is drawn after it is drawn as before'
