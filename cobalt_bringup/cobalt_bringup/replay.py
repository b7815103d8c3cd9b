"""`cobalt replay`: simulates recorded episodes again, says whether they end alike, and draws what was not recorded."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from cobalt_bringup.replay_pictures import KINDS, Film, Frames
from cobalt_recorder import episode_facts
from cobalt_recorder.bag_reader import Bag, Decoder, find_bag, read_messages
from cobalt_sim.domain import spread_of
from cobalt_sim.mujoco_plant import MujocoPlant
from cobalt_sim.render_profile import load_profile
from cobalt_sim.replay import RecordedPart, RecordedTick, ReplayReport, replay, replay_states
from cobalt_sim.scene import camera_models
from cobalt_sim.sim_world import SimWorld
from cobalt_sim.tasks import load_task
from cobalt_teleop.core import topics
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.kinematics.arm_set import ArmSet, arms_of, load_arms
from cobalt_teleop.workcell_host.plant import FullState


def add_parser(subparsers: 'argparse._SubParsersAction[argparse.ArgumentParser]') -> None:
    """Adds `cobalt replay`."""
    parser = subparsers.add_parser(
        'replay',
        help='simulate a recorded episode again',
        description='Starts from the first state of each episode (its seed, where the bag holds no states), sends the '
        'recorded joint targets, and compares. With --states it goes from recorded state to recorded state instead. '
        'Exits with 0 if all end as they did, 1 if one does not, 2 if one cannot be replayed.',
    )
    parser.add_argument('bags', nargs='+', type=Path, help='folders of bags, or their .mcap files')
    parser.add_argument('--robot', default='', help='the arm or arms, if not those that the bag names (name or path)')
    parser.add_argument('--states', action='store_true', help='go from state to state, without simulating anything')
    parser.add_argument('--video', type=Path, metavar='FILE', help='film the replay of one bag into an .mp4')
    parser.add_argument('--frames', type=Path, metavar='FOLDER', help='draw the replay of one bag into PNG files')
    parser.add_argument('--kinds', nargs='+', choices=KINDS, default=['rgb'], help='of these files (rgb)')
    parser.add_argument('--camera', default='front', help='that looks: front, wrist, left_wrist ... (front)')
    parser.add_argument('--width', type=int, default=640, help='of what it sees [px] (640)')
    parser.add_argument('--height', type=int, default=480, help='of what it sees [px] (480)')
    parser.add_argument('--json', action='store_true', help='print the reports as JSON')
    parser.set_defaults(func=_run)


def _run(options: argparse.Namespace) -> int:
    if (options.video or options.frames) and len(options.bags) > 1:
        print('cobalt replay: --video and --frames show one bag; give one', file=sys.stderr)
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
    names = (options.camera,) if options.video or options.frames else ()
    cameras = camera_models(arms, names, width=options.width, height=options.height, rate_hz=20.0)
    try:
        rate_hz, seed = float(workcell['control_rate_hz']), int(facts['seed'])
    except (KeyError, ValueError) as error:
        raise CobaltError(f'{path} does not tell its control rate and seed') from error
    domain = spread_of(workcell.get('randomisation', ''))
    world = SimWorld(
        arms, load_task(facts.get('task', '')), cameras, load_profile('fast'), tick_s=1.0 / rate_hz, domain=domain
    )
    plant = MujocoPlant(world, seed)
    pictures: list[Film | Frames] = []
    try:
        if options.video:
            pictures.append(Film(options.video, plant, rate_hz))
        if options.frames:
            pictures.append(Frames(options.frames, plant, world, options.kinds))

        def on_tick(tick: RecordedTick) -> None:
            for one in pictures:
                one.take(tick)

        return (replay_states if options.states else replay)(plant, seed, ticks, on_tick=on_tick)
    finally:
        for one in pictures:
            one.close()
        world.close_thread()


def _ticks(bag: Bag) -> list[RecordedTick]:
    decoder, rows, states = Decoder(), [], {}
    for summary, schema, message in read_messages(bag):
        if schema is None or summary.type not in (topics.CONTROL_STEP.type, topics.SIMULATOR_STATE.type):
            continue
        row = decoder.decode(schema, message)
        if summary.type == topics.SIMULATOR_STATE.type:
            states[int(row.step)] = FullState(format=str(row.format), values=np.array(row.values, dtype=float))
        elif row.episode_id == bag.episode_id:
            rows.append(row)
    return [_tick(row, states.get(int(row.step))) for row in rows]


def _tick(row: Any, state: FullState | None) -> RecordedTick:
    parts = {
        part.part: RecordedPart(
            joints=np.array(part.joint_positions),
            joint_targets=np.array(part.joint_targets),
            gripper_target=float(part.gripper_target),
            # Bags of before have none.
            joint_velocities=np.array(getattr(part, 'joint_velocity_targets', ())),
        )
        for part in row.parts
    }
    return RecordedTick(
        sim_time=float(row.sim_time), parts=parts, success=bool(row.success), step=int(row.step), state=state
    )


def _arms_of(path: Path, workcell: dict[str, str]) -> ArmSet:
    """Returns the arms whose names the bag tells."""
    try:
        recorded = [(part['name'], part['robot']) for part in json.loads(workcell.get('parts', '[]'))]
    except (ValueError, KeyError, TypeError) as error:
        raise CobaltError(f'{path} does not tell its arms; name them by --robot') from error
    try:
        return arms_of(recorded)
    except CobaltError as error:
        raise CobaltError(f'{path}: {error}; name its robot.yaml or arms.yaml by --robot') from error


def _in_words(report: ReplayReport) -> str:
    ends = {True: 'success', False: 'no success'}
    alike = 'reproduced' if report.reproduced else 'NOT reproduced'
    text = f'{alike}: {ends[report.recorded_success]} in the recording, {ends[report.replayed_success]} in the replay'
    if report.largest_difference:
        text += f'; joints differ by {report.largest_difference:.3g} rad at most, at {report.at_s:.2f} s'
    else:
        text += '; joints as recorded, to the bit'
    return text if report.diverged_at_s is None else f'{text}; diverged at {report.diverged_at_s:.2f} s'


def _as_json(path: Path, report: ReplayReport) -> dict[str, object]:
    return {
        'bag': str(path),
        'reproduced': report.reproduced,
        'began_with': report.began_with,
        'recorded_success': report.recorded_success,
        'replayed_success': report.replayed_success,
        'largest_difference_rad': report.largest_difference,
        'largest_difference_at_s': report.at_s,
        'diverged_at_s': report.diverged_at_s,
    }
