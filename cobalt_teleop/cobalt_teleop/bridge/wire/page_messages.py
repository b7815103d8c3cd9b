"""What a page may say, checked to the last field: a page is a stranger until its message has passed here."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cobalt_teleop.bridge.door.guest import Role
from cobalt_teleop.bridge.wire.answers import AnswerError, check_answer
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.keyboard_actions import ACTIONS
from cobalt_teleop.core.pose import InvalidPoseError, Pose, validate_pose
from cobalt_teleop.core.topics import PAGE_DEVICES, VIDEO_CODECS

KEY_DIGITS = 32
"""Of the key that brings a page back into its session."""

MAX_SIGNAL_BYTES = 64 * 1024
"""Longest message on the WebSocket: an answer with its candidates."""

MAX_SAMPLE_BYTES = 2048
"""Longest message on the samples channel."""

MAX_BUTTONS = 32

MAX_AXES = 16

MAX_FRAGMENTS = 256
"""Fragments of a unit that one message may ask for again."""

ROADS = ('units', 'track')
"""How pictures reach a screen: as units on a data channel, or as a video track."""

LINK_LEVELS = ('unknown', 'good', 'fair', 'poor', 'lost')
"""How good a page calls its link; its web/link_quality.js decides, for itself and for all who look from elsewhere."""

LINK_CAUSES = ('', 'silent', 'device_ms', 'computer', 'loss', 'freezes', 'jitter_ms', 'age_ms', 'rtt_ms')
"""What makes it no better."""

REFERENCES = ('view', 'base', 'tool')
"""Which axes a device moves the tool along, in the order of DeviceSample.REFERENCE_*."""

OUTCOMES = ('success', 'failure', 'aborted', 'discarded')


class PageMessageError(CobaltError):
    """A page sent something that it must not."""


@dataclass(frozen=True)
class CameraReport:
    """How one camera's video arrives at a page.

    Its fields are those of cobalt_interfaces/msg/CameraLink, and the width of the picture on the screen [px].
    """

    name: str
    fps: float
    frame_age_ms: float
    kbit_s: float
    dropped: int
    freezes: int
    shown_width: int


@dataclass(frozen=True)
class PageMessage:
    """A checked message: its type, and the fields that this type has."""

    type: str
    fields: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]


_Check = Callable[[str, Any], Any]


def _number(lower: float, upper: float, *, optional: bool = False) -> _Check:
    def check(name: str, value: Any) -> float:
        if value is None and optional:
            return math.nan
        if isinstance(value, bool) or not isinstance(value, int | float) or not lower <= value <= upper:
            raise PageMessageError(f"'{name}' must be a number from {lower:g} to {upper:g}, not {_shown(value)}")
        return float(value)

    return check


def _whole(upper: int) -> _Check:
    def check(name: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= upper:
            raise PageMessageError(f"'{name}' must be a whole number from 0 to {upper}, not {_shown(value)}")
        return value

    return check


def _text(longest: int, allowed: str = '', *, lines: bool = False) -> _Check:
    def check(name: str, value: Any) -> str:
        if not isinstance(value, str) or len(value) > longest or '\0' in value or not _encodable(value):
            raise PageMessageError(f"'{name}' must be a text of at most {longest} characters, not {_shown(value)}")
        if not lines and not value.isprintable():
            raise PageMessageError(f"'{name}' must hold no control characters: {_shown(value)}")
        if allowed and not all(letter in allowed for letter in value):
            raise PageMessageError(f"'{name}' has a character that is not one of {allowed}: {_shown(value)}")
        return value

    return check


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise PageMessageError(f"'{name}' must be true or false, not {_shown(value)}")
    return value


def _answer(name: str, value: Any) -> str:
    text: str = _text(MAX_SIGNAL_BYTES, lines=True)(name, value)
    try:
        check_answer(text)
    except AnswerError as error:
        raise PageMessageError(f"'{name}': {error}") from error
    return text


def _one_of(*choices: str) -> _Check:
    def check(name: str, value: Any) -> str:
        if value not in choices or not isinstance(value, str):
            raise PageMessageError(f"'{name}' must be one of {', '.join(choices)}, not {_shown(value)}")
        return value

    return check


def _codecs(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > len(VIDEO_CODECS):
        raise PageMessageError(f"'{name}' must be a list of some of {', '.join(VIDEO_CODECS)}, not {_shown(value)}")
    return tuple(_one_of(*VIDEO_CODECS)(name, codec) for codec in value)


def _press_counts(name: str, value: Any) -> tuple[int, ...]:
    if not isinstance(value, list) or len(value) != len(ACTIONS):
        raise PageMessageError(f"'{name}' must be a list of {len(ACTIONS)} whole numbers, not {_shown(value)}")
    return tuple(_whole(2**32 - 1)(name, count) for count in value)


def _device_counts(name: str, value: Any) -> tuple[int, ...]:
    if not isinstance(value, list) or len(value) > MAX_BUTTONS:
        raise PageMessageError(f"'{name}' must be a list of at most {MAX_BUTTONS} whole numbers, not {_shown(value)}")
    return tuple(_whole(2**32 - 1)(name, count) for count in value)


def _axes(name: str, value: Any) -> tuple[float, ...]:
    if not isinstance(value, list) or len(value) > MAX_AXES:
        raise PageMessageError(f"'{name}' must be a list of at most {MAX_AXES} numbers, not {_shown(value)}")
    return tuple(_number(-1.0, 1.0)(name, axis) for axis in value)


def _pose(name: str, value: Any) -> Pose | None:
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 7:
        raise PageMessageError(f"'{name}' must be null or [x, y, z, qx, qy, qz, qw], not {_shown(value)}")
    numbers = [_number(-1e3, 1e3)(name, number) for number in value]
    try:
        return validate_pose(numbers[:3], numbers[3:])
    except InvalidPoseError as error:
        raise PageMessageError(f"'{name}': {error}") from error


def _frame(name: str, value: Any) -> tuple[str, int] | None:
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 2:
        raise PageMessageError(f"'{name}' must be null or [camera, number of the frame], not {_shown(value)}")
    return _text(64)(name, value[0]), _whole(2**32 - 1)(name, value[1])


def _live(name: str, value: Any) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2:
        raise PageMessageError(f"'{name}' must be [number, number] of the offers that live, not {_shown(value)}")
    return _whole(2**32 - 1)(name, value[0]), _whole(2**32 - 1)(name, value[1])


def _fragments(name: str, value: Any) -> tuple[int, ...]:
    if not isinstance(value, list) or len(value) > MAX_FRAGMENTS:
        raise PageMessageError(f"'{name}' must be a list of at most {MAX_FRAGMENTS} numbers, not {_shown(value)}")
    return tuple(_whole(2**16 - 1)(name, index) for index in value)


def _camera_reports(name: str, value: Any) -> tuple[CameraReport, ...]:
    if not isinstance(value, list) or len(value) > 16:
        raise PageMessageError(f"'{name}' must be a list of at most 16 cameras, not {_shown(value)}")
    checks = {
        'name': _text(64),
        'fps': _number(0, 1000),
        'frame_age_ms': _number(-1e6, 1e6, optional=True),
        'kbit_s': _number(0, 1e7),
        'dropped': _whole(2**32 - 1),
        'freezes': _whole(2**32 - 1),
        'shown_width': _whole(2**16 - 1),
    }
    return tuple(CameraReport(**_checked(name, entry, checks)) for entry in value)


_HEX = '0123456789abcdef'

_SIGNALS: dict[str, dict[str, _Check]] = {
    'hello': {
        'session': _text(KEY_DIGITS, _HEX),
        'workcell': _text(128),
        'operator': _text(64),
        'codecs': _codecs,
        'token': _text(1024),
        'road': _one_of(*ROADS),
        'live': _live,
    },
    'answer': {
        'connection': _one_of('control', 'video'),
        'number': _whole(2**32 - 1),
        'sdp': _answer,
    },
    'restart_control': {},
    'restart_video': {'road': _one_of(*ROADS)},
    'acquire': {'ask': _flag},
    'release': {},
    'hand_over': {},
    'start': {},
    'practise': {},
    'reset': {},
    'end': {'outcome': _one_of(*OUTCOMES)},
    'home': {},
    'ping': {},
    'emergency_stop': {},
    'clear_emergency_stop': {},
    'rename': {'name': _text(64)},
    'watch': {'workcell': _text(128)},
    'pair': {},
    'join_line': {},
    'leave_line': {},
    'here': {},
    'overview': {'on': _flag},
    'stop_all': {},
    'release_stops': {'workcell': _text(128), 'confirm': _flag},
    'end_episode': {'workcell': _text(128)},
    'give': {'workcell': _text(128), 'session': _text(16, _HEX)},
    'send_away': {'session': _text(16, _HEX)},
    'invite': {
        'role': _one_of(*Role),
        'task': _text(64),
        'name': _text(40),
        'hours': _number(0.01, 8784),
    },
    'stats': {
        'rtt_ms': _number(0, 1e6, optional=True),
        'clock_offset_ms': _number(-1e13, 1e13, optional=True),
        'clock_uncertainty_ms': _number(0, 1e6, optional=True),
        'loss_down': _number(0, 1, optional=True),
        'level': _one_of(*LINK_LEVELS),
        'cause': _one_of(*LINK_CAUSES),
        'cameras': _camera_reports,
    },
}

_SAMPLES: dict[str, dict[str, _Check]] = {
    'ping': {'id': _whole(2**53), 'sent_ms': _number(0, 1e14)},
    'keys': {
        'sequence': _whole(2**53),
        'device_ms': _number(0, 1e14),
        'clock_offset_ms': _number(-1e13, 1e13, optional=True),
        'clock_uncertainty_ms': _number(0, 1e6, optional=True),
        'buttons': _whole((1 << len(ACTIONS)) - 1),
        'press_counts': _press_counts,
        'engaged': _flag,
        'clutch_epoch': _whole(2**32 - 1),
        'reference': _one_of(*REFERENCES),
        'heading': _number(-7.0, 7.0),
        'frame': _frame,
    },
    'device': {
        'device': _one_of(*(name for name in PAGE_DEVICES if name != 'keyboard')),
        'part': _text(32),
        'sequence': _whole(2**53),
        'device_ms': _number(0, 1e14),
        'clock_offset_ms': _number(-1e13, 1e13, optional=True),
        'clock_uncertainty_ms': _number(0, 1e6, optional=True),
        'tracked': _flag,
        'engaged': _flag,
        'clutch_epoch': _whole(2**32 - 1),
        'pose': _pose,
        'axes': _axes,
        'buttons': _whole(2**32 - 1),
        'press_counts': _device_counts,
        'gripper': _number(0.0, 1.0, optional=True),
        'reference': _one_of(*REFERENCES),
        'heading': _number(-7.0, 7.0),
        'scale': _number(0.05, 4.0),
        'frame': _frame,
    },
}


_UNIT_REQUESTS: dict[str, dict[str, _Check]] = {
    'missing': {'unit': _whole(2**32 - 1), 'fragments': _fragments},
    'key_frame': {},
}


_CHECKS: dict[str, dict[str, _Check]] = {
    'check': {'session': _text(KEY_DIGITS, _HEX), 'token': _text(1024)},
    'check_answer': {'sdp': _answer},
}


def parse_signal(text: str) -> PageMessage:
    """Returns a message of the WebSocket or the events channel.

    Raises:
        PageMessageError: It is no JSON, too long, of an unknown type, or a field is missing, unknown or wrong.
    """
    return _parse(text, _SIGNALS, MAX_SIGNAL_BYTES)


def parse_sample(text: str) -> PageMessage:
    """Returns a message of the samples channel.

    Raises:
        PageMessageError: As for `parse_signal`.
    """
    return _parse(text, _SAMPLES, MAX_SAMPLE_BYTES)


def parse_unit_request(data: str | bytes) -> PageMessage:
    """Returns a message of a channel of video units.

    Raises:
        PageMessageError: As for `parse_signal`.
    """
    if isinstance(data, bytes):
        raise PageMessageError('a channel of video takes text alone')
    return _parse(data, _UNIT_REQUESTS, MAX_SAMPLE_BYTES)


def parse_check(text: str) -> PageMessage:
    """Returns a message of the connection test.

    Raises:
        PageMessageError: As for `parse_signal`.
    """
    return _parse(text, _CHECKS, MAX_SIGNAL_BYTES)


def _parse(text: str, table: Mapping[str, Mapping[str, _Check]], longest: int) -> PageMessage:
    if len(text) > longest:
        raise PageMessageError(f'a message of {len(text)} characters is too long; the longest is {longest}')
    try:
        content = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise PageMessageError(f'a message must be a JSON object: {error}') from error
    if not isinstance(content, dict):
        raise PageMessageError(f'a message must be a JSON object, not {_shown(content)}')
    kind = content.pop('type', None)
    if not isinstance(kind, str) or kind not in table:
        raise PageMessageError(f"'type' must be one of {', '.join(table)}, not {_shown(kind)}")
    return PageMessage(kind, _checked(kind, content, table[kind]))


def _checked(what: str, content: Any, checks: Mapping[str, _Check]) -> dict[str, Any]:
    if not isinstance(content, dict) or content.keys() != checks.keys():
        wanted = ', '.join(checks) or 'no field'
        raise PageMessageError(f"'{what}' has {wanted}, not {_shown(content)}")
    return {name: check(name, content[name]) for name, check in checks.items()}


def _refuse_constant(name: str) -> Any:
    raise ValueError(f'{name} is no number of JSON')


def _encodable(text: str) -> bool:
    return not any(0xD800 <= ord(letter) <= 0xDFFF for letter in text)


def _shown(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + '...'
