"""Units of video on their way to one page: fragments, repairs, and never a queue that grows."""

import math

import pytest

from cobalt_teleop.bridge.media.encoded_packet import encoded_packet
from cobalt_teleop.bridge.media.sent_frames import SentFrames
from cobalt_teleop.bridge.media.video_units import (
    FRAGMENT_BYTES,
    HEADER,
    KEPT_UNITS,
    MAX_WAIT_S,
    UnitSender,
    fragments_of,
)

KEY = b'\0\0\0\1\x67' + bytes(range(256)) * 20
DELTA = b'\0\0\0\1\x41delta'


class Viewer:
    """Stands where the channel would: keeps what was sent, and is as full as it is told to be."""

    def __init__(self):
        self.messages = []
        self.asked = 0
        self.buffered = 0
        self.now_s = 100.0
        self.sent = SentFrames()
        self.sender = UnitSender(self.messages.append, lambda: self.buffered, self.ask, self.sent, lambda: self.now_s)

    def ask(self):
        self.asked += 1

    def units(self):
        return sorted({HEADER.unpack_from(message)[2] for message in self.messages})


def frame(data, number):
    return encoded_packet(data, number * 50_000_000)


@pytest.fixture
def viewer():
    made = Viewer()
    made.sender.open()
    return made


def test_fragments_hold_the_whole_unit_in_packets_that_fit():
    fragments = fragments_of(7, frame(KEY, 3), 155_500_000)
    assert len(fragments) == math.ceil(len(KEY) / FRAGMENT_BYTES) > 1
    assert max(map(len, fragments)) <= 1160, 'what aiortc puts into one packet'
    assert b''.join(fragment[HEADER.size :] for fragment in fragments) == KEY
    for index, fragment in enumerate(fragments):
        assert HEADER.unpack_from(fragment) == (150.0, 5.5, 7, index, len(fragments), 1)


def test_it_asks_for_a_key_frame_and_begins_with_it(viewer):
    assert viewer.asked == 1
    viewer.sender.push(frame(DELTA, 1))
    assert not viewer.messages
    viewer.sender.push(frame(KEY, 2))
    viewer.sender.push(frame(DELTA, 3))
    assert viewer.units() == [1, 2]
    assert viewer.sent.stamp_of(2) == 150_000_000 == viewer.sent.newest_ns


def test_nothing_is_sent_or_kept_before_the_channel_is_open():
    viewer = Viewer()
    viewer.sender.push(frame(KEY, 1))
    assert not viewer.messages and not viewer.asked


def test_a_missing_fragment_is_sent_again_alone_and_a_unit_whole(viewer):
    viewer.sender.push(frame(KEY, 1))
    first = list(viewer.messages)
    viewer.messages.clear()
    viewer.sender.send_again(1, [2])
    assert viewer.messages == [first[2]]
    viewer.messages.clear()
    viewer.sender.send_again(1, [])
    assert viewer.messages == first
    viewer.messages.clear()
    viewer.sender.send_again(1, [200])
    viewer.sender.send_again(99, [])
    assert not viewer.messages, 'what never was cannot be sent again'


def test_only_the_newest_units_are_kept(viewer):
    viewer.sender.push(frame(KEY, 0))
    for number in range(1, KEPT_UNITS + 1):
        viewer.sender.push(frame(DELTA, number))
    viewer.messages.clear()
    viewer.sender.send_again(1, [])
    assert not viewer.messages
    viewer.sender.send_again(2, [])
    assert viewer.messages


def test_a_full_channel_skips_to_the_next_key_frame_and_leaves_no_gap_in_the_numbers(viewer):
    viewer.sender.push(frame(KEY, 0))
    viewer.buffered = 1
    viewer.now_s += MAX_WAIT_S + 0.01
    for number in range(1, 5):
        viewer.sender.push(frame(DELTA, number))
    viewer.sender.send_again(1, [])
    assert viewer.units() == [1] and viewer.sender.overflows == 1
    viewer.buffered = 0
    viewer.sender.push(frame(DELTA, 5))
    assert viewer.units() == [1], 'a frame whose predecessor was left out is of no use'
    viewer.sender.push(frame(KEY, 6))
    viewer.sender.push(frame(DELTA, 7))
    assert viewer.units() == [1, 2, 3]


def test_a_large_key_frame_on_its_way_is_no_full_channel(viewer):
    viewer.sender.push(frame(KEY * 20, 0))
    viewer.buffered = len(KEY) * 15
    for number in range(1, 4):
        viewer.now_s += 0.05
        viewer.sender.push(frame(DELTA, number))
    assert viewer.units() == [1, 2, 3, 4] and not viewer.sender.overflows


@pytest.mark.parametrize('share', [0.5, 0.1])
def test_over_a_link_that_is_too_slow_the_delay_does_not_grow(viewer, share):
    """The link carries a share of the video's bytes; what arrives is young, however long it lasts."""
    waiting, ages, room = [], [], 0.0
    for number in range(1, 600):
        viewer.now_s += 0.05
        before = len(viewer.messages)
        data, viewer.asked = KEY if viewer.asked else DELTA * 100, 0
        viewer.sender.push(frame(data, number))
        waiting += [(message, viewer.now_s) for message in viewer.messages[before:]]
        room = min(0.0, room) + share * len(DELTA) * 100
        while waiting and room > 0:
            message, pushed_s = waiting.pop(0)
            room -= len(message)
            ages.append(viewer.now_s - pushed_s)
        viewer.buffered = sum(len(message) for message, _ in waiting)
    assert viewer.sender.overflows > 3
    key_frame_s = 0.05 * len(KEY) / (share * len(DELTA) * 100)
    assert max(ages[len(ages) // 2 :]) < 2 * (MAX_WAIT_S + key_frame_s), 'no older at the end than at the beginning'


def test_a_page_that_gave_a_unit_up_gets_the_next_key_frame_and_cannot_ask_without_end(viewer):
    viewer.sender.push(frame(KEY, 0))
    for _ in range(50):
        viewer.sender.skip_to_key_frame()
    assert viewer.asked == 1, 'asked at the opening, a moment ago'
    viewer.sender.push(frame(DELTA, 1))
    viewer.sender.push(frame(KEY, 2))
    assert viewer.units() == [1, 2]


def test_a_closed_channel_takes_nothing(viewer):
    viewer.sender.push(frame(KEY, 0))
    viewer.sender.close()
    viewer.sender.push(frame(KEY, 1))
    viewer.sender.send_again(1, [])
    assert viewer.units() == [1] and len(viewer.messages) == len(fragments_of(1, frame(KEY, 0), 0))
