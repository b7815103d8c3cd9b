"""What a page is told: ROS messages as JSON objects, with the words that it shows."""

from collections.abc import Sequence
from dataclasses import asdict
from math import isfinite
from typing import Any
from urllib.parse import urlsplit

import segno

from cobalt_interfaces.msg import (
    ControlState,
    ControlStep,
    EpisodeState,
    PartStep,
    QualityReport,
    RecordingState,
    WorkcellInfo,
)
from cobalt_teleop.bridge.door.listening import is_loopback
from cobalt_teleop.bridge.operators.pairings import LIFETIME_S
from cobalt_teleop.bridge.wire import wording
from cobalt_teleop.core.keyboard_actions import ACTIONS, MOTION_BITS
from cobalt_teleop.ros.stamps import to_nanoseconds

Event = dict[str, Any]

SPEED_UP_BITS = (
    PartStep.LIMIT_LINEAR_ACCELERATION | PartStep.LIMIT_ANGULAR_ACCELERATION | PartStep.LIMIT_JOINT_ACCELERATION
)
"""Limits that act at each start of a motion, and say nothing to a person."""


def keyboard_event() -> Event:
    """The key map."""
    return {'type': 'keyboard', 'actions': [asdict(action) for action in ACTIONS], 'motion_bits': MOTION_BITS}


def link_elsewhere(places: Sequence[str], query: str) -> tuple[list[str], str]:
    """Returns links that lead here from another device, and a picture of the first one's code; both may be empty.

    Args:
        places: Where pages are found, the likeliest first; those of loopback lead nobody here.
        query: What follows the question mark.
    """
    links = [f'{place}/?{query}' for place in places if not is_loopback(urlsplit(place).hostname or '')]
    picture = segno.make(links[0], error='m', micro=False).svg_data_uri(scale=6, border=4) if links else ''
    return links, picture


def pairing_event(code: str, places: Sequence[str]) -> Event:
    """How a second device joins a session.

    Args:
        code: That lets it in.
        places: Where pages are found, the likeliest first.
    """
    links, picture = link_elsewhere(places, f'token={code}')
    return {'type': 'pairing', 'links': links, 'picture': picture, 'seconds': LIFETIME_S}


def let_go_event(device: str, part: str, reason: str) -> Event:
    """A page's device must be let go of and pressed again.

    Args:
        device: Kind of device.
        part: Arm that it drives, as the page has named it.
        reason: In words.
    """
    return {'type': 'let_go', 'device': device, 'part': part, 'text': reason}


def workcell_event(info: WorkcellInfo) -> Event:
    """What a workcell is."""
    return {
        'type': 'workcell',
        'id': info.workcell_id,
        'host': info.host_id,
        'real': info.kind == WorkcellInfo.KIND_REAL,
        'robot': info.robot,
        'parts': [part.name for part in info.parts],
        'floor_z': round(info.limits[0].workspace_min.z, 3) if info.limits else None,
        'cameras': [
            {
                'name': camera.name,
                'width': camera.width,
                'height': camera.height,
                'rate_hz': camera.rate_hz,
                'carried_by': camera.carried_by,
                'yaw': camera.yaw if isfinite(camera.yaw) else None,
            }
            for camera in info.cameras
        ],
        'tasks': list(info.tasks),
        'control_rate_hz': info.control_rate_hz,
        'can_home': 'home' in info.capabilities,
        'software': info.software_version,
    }


def control_event(
    state: ControlState,
    own_lease_id: str,
    asks_own_session: bool,
    *,
    supervisors_stop: str = '',
    release_objection: str = '',
) -> Event:
    """Who has control, as one session sees it.

    Args:
        state: As the host says.
        own_lease_id: The session's lease, or empty.
        asks_own_session: It is this session that asks for control.
        supervisors_stop: Name of a supervisor who pressed the stop that is on; empty if none did.
        release_objection: Why the session may not release that stop; empty if it may.
    """
    return {
        'type': 'control',
        'yours': bool(own_lease_id) and state.lease_id == own_lease_id,
        'holder': state.holder if state.lease_id else '',
        'holds_by': local_device(state),
        'requested_by': state.requested_by,
        'you_ask': asks_own_session and bool(state.requested_by),
        'authority': wording.AUTHORITY.get(state.authority, 'hold'),
        'emergency_stop': state.estop,
        'emergency_stop_by': stopped_by(state, supervisors_stop),
        'release_objection': release_objection,
        'faults': list(state.faults),
    }


def local_device(state: ControlState) -> str:
    """Returns in words what the holder drives with, if it is a device without a page; empty otherwise."""
    if not state.lease_id or len(state.sources) != 1:
        return ''
    source = str(state.sources[0])
    return wording.LOCAL_DEVICE.get(source, source)


def stopped_by(state: ControlState, supervisors_stop: str) -> list[str]:
    """Returns names of who pressed the stop that is on: the first one, and a supervisor if one did it too."""
    return list(dict.fromkeys(filter(None, (state.estop_by, supervisors_stop)))) if state.estop else []


def episode_event(state: EpisodeState) -> Event:
    """The episode."""
    started_ns = to_nanoseconds(state.started)
    return {
        'type': 'episode',
        'id': state.episode_id,
        'task': state.task,
        'instruction': state.instruction,
        'operator': state.operator_id,
        'seed': state.seed,
        'phase': wording.PHASE.get(state.phase, 'idle'),
        'outcome': wording.OUTCOME.get(state.outcome, 'unknown'),
        'outcome_source': wording.OUTCOME_SOURCE.get(state.outcome_source, 'operator'),
        'end_reason': state.end_reason,
        'started_ms': started_ns / 1e6 if started_ns else None,
        'elapsed_s': state.elapsed_s,
        'time_limit_s': state.time_limit_s,
        'practice': state.practice,
    }


def recording_event(state: RecordingState) -> Event:
    """What the recorder does."""
    return {
        'type': 'recording',
        'episode': state.episode_id,
        'state': wording.RECORDING.get(state.state, 'idle'),
        'reason': state.reason,
        'missing_topics': list(state.missing_topics),
        'bytes': state.bytes,
        'dropped': state.dropped,
        'uri': state.uri,
    }


def quality_event(report: QualityReport) -> Event:
    """The verdict on an episode."""
    return {
        'type': 'quality',
        'episode': report.episode_id,
        'final': report.stage == QualityReport.STAGE_FINAL,
        'verdict': wording.VERDICT.get(report.verdict, 'unknown'),
        'reasons': list(report.reasons),
        'tip': report.tip,
        'uri': report.bag_uri,
        'metrics': [
            {
                'name': metric.name,
                'value': metric.value if isfinite(metric.value) else None,
                'unit': metric.unit,
                'passed': metric.passed,
            }
            for metric in report.metrics
        ],
    }


def step_event(step: ControlStep) -> Event:
    """What the arm does at this moment, and why it does not."""
    hold = next((part.hold_reason for part in step.parts if part.hold_reason), PartStep.HOLD_NONE)
    limits = 0
    for part in step.parts:
        limits |= part.limits
    part = step.parts[0] if step.parts else PartStep()
    target = part.target.position
    return {
        'type': 'step',
        'hold': hold,
        'hold_text': wording.HOLD.get(hold, 'unknown reason'),
        'limits': wording.limit_words(limits & ~SPEED_UP_BITS),
        'authority': wording.AUTHORITY.get(step.authority, 'hold'),
        'authority_reason': step.authority_reason,
        'phase': wording.PHASE.get(step.phase, 'idle'),
        'stage': round(float(step.stage), 2),
        'success': step.success,
        'gripper': _rounded(part.gripper, 2) if step.parts else None,
        'gripper_target': _rounded(part.gripper_target, 2) if step.parts else None,
        'target': [_rounded(value, 3) for value in (target.x, target.y, target.z)],
        'parts': [
            {
                'name': one.part,
                'hold': one.hold_reason,
                'hold_text': wording.HOLD.get(one.hold_reason, 'unknown reason'),
                'limits': wording.limit_words(one.limits & ~SPEED_UP_BITS),
                'gripper_target': _rounded(one.gripper_target, 2),
            }
            for one in step.parts
        ],
        'ticks_missed': step.ticks_missed,
    }


def _rounded(value: float, digits: int) -> float | None:
    return round(float(value), digits) if isfinite(value) else None
