"""What is told while an episode runs is what its file will tell."""

import math

import pytest
from rclpy.serialization import serialize_message

from cobalt_interfaces.msg import CameraLink, ControlStep, EpisodeState, LinkStats, PartStep
from cobalt_recorder.bag_thread import RawMessage
from cobalt_recorder.live_quality import LiveQuality

PERIOD_NS = 50_000_000


def message(topic, content):
    data = content if isinstance(content, bytes) else bytes(serialize_message(content))
    return RawMessage(f'/cell_0/{topic}', data, 0, 0, 0)


def step(index, episode_id='one', phase=EpisodeState.PHASE_RUNNING):
    part = PartStep(part='arm', authority=ControlStep.AUTHORITY_HUMAN, has_human=True)
    part.pose.position.x = 0.01 * index
    part.human.engaged = part.human.tracked = True
    part.human.sequence, part.human.clutch_epoch = index, 1
    row = ControlStep(episode_id=episode_id, phase=phase, step=index, parts=[part])
    row.header.stamp.sec, row.header.stamp.nanosec = divmod(10**18 + index * PERIOD_NS, 10**9)
    row.applied_stamp = row.header.stamp
    return message('control_step', row)


def values(live):
    return {metric.name: metric.value for metric in live.measure()}


def test_rows_and_links_of_the_episode_count():
    live = LiveQuality('cell_0', 'one', 20.0)
    assert live.measure() == []
    live.note(step(0, episode_id='another'))
    live.note(step(0, phase=EpisodeState.PHASE_PREPARING))
    for index in range(41):
        live.note(step(index))
        live.note(message('episode', b'not looked at'))
    camera = CameraLink(name='front', fps=19.0, dropped=4, freezes=1)
    live.note(message('link', LinkStats(lease_id='mine', rtt_ms=30.0, cameras=[camera])))
    live.note(message('link', LinkStats(rtt_ms=900.0)))
    found = values(live)
    assert found['duration'] == pytest.approx(2.0)
    assert found['robot_path_length'] == pytest.approx(0.4)
    assert found['robot_mean_speed'] == pytest.approx(0.2)
    assert found['round_trip'] == 30.0
    assert found['frame_rate/front'] == 19.0


def test_of_a_long_episode_the_newest_rows_count():
    live = LiveQuality('cell_0', 'one', 20.0)
    for index in range(450):
        live.note(step(index))
    assert 200 * 0.05 - 0.06 <= values(live)['duration'] <= 400 * 0.05


def test_bytes_that_make_no_sense_end_no_recording():
    live = LiveQuality('cell_0', 'one', 20.0)
    live.note(step(0))
    live.note(message('control_step', b'\x00\x01\x00\x00nonsense'))
    live.note(step(1))
    assert math.isnan(values(live)['rate'])
