"""Judges a bag from its closed file alone, and writes verdict.json beside it.

Runs as a process of its own (`python -m cobalt_recorder.judge BAG RULES FAULT`), so that the verdict knows nothing but
the file, and judging one episode doesn't slow the recording of another.
"""

import contextlib
import json
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cobalt_recorder import episode_facts
from cobalt_recorder.accepted_episodes import AcceptedEpisodes
from cobalt_recorder.bag_reader import Bag, Decoder, bag_files, find_bag, is_closed, read_messages
from cobalt_recorder.metrics import catalogue
from cobalt_recorder.metrics.link import LinkSample, link_sample
from cobalt_recorder.metrics.measure import measure
from cobalt_recorder.metrics.record import CameraRecord, EpisodeRecord
from cobalt_recorder.metrics.step_table import StepTable, is_of_episode, nanoseconds
from cobalt_recorder.quality_rules import QualityRules, judge
from cobalt_recorder.rules_file import load_rules
from cobalt_recorder.task_verdicts import accepted_beside
from cobalt_recorder.verdict_file import EpisodeVerdict, read_label
from cobalt_recorder.video_decoder import VideoDecoder
from cobalt_teleop.core import topics
from cobalt_teleop.core.errors import CobaltError

_STEP_TYPE = topics.CONTROL_STEP.type
_LINK_TYPE = topics.LINK.type
_VIDEO_TYPE = topics.video('any').type


class _Camera:
    """Counts the pictures that a camera's frames decode to."""

    def __init__(self, codec: str) -> None:
        self._decoder = VideoDecoder(codec)
        self._decoded = 0

    def decode(self, stamp_ns: int, data: bytes) -> None:
        self._decoded += len(self._decoder.decode(stamp_ns, data))

    def record(self) -> CameraRecord:
        self._decoded += len(self._decoder.end())
        return CameraRecord(self._decoder.stamps_ns, self._decoded)


def read_episode(bag: Bag) -> EpisodeRecord:
    """Reads what the metrics need, and fills in `bag`.

    Raises:
        CobaltError: The file is no MCAP file.
    """
    decoder = Decoder()
    steps: list[Any] = []
    links: list[LinkSample] = []
    videos: dict[str, _Camera] = {}
    for summary, schema, message in read_messages(bag):
        if schema is None:
            continue
        if schema.name == _STEP_TYPE:
            steps.append(decoder.decode(schema, message))
        elif schema.name == _LINK_TYPE:
            link = link_sample(decoder.decode(schema, message))
            links += [] if link is None else [link]
        elif schema.name == _VIDEO_TYPE:
            frame = decoder.decode(schema, message)
            name = summary.name.split('/')[-2]
            if name not in videos:
                videos[name] = _Camera(frame.format)
            videos[name].decode(nanoseconds(frame.timestamp), bytes(frame.data))
    cameras = {name: video.record() for name, video in videos.items()}
    for camera in episode_facts.cameras(bag.facts.get(episode_facts.WORKCELL, {})):
        cameras.setdefault(camera['name'], CameraRecord((), 0))

    rows = StepTable()
    # The workcell's id and the episode's are known once the whole file is read, however it was damaged.
    for step in steps:
        if is_of_episode(step, bag.episode_id):
            rows.append(step)
            if step.terminal:
                break
    label = read_label(bag.folder)
    outcome = label.outcome if label else bag.fact(episode_facts.END, 'outcome', 'UNKNOWN')
    prefix = f'/{bag.fact(episode_facts.EPISODE, "workcell_id")}/'
    return EpisodeRecord(
        outcome=outcome,
        judged_by_task='success_predicate' in json.loads(bag.fact(episode_facts.WORKCELL, 'capabilities', '[]')),
        control_rate_hz=float(bag.fact(episode_facts.WORKCELL, 'control_rate_hz', 'nan') or math.nan),
        first_step=int(bag.fact(episode_facts.END, 'first_step', '0')),
        last_step=int(bag.fact(episode_facts.END, 'last_step', '0')),
        steps=rows,
        links=links,
        cameras=cameras,
        dropped={summary.name.removeprefix(prefix): summary.dropped for summary in bag.topics.values()},
    )


def judge_bag(
    path: Path, rules: QualityRules, *, fault: str = '', accepted: AcceptedEpisodes | None = None
) -> tuple[Bag, EpisodeVerdict]:
    """Reads a bag and judges it.

    Args:
        path: The bag's folder, or the MCAP file in it.
        rules: What is asked.
        fault: What its recorder says went wrong, in words.
        accepted: The other accepted episodes of its task; None for those whose verdicts lie beside its folder.

    Raises:
        CobaltError: There is no bag, or it holds what nobody can judge.
    """
    bag = find_bag(path)
    try:
        episode = read_episode(bag)
    except CobaltError:
        raise
    except Exception as error:
        # What somebody else wrote into the file may be anything, and so may be what it does to a decoder.
        raise CobaltError(f'{bag.file} cannot be understood: {type(error).__name__}: {error}') from error
    end_reason = bag.fact(episode_facts.END, 'end_reason')
    faults = []
    if bag.fact(episode_facts.END, 'ended_by') == 'recorder':
        faults.append(f'the recording broke off: {end_reason}')
    if fault and fault != end_reason:
        faults.append(f'the recording failed: {fault}')
    if bag.damage:
        faults.append(f'the file is damaged: {bag.damage}')
    if not len(episode.steps):
        faults.append('it holds no row of the episode')
    label = read_label(bag.folder)
    note = label.note if label else '' if faults else end_reason
    task = bag.fact(episode_facts.EPISODE, 'task')
    if accepted is None and rules.z_scores:
        accepted = accepted_beside(bag.folder, task)
    verdict = judge(episode.outcome, measure(episode), rules, accepted=accepted, faults=faults, note=note)
    return bag, EpisodeVerdict(
        workcell_id=bag.fact(episode_facts.EPISODE, 'workcell_id'),
        episode_id=bag.episode_id,
        task=task,
        outcome=episode.outcome,
        outcome_source=label.outcome_source if label else bag.fact(episode_facts.END, 'outcome_source', 'PREDICATE'),
        bag_uri=str(bag.folder),
        rules_hash=rules.hash,
        operator_id=bag.fact(episode_facts.EPISODE, 'operator_id'),
        metrics_version=catalogue.VERSION,
        faults=tuple(faults),
        note=note,
        judged=verdict,
    )


def _make_whole(path: Path, fault: str) -> None:
    with contextlib.suppress(CobaltError, OSError):
        # If it cannot be made whole, the verdict says what is wrong with it.
        if not all(is_closed(file) for file in bag_files(path)):
            # Few bags need it, and every verdict is waited for.
            from cobalt_recorder.recover import CUT_OFF, recover

            recover(path, ended_by=fault or CUT_OFF)


def main(argv: Sequence[str] | None = None) -> int:
    """The recorder's own entry: judges a bag by rules, with what its recorder says went wrong.

    A bag that nobody closed is made whole first, so that ordinary readers open it.
    """
    os.nice(10)  # Recording goes first.
    path, rules, fault = (sys.argv[1:] if argv is None else argv)[:3]
    _make_whole(Path(path), fault)
    try:
        bag, verdict = judge_bag(Path(path), load_rules(Path(rules)), fault=fault)
        verdict.write(bag.folder)
    except (CobaltError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
