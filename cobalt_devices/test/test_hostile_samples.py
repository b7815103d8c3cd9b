"""Whatever a sample holds, it makes no command that is none, and ends no node."""

import itertools
import math
import os

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Quaternion
from geometry_msgs.msg import Pose as PoseMessage
from hypothesis import given, settings
from hypothesis import strategies as st

from cobalt_devices.device_command import Feedback
from cobalt_devices.fresh_press import FreshPressMapper
from cobalt_devices.gamepad_parameters import AXES, GamepadParameters
from cobalt_devices.keyboard_mapper import KeyboardMapper, KeyboardRates
from cobalt_devices.keyboard_node import key_sample
from cobalt_devices.page_device import defect_of
from cobalt_devices.pose_device import pose_sample
from cobalt_devices.pose_parameters import PoseDeviceParameters
from cobalt_devices.rate_device import rate_sample
from cobalt_devices.rate_mapper import RateMapper
from cobalt_interfaces.msg import DeviceSample
from cobalt_teleop.core.pose import Pose
from cobalt_teleop.ros.poses import pose_message

SEQUENCES = int(os.environ.get('COBALT_SAMPLE_SEQUENCES', '25'))

floats = st.one_of(st.sampled_from([0.0, 1.0, -1.0, math.nan, math.inf, -math.inf, 1e30]), st.floats(width=32))
doubles = st.one_of(st.sampled_from([0.0, 1.0, math.nan, math.inf, 1e308, 5e-324, 1e6]), st.floats())
counts = st.one_of(st.integers(0, 3), st.just(2**32 - 1))
times = st.builds(Time, sec=st.sampled_from([0, 1, 100, 2**31 - 1, -(2**31)]), nanosec=st.integers(0, 2**32 - 1))
poses = st.builds(
    PoseMessage,
    position=st.builds(Point, x=doubles, y=doubles, z=doubles),
    orientation=st.one_of(st.just(Quaternion()), st.builds(Quaternion, x=doubles, y=doubles, z=doubles, w=doubles)),
)
samples = st.builds(
    DeviceSample, device_stamp=times, tracked=st.booleans(), engaged=st.booleans(), clutch_epoch=counts,
    has_pose=st.booleans(), pose=poses, axes=st.lists(floats, max_size=70), buttons=counts,
    press_counts=st.lists(counts, max_size=70), gripper=floats, reference=st.integers(0, 255),
    heading=st.one_of(st.just(0.0), floats), scale=st.one_of(st.just(1.0), floats),
)  # fmt: skip
MAPPERS = {
    'keyboard': (key_sample, lambda next_epoch: KeyboardMapper(KeyboardRates(), next_epoch)),
    'gamepad': (rate_sample, FreshPressMapper.around(lambda n: RateMapper(GamepadParameters().settings(AXES), n))),
} | {
    f'phone, {smoothing}': (
        pose_sample, FreshPressMapper.around(PoseDeviceParameters(smoothing=smoothing).make_mapper),
    )
    for smoothing in ('none', 'one_euro', 'fixed_lag')
}  # fmt: skip


def answer(command):
    """A host that follows; its target is where the command wants it, or stands for want of a pose."""
    return Feedback(
        clutch_epoch=command.clutch_epoch, command=Pose(), measured=Pose(), anchor=Pose(),
        target=command.pose if np.isfinite(command.pose.position).all() else Pose(), gripper_target=1.0, holding=False,
    )  # fmt: skip


@pytest.mark.parametrize('device', MAPPERS)
@settings(max_examples=SEQUENCES, deadline=None)
@given(sequence=st.lists(samples, min_size=1, max_size=10))
def test_no_sequence_of_samples_raises_or_makes_a_command_that_is_none(device, sequence):
    read, make_mapper = MAPPERS[device]
    mapper = make_mapper(itertools.count(1).__next__)
    feedback = None
    for sample in sequence:
        if defect_of(sample):
            continue
        taken = read(sample)
        mapper.listens(taken)
        command = mapper.update(taken, feedback)
        if command is not None:
            pose_message(command.pose)
            assert 0 <= command.clutch_epoch < 2**32
            feedback = answer(command)
