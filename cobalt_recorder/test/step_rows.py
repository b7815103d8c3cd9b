"""Rows of an episode for tests: plain objects with the fields of ControlStep, made from a path."""

from types import SimpleNamespace

import numpy as np

from cobalt_recorder.metrics.part_record import PartRecord
from cobalt_recorder.metrics.step_table import StepTable

START_NS = 1_800_000_000 * 10**9
PERIOD_NS = 50_000_000
HUMAN, HOLD = 1, 0


def time(nanoseconds):
    seconds, rest = divmod(int(nanoseconds), 10**9)
    return SimpleNamespace(sec=seconds, nanosec=rest)


def vector(values):
    return SimpleNamespace(x=values[0], y=values[1], z=values[2])


def pose(position, quat_xyzw=(0.0, 0.0, 0.0, 1.0)):
    x, y, z, w = quat_xyzw
    return SimpleNamespace(position=vector(position), orientation=SimpleNamespace(x=x, y=y, z=z, w=w))


def command(index=0, position=(0.0, 0.0, 0.0), **changes):
    """A TeleopCommand, sampled 12 ms before its row's state."""
    stamp_ns = changes.pop('stamp_ns', START_NS + index * PERIOD_NS - 12_000_000)
    shown_ns = changes.pop('shown_ns', 0)
    given = {
        'header': SimpleNamespace(stamp=time(stamp_ns)),
        'shown_frame_stamp': time(shown_ns),
        'mode': 0,
        'pose': pose(position, changes.pop('quat_xyzw', (0.0, 0.0, 0.0, 1.0))),
        'twist': SimpleNamespace(linear=vector((0.0,) * 3), angular=vector((0.0,) * 3)),
        'gripper': float('nan'),
        'engaged': True,
        'tracked': True,
        'clutch_epoch': 1,
        'sequence': index + 1,
    }
    return SimpleNamespace(**(given | changes))


def part(index=0, position=(0.0, 0.0, 0.0), **changes):
    """A PartStep that a person drives."""
    given = {
        'part': 'arm',
        'authority': HUMAN,
        'limits': 0,
        'pose': pose(position, changes.pop('quat_xyzw', (0.0, 0.0, 0.0, 1.0))),
        'target': pose(changes.pop('target', position)),
        'gripper_target': 1.0,
        'has_human': True,
        'human': changes.pop('human', None) or command(index, position),
    }
    return SimpleNamespace(**(given | changes))


def row(index=0, parts=None, **changes):
    """A ControlStep; its action is applied 3 ms after its state."""
    stamp_ns = changes.pop('stamp_ns', START_NS + index * PERIOD_NS)
    given = {
        'step': 100 + index,
        'header': SimpleNamespace(stamp=time(stamp_ns)),
        'applied_stamp': time(stamp_ns + 3_000_000),
        'sim_time': index * 0.05,
        'authority': HUMAN,
        'success': False,
        'terminal': False,
        'ticks_missed': 7,
        'parts': [part(index)] if parts is None else parts,
        'frames': [],
    }
    return SimpleNamespace(**(given | changes))


def table(rows, newest=0):
    steps = StepTable(newest)
    for one in rows:
        steps.append(one)
    return steps


def part_record(parts, stamps_ns=None, rate_hz=20.0):
    """A part whose rows are these PartSteps."""
    stamps_ns = stamps_ns if stamps_ns is not None else [START_NS + index * PERIOD_NS for index in range(len(parts))]
    rows = [row(index, [one], stamp_ns=stamps_ns[index]) for index, one in enumerate(parts)]
    steps = table(rows)
    empty = part_record([part()]).rows[:0] if not parts else None
    return PartRecord(steps.ticks, empty if empty is not None else steps.parts['arm'], rate_hz)


def reach(count=61, rate_hz=20.0, length_m=0.3):
    """A smooth reach along x: minimum jerk from 0 to length, in (count - 1) / rate_hz seconds."""
    share = np.linspace(0.0, 1.0, count)
    x = length_m * (10 * share**3 - 15 * share**4 + 6 * share**5)
    return np.stack([x, np.zeros(count), np.zeros(count)], axis=1)
