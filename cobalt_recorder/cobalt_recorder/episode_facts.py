"""What a bag says about itself: who recorded what, with which software and robot, by which clock."""

import json
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from cobalt_teleop.core.episode import Outcome, OutcomeSource

RECORDING = 'cobalt.recording'
WORKCELL = 'cobalt.workcell'
EPISODE = 'cobalt.episode'
END = 'cobalt.end'


def _nanoseconds(stamp: Any) -> int:
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def recorder_version() -> str:
    """Returns the version of this package."""
    try:
        return version('cobalt_recorder')
    except PackageNotFoundError:
        return 'unknown'


def recording_facts(workcell: Any) -> dict[str, str]:
    """Returns the facts of the recording.

    Args:
        workcell: Its WorkcellInfo.
    """
    return {
        'schema_version': str(workcell.schema_version),
        'recorder_version': recorder_version(),
        'software_version': workcell.software_version,
        'software_hash': workcell.software_hash,
        'clock': 'system time (ROS time with use_sim_time false, UTC since 1970)',
        'log_time': 'when the recorder received the message',
        'publish_time': 'when its source published it',
        'header_stamp': 'when the state or picture was taken',
        'poses': 'metres, quaternions xyzw, in the frame <workcell>/<part>_base',
    }


def workcell_facts(workcell: Any) -> dict[str, str]:
    """Returns the identity of robot and cameras.

    Args:
        workcell: Its WorkcellInfo.
    """
    parts = [
        {'name': part.name, 'robot': part.robot, 'base_frame': part.base_frame, 'joint_names': list(part.joint_names)}
        for part in workcell.parts
    ]
    cameras = [
        {
            'name': camera.name,
            'optical_frame': camera.optical_frame,
            'width': int(camera.width),
            'height': int(camera.height),
            'rate_hz': float(camera.rate_hz),
            'codec': camera.codec,
        }
        for camera in workcell.cameras
    ]
    return {
        'workcell_id': workcell.workcell_id,
        'host_id': workcell.host_id,
        'kind': 'REAL' if workcell.kind == 1 else 'SIM',
        'robot': workcell.robot,
        'control_rate_hz': f'{workcell.control_rate_hz:g}',
        'parts': json.dumps(parts),
        'cameras': json.dumps(cameras),
        'capabilities': json.dumps(list(workcell.capabilities)),
        'declared_topics': json.dumps(list(workcell.declared_topics)),
        'randomisation': workcell.randomisation,
    }


def cameras(workcell: Mapping[str, str]) -> list[dict[str, Any]]:
    """Returns the cameras that the facts of a workcell tell of.

    Raises:
        ValueError: They are no list of cameras.
    """
    found = json.loads(workcell.get('cameras', '[]'))
    if not isinstance(found, list) or not all(isinstance(camera, dict) and 'name' in camera for camera in found):
        raise ValueError('the cameras of the workcell are not understood')
    return found


def episode_facts(episode: Any) -> dict[str, str]:
    """Returns what the episode is.

    Args:
        episode: Its EpisodeState while PREPARING.
    """
    return {
        'episode_id': episode.episode_id,
        'workcell_id': episode.workcell_id,
        'task': episode.task,
        'instruction': episode.instruction,
        'operator_id': episode.operator_id,
        'policy_id': episode.policy_id,
        'robot_id': episode.robot_id,
        'seed': str(episode.seed),
        'round': str(episode.round),
        'time_limit_s': f'{episode.time_limit_s:g}',
    }


def end_facts(episode: Any, *, ended_by: str, counts: dict[str, dict[str, int]]) -> dict[str, str]:
    """Returns how the episode ended.

    Args:
        episode: Its newest EpisodeState.
        ended_by: empty if the host ended it, else in words why the recorder did.
        counts: Of each topic.
    """
    outcome, reason = Outcome(episode.outcome), episode.end_reason
    if ended_by:
        outcome, reason = Outcome.ABORTED, ended_by
    return {
        'outcome': outcome.name,
        'outcome_source': OutcomeSource(episode.outcome_source).name,
        'end_reason': reason,
        'ended_by': 'recorder' if ended_by else 'host',
        'started_ns': str(_nanoseconds(episode.started)),
        'ended_ns': str(_nanoseconds(episode.ended)),
        'first_step': str(episode.first_step),
        'last_step': str(episode.last_step),
        'counts': json.dumps(counts),
    }
