"""`cobalt replay`: simulates recorded episodes again, says whether they end alike, and films them by other cameras."""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from cobalt_recorder import episode_facts
from cobalt_recorder.bag_reader import Bag, Decoder, find_bag, read_messages
from cobalt_sim.mujoco_plant import MujocoPlant
from cobalt_sim.render_profile import load_profile
from cobalt_sim.replay import RecordedPart, RecordedTick, ReplayReport, replay
from cobalt_sim.scene import camera_models
from cobalt_sim.sim_world import SimWorld
from cobalt_sim.tasks import load_task
from cobalt_teleop.core import topics
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.kinematics.arm_set import ArmSet, arm_set_names, load_arms


def add_parser(subparsers: 'argparse._SubParsersAction[argparse.ArgumentParser]') -> None:
    """Adds `cobalt replay`."""
    parser = subparsers.add_parser(
        'replay',
        help='simulate a recorded episode again',
        description='Starts from the seed of each episode, sends the recorded joint targets, and compares. '
        'Exits with 0 if all end as they did, 1 if one does not, 2 if one cannot be replayed.',
    )
    parser.add_argument('bags', nargs='+', type=Path, help='folders of bags, or their .mcap files')
    parser.add_argument('--robot', default='', help='the arm or arms, if not those that the bag names (name or path)')
    parser.add_argument('--video', type=Path, metavar='FILE', help='film the replay of one bag into an .mp4')
    parser.add_argument('--camera', default='front', help='that films: front, wrist, left_wrist ... (front)')
    parser.add_argument('--width', type=int, default=640, help='of the video [px] (640)')
    parser.add_argument('--height', type=int, default=480, help='of the video [px] (480)')
    parser.add_argument('--json', action='store_true', help='print the reports as JSON')
    parser.set_defaults(func=_run)


def _run(options: argparse.Namespace) -> int:
    if options.video is not None and len(options.bags) > 1:
        print('cobalt replay: --video films one bag; give one', file=sys.stderr)
        return 2
    reports = []
    for path in options.bags:
        try:
            report = _replay(path, options)
        except CobaltError as error:
            print(f'cobalt replay: {error}', file=sys.stderr)
            return 2
        reports.append(report)
        if not options.json:
            print(f'{path.name}: {_in_words(report)}', flush=True)
    if options.json:
        print(
            json.dumps([_as_json(path, report) for path, report in zip(options.bags, reports, strict=True)], indent=2)
        )
    return 0 if all(report.reproduced for report in reports) else 1


def _replay(path: Path, options: argparse.Namespace) -> ReplayReport:
    bag = find_bag(path)
    ticks = _ticks(bag)
    facts, workcell = bag.facts.get(episode_facts.EPISODE, {}), bag.facts.get(episode_facts.WORKCELL, {})
    if workcell.get('kind') != 'SIM':
        raise CobaltError(f'{path} was not recorded in the simulator, so it cannot be simulated again')
    arms = load_arms(options.robot) if options.robot else _arms_of(path, workcell)
    names = () if options.video is None else (options.camera,)
    cameras = camera_models(arms, names, width=options.width, height=options.height, rate_hz=20.0)
    try:
        rate_hz, seed = float(workcell['control_rate_hz']), int(facts['seed'])
    except (KeyError, ValueError) as error:
        raise CobaltError(f'{path} does not tell its control rate and seed') from error
    world = SimWorld(arms, load_task(facts.get('task', '')), cameras, load_profile('fast'), tick_s=1.0 / rate_hz)
    plant = MujocoPlant(world, seed)
    if options.video is None:
        return replay(plant, seed, ticks)
    film = cv2.VideoWriter(
        str(options.video), cv2.VideoWriter.fourcc(*'mp4v'), rate_hz, (options.width, options.height)
    )
    if not film.isOpened():
        raise CobaltError(f'{options.video} cannot be written; its name must end in .mp4, in a folder that exists')
    try:
        return replay(plant, seed, ticks, after_tick=_filmed(plant, film))
    finally:
        film.release()
        world.close_thread()


def _filmed(plant: MujocoPlant, film: Any) -> Callable[[], None]:
    camera = plant.capabilities.cameras[0].name
    return lambda: film.write(cv2.cvtColor(plant.capture(camera), cv2.COLOR_RGB2BGR))


def _ticks(bag: Bag) -> list[RecordedTick]:
    decoder, ticks = Decoder(), []
    for summary, schema, message in read_messages(bag):
        if schema is None or summary.type != topics.CONTROL_STEP.type:
            continue
        row = decoder.decode(schema, message)
        if row.episode_id != bag.episode_id:
            continue
        parts = {
            part.part: RecordedPart(
                joints=np.array(part.joint_positions),
                joint_targets=np.array(part.joint_targets),
                gripper_target=float(part.gripper_target),
            )
            for part in row.parts
        }
        ticks.append(RecordedTick(sim_time=float(row.sim_time), parts=parts, success=bool(row.success)))
    return ticks


def _arms_of(path: Path, workcell: dict[str, str]) -> ArmSet:
    """Returns the arms whose names the bag tells."""
    try:
        recorded = [(part['name'], part['robot']) for part in json.loads(workcell.get('parts', '[]'))]
    except (ValueError, KeyError, TypeError) as error:
        raise CobaltError(f'{path} does not tell its arms; name them by --robot') from error
    if len(recorded) == 1:
        return load_arms(recorded[0][1])
    for name in arm_set_names():
        arms = load_arms(name)
        if [(arm.part, arm.robot.name) for arm in arms.arms] == recorded:
            return arms
    raise CobaltError(f'{path} was recorded with arms that do not come along; name their arms.yaml by --robot')


def _in_words(report: ReplayReport) -> str:
    ends = {True: 'success', False: 'no success'}
    alike = 'reproduced' if report.reproduced else 'NOT reproduced'
    text = f'{alike}: {ends[report.recorded_success]} in the recording, {ends[report.replayed_success]} in the replay'
    text += f'; joints differ by {report.largest_difference:.3f} rad at most, at {report.at_s:.2f} s'
    return text if report.diverged_at_s is None else f'{text}; diverged at {report.diverged_at_s:.2f} s'


def _as_json(path: Path, report: ReplayReport) -> dict[str, object]:
    return {
        'bag': str(path),
        'reproduced': report.reproduced,
        'recorded_success': report.recorded_success,
        'replayed_success': report.replayed_success,
        'largest_difference_rad': report.largest_difference,
        'largest_difference_at_s': report.at_s,
        'diverged_at_s': report.diverged_at_s,
    }
