"""Pictures that are put together of what moves and what does not are those that are drawn whole."""

import numpy as np
import pytest
from sim_cameras import camera

from cobalt_sim import render_context
from cobalt_sim.in_process import run_expert
from cobalt_sim.mujoco_plant import MujocoPlant
from cobalt_sim.render_profile import load_profile
from cobalt_sim.sim_world import SimWorld
from cobalt_sim.tasks import load_task
from cobalt_sim.tasks.lift import CUBE


def seen(robot, task):
    world = SimWorld(robot, load_task(task), [camera(robot, 'front', 320, 240)], load_profile('fast'))
    MujocoPlant(world).capture('front')
    return world


@pytest.mark.parametrize('task', ['lift', 'stack', 'mug_cleanup', 'reach_pose', 'beam'])
def test_a_whole_episode_looks_the_same(robot, task, monkeypatch):
    put_together = seen(robot, task)
    monkeypatch.setattr(render_context, '_is_opaque', lambda model: False)
    whole = seen(robot, task)
    differences = []

    def compare(guarded):
        data = guarded.plant.data
        if round(data.time / 0.05) % 4 == 0:
            pictures = [world.draw(data, 'front').astype(int) for world in (put_together, whole)]
            differences.append(np.abs(pictures[0] - pictures[1]).max(axis=2))

    assert run_expert(MujocoPlant(put_together, 1), seed=3, after_tick=compare) is not None
    assert len(differences) > 5
    assert max((difference > 4).sum() for difference in differences) <= 16, 'pixels that differ by more grey levels'
    for world in (put_together, whole):
        world.close_thread()


def test_what_lets_light_through_is_drawn_with_all_else(robot, seen_world):
    assert render_context._is_opaque(seen_world.model)
    material = seen_world.model.geom_matid[seen_world.model.body(CUBE).geomadr[0]]
    before = seen_world.model.mat_rgba[material, 3]
    try:
        seen_world.model.mat_rgba[material, 3] = 0.5
        assert not render_context._is_opaque(seen_world.model)
    finally:
        seen_world.model.mat_rgba[material, 3] = before


def test_backgrounds_are_kept_for_a_few_sizes_alone(seen_world):
    plant = MujocoPlant(seen_world, 1)
    sizes = [(160 - 16 * step, 120 - 12 * step) for step in range(5)]
    first = [plant.capture('front', size) for size in sizes]
    assert all(
        np.array_equal(picture, plant.capture('front', size)) for picture, size in zip(first, sizes, strict=True)
    )
    context = seen_world._renderer._threads.context
    for width in range(40, 60):
        plant.capture('front', (width, 30))
    assert len(context._backgrounds) <= render_context._MAX_BACKGROUNDS
