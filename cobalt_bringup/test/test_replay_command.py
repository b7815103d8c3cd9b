import argparse
import json

import cv2
import numpy as np
import pytest
from rclpy.serialization import serialize_message

from cobalt_bringup import replay
from cobalt_interfaces.msg import ControlStep, PartInfo, PartStep, SimulatorState, WorkcellInfo
from cobalt_recorder import episode_facts
from cobalt_recorder.bag_writer import BagWriter
from cobalt_sim.domain import DomainSpread
from cobalt_sim.in_process import run_expert
from cobalt_sim.mujoco_plant import STATE_FORMAT, MujocoPlant
from cobalt_sim.render_profile import load_profile
from cobalt_sim.replay import tick_of
from cobalt_sim.sim_world import SimWorld
from cobalt_sim.tasks import load_task
from cobalt_teleop.core import topics
from cobalt_teleop.kinematics.robot_description import load_robot

STEPS, STATES = (f'/env_0/{topic.name}' for topic in (topics.CONTROL_STEP, topics.SIMULATOR_STATE))
ALIKE = DomainSpread()


def run(*arguments):
    parser = argparse.ArgumentParser()
    replay.add_parser(parser.add_subparsers())
    options = parser.parse_args(['replay', *map(str, arguments)])
    return options.func(options)


@pytest.fixture(scope='module')
def ticks():
    """What the expert did with the cube of seed 4."""
    return driven(ALIKE)


def driven(domain):
    world = SimWorld(load_robot('franka_panda'), load_task('lift'), [], load_profile('fast'), domain=domain)
    ticks = []
    run_expert(MujocoPlant(world), 4, after_tick=lambda guarded: ticks.append(tick_of(guarded)))
    return ticks


@pytest.fixture
def write_bag(tmp_path, ticks):
    def write(*, kind='SIM', seed=4, robot='franka_panda', states='', ticks=ticks, domain=ALIKE):
        folder = tmp_path / f'{kind}_{seed}_{robot}_{len(states)}'
        writer = BagWriter(folder, {})
        workcell = WorkcellInfo(
            workcell_id='env_0',
            kind=getattr(WorkcellInfo, f'KIND_{kind}'),
            control_rate_hz=20.0,
            parts=[PartInfo(name='arm', robot=robot)],
            randomisation=domain.as_text(),
        )
        writer.add_facts(episode_facts.WORKCELL, episode_facts.workcell_facts(workcell))
        writer.add_facts(
            'cobalt.episode',
            {'episode_id': folder.name, 'workcell_id': 'env_0', 'task': 'lift', 'seed': str(seed)},
        )
        writer.add_topic(STEPS, topics.CONTROL_STEP.type)
        writer.add_topic(STATES, topics.SIMULATOR_STATE.type)
        for index, tick in enumerate(ticks):
            arm = tick.parts['arm']
            part = PartStep(
                part='arm',
                joint_positions=arm.joints.tolist(),
                joint_targets=arm.joint_targets.tolist(),
                gripper_target=arm.gripper_target,
                joint_velocity_targets=arm.joint_velocities.tolist() if states else [],
            )
            row = ControlStep(
                episode_id=folder.name, step=index, sim_time=tick.sim_time, parts=[part], success=tick.success
            )
            log_ns = 10**18 + index * 50_000_000
            writer.write(STEPS, bytes(serialize_message(row)), received_ns=log_ns, published_ns=log_ns)
            if states:
                state = SimulatorState(step=index, format=states, values=tick.state.values.tolist())
                writer.write(STATES, bytes(serialize_message(state)), received_ns=log_ns, published_ns=log_ns)
        writer.close('cobalt.end', {'counts': '{}'}, {})
        return folder

    return write


def test_a_bag_is_reproduced_and_filmed_by_a_camera_of_ones_choice(write_bag, tmp_path, ticks, capsys):
    video = tmp_path / 'wrist.mp4'
    assert run(write_bag(), '--video', video, '--camera', 'wrist', '--width', 96, '--height', 64) == 0
    assert 'reproduced: success in the recording, success in the replay' in capsys.readouterr().out
    film = cv2.VideoCapture(str(video))
    assert film.get(cv2.CAP_PROP_FRAME_COUNT) == len(ticks)
    read, picture = film.read()
    assert read and picture.shape == (64, 96, 3) and picture.std() > 20


def test_another_seed_does_not_reproduce_it(write_bag, capsys):
    assert run(write_bag(seed=5), '--json') == 1
    (told,) = json.loads(capsys.readouterr().out)
    assert told['recorded_success'] and not told['replayed_success'] and not told['reproduced']


@pytest.mark.parametrize(
    ('changes', 'sentence'),
    [
        ({'kind': 'REAL'}, 'was not recorded in the simulator'),
        ({'robot': 'fly'}, "no robot 'fly'"),
    ],
)
def test_what_cannot_be_replayed_is_told_in_a_sentence(write_bag, capsys, changes, sentence):
    assert run(write_bag(**changes)) == 2
    assert sentence in capsys.readouterr().err


def test_a_film_is_of_one_bag(tmp_path, capsys):
    assert run(tmp_path, tmp_path, '--video', tmp_path / 'x.mp4') == 2
    assert 'show one bag' in capsys.readouterr().err


def test_with_states_it_is_reproduced_to_the_bit_also_without_its_seed(write_bag, capsys):
    assert run(write_bag(states=STATE_FORMAT, seed=5)) == 0
    assert 'joints as recorded, to the bit' in capsys.readouterr().out


def test_what_differed_in_an_episode_differs_in_its_replay(write_bag, capsys):
    domain = DomainSpread(mass=0.5, friction=0.3)
    heavy = driven(domain)
    assert run(write_bag(states=STATE_FORMAT, ticks=heavy, domain=domain)) == 0
    assert 'joints as recorded, to the bit' in capsys.readouterr().out
    run(write_bag(states=STATE_FORMAT, ticks=heavy, seed=5))
    assert 'to the bit' not in capsys.readouterr().out


def test_states_of_another_mujoco_are_not_gone_on_from(write_bag, capsys):
    bag = write_bag(states='MuJoCo 2.0: integration state')
    assert run(bag, '--json') == 0
    assert json.loads(capsys.readouterr().out)[0]['began_with'] == 'seed'
    assert run(bag, '--states') == 2
    assert 'the state is of MuJoCo 2.0' in capsys.readouterr().err


def test_what_was_not_recorded_is_drawn_from_the_states(write_bag, tmp_path, ticks):
    folder = tmp_path / 'drawn'
    wanted = ['--frames', folder, '--kinds', 'rgb', 'depth', 'segmentation', '--width', 96, '--height', 64]
    bag = write_bag(states=STATE_FORMAT)
    assert run(bag, '--states', *wanted) == 0
    about = json.loads((folder / 'frames.json').read_text())
    assert [one['step'] for one in about['frames']] == list(range(len(ticks)))
    name = f'{len(ticks) - 1:08d}.png'
    colours, depth, bodies = (
        cv2.imread(str(folder / kind / name), cv2.IMREAD_UNCHANGED) for kind in ('rgb', 'depth', 'segmentation')
    )
    assert colours.shape == (64, 96, 3) and colours.std() > 20
    assert depth.dtype == np.uint16 and 300 < np.median(depth) < 3000
    seen = {about['bodies'][str(number)] for number in np.unique(bodies)}
    assert 'cube' in seen and 'world' in seen
    assert run(bag, '--states', *wanted) == 2, 'nothing is overwritten'
