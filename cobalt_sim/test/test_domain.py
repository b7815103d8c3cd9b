"""Domain randomisation: what differs from episode to episode, by how much, and that a seed brings the same again."""

import numpy as np
import pytest
from sim_cameras import camera

import cobalt_sim
from cobalt_sim.domain import DomainSpread, spread_of
from cobalt_sim.in_process import run_expert
from cobalt_sim.mujoco_plant import MujocoPlant
from cobalt_sim.render_profile import load_profile
from cobalt_sim.replay import replay, tick_of
from cobalt_sim.sim_world import SimWorld
from cobalt_sim.tasks import load_task
from cobalt_sim.tasks.lift import CUBE
from cobalt_teleop.core.errors import CobaltError

ALL = DomainSpread(lights=0.4, colours=0.3, camera_mm=20.0, camera_deg=2.0, friction=0.3, mass=0.5)


@pytest.fixture(scope='module')
def varied(robot):
    cameras = [camera(robot, 'front'), camera(robot, 'wrist')]
    world = SimWorld(robot, load_task('lift'), cameras, load_profile('fast'), domain=ALL)
    yield world
    world.close_thread()


def test_nothing_differs_unless_it_is_asked_for(world, seen_world, varied):
    assert MujocoPlant(world, 1).data.model is world.model
    plain = MujocoPlant(varied, 1, domain=DomainSpread())
    assert (plain.capture('front') == MujocoPlant(seen_world, 1).capture('front')).all()
    assert plain.capabilities.randomisation == ''


def test_a_seed_brings_the_same_again_and_another_one_something_else(varied):
    plants = [MujocoPlant(varied, seed) for seed in (1, 2)]
    first, other = (plant.capture('front').copy() for plant in plants)
    assert np.abs(first.astype(int) - other).mean() > 3.0
    plants[1].reset('lift', 1)
    assert (plants[1].capture('front') == first).all()
    assert (plants[1].capture('wrist') == plants[0].capture('wrist')).all()


def test_all_differs_within_what_was_said(varied):
    pristine, cube = varied.model, varied.model.body(CUBE).id
    drawn = {name: [] for name in ('mass', 'friction', 'camera', 'turn', 'light')}
    for seed in range(40):
        model = MujocoPlant(varied, seed).data.model
        changed = model.body_mass != pristine.body_mass
        assert list(np.flatnonzero(changed)) == [cube]
        drawn['mass'].append(model.body_mass[cube] / pristine.body_mass[cube])
        drawn['friction'].append(model.geom_friction[:, 0] / pristine.geom_friction[:, 0])
        drawn['camera'].append(np.abs(model.cam_pos - pristine.cam_pos).max())
        drawn['turn'].append(2.0 * np.arccos(min(1.0, abs(model.cam_quat[0] @ pristine.cam_quat[0]))))
        drawn['light'].append(model.light_diffuse.max(axis=1) / pristine.light_diffuse.max(axis=1))
        assert model.mat_rgba[:, 3] == pytest.approx(pristine.mat_rgba[:, 3])
        looks = model.geom_matid[model.body_geomadr[cube]]
        assert (model.mat_rgba[looks] == pristine.mat_rgba[looks]).all()
        assert (model.mat_rgba != pristine.mat_rgba).mean() > 0.5
    for name, spread in (('mass', 0.5), ('friction', 0.3), ('light', 0.4)):
        values = np.array(drawn[name])
        assert 1.0 - spread <= values.min() < 1.0 - 0.7 * spread < 1.0 + 0.7 * spread < values.max() <= 1.0 + spread
    assert 0.015 < max(drawn['camera']) <= 0.02
    assert np.deg2rad(1.5) < max(drawn['turn']) <= np.deg2rad(2.0) * np.sqrt(3.0)


def test_one_kind_does_not_change_what_another_draws(robot):
    def light(spread):
        world = SimWorld(robot, load_task('lift'), [], load_profile('fast'), domain=spread)
        return MujocoPlant(world, 5).data.model.light_diffuse.copy()

    assert (light(DomainSpread(lights=0.4)) == light(ALL)).all()


def test_the_expert_copes_and_a_replay_needs_to_know(robot):
    world = SimWorld(robot, load_task('lift'), [], load_profile('fast'), domain=ALL)
    plant, ticks = MujocoPlant(world), []
    assert all(run_expert(plant, seed) is not None for seed in range(5))
    run_expert(plant, 3, after_tick=lambda guarded: ticks.append(tick_of(guarded)))
    assert replay(MujocoPlant(world), 3, ticks).largest_difference == 0.0
    assert replay(MujocoPlant(world, domain=DomainSpread()), 3, ticks).largest_difference > 0.0


def test_it_is_told_as_text_and_understood_again(varied):
    told = MujocoPlant(varied).capabilities.randomisation
    assert spread_of(told) == ALL
    assert spread_of('') == DomainSpread()
    for text in ('{"lights": 1}', '[]', 'noise', told.replace('0.3', '"x"')):
        with pytest.raises(CobaltError, match='does not tell how much differs'):
            spread_of(text)


def test_environments_differ_likewise():
    def masses(**choices):
        envs = cobalt_sim.make_vec('lift', num_envs=3, **choices)
        envs.reset(seed=7)
        found = [float(env.plant.data.model.body(CUBE).mass[0]) for env in envs.envs]
        envs.close()
        return found

    assert len(set(masses())) == 1
    assert len(set(masses(randomise={'mass': 0.3}))) == 3
    assert masses(randomise={'mass': 0.3}) == masses(randomise=DomainSpread(mass=0.3))
    with pytest.raises(CobaltError, match="has no 'weight'; it is a mapping of some of lights, colours"):
        cobalt_sim.make_vec('lift', randomise={'weight': 0.3})
    with pytest.raises(CobaltError, match=r'mass may differ by 0 to 0\.9, but is 2'):
        cobalt_sim.make_vec('lift', randomise={'mass': 2.0})
