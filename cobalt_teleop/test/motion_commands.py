"""Builds commands for tests of the guard."""

import itertools

import numpy as np

from cobalt_teleop.core.command import Mode, MotionCommand, Reference
from cobalt_teleop.core.pose import Pose, quaternion

_SAMPLES = itertools.count(1)


def command(offset=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0), **changes):
    values = {
        'mode': Mode.POSE,
        'reference': Reference.ENGAGE,
        'pose': Pose(np.array(offset, dtype=float), quaternion(turn)),
        'engaged': True,
        'tracked': True,
        'clutch_epoch': 1,
        'source': 'test',
        'sample': next(_SAMPLES),
        'age_s': 0.0,
    }
    return MotionCommand(**(values | changes))
