"""What viewers may ask of a camera's video."""

from types import SimpleNamespace

import pytest

from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.video.readable import readable_kbit_s
from cobalt_teleop.video.video_stream import VideoLimits
from cobalt_teleop.video.video_wishes import WISHES_LAST_S, VideoWishes

BEST = VideoLimits(2000, (640, 480))


def made():
    return VideoWishes('front', BEST, 0.0)


def asked(width=0, height=0, kbit_s=0):
    return SimpleNamespace(width=width, height=height, kbit_s=kbit_s)


def test_size_and_bit_rate_are_granted_and_what_is_not_named_stays():
    wishes = made()
    assert wishes.granted(20.0, full_size=False) == BEST
    wishes.ask(asked(320, 240, 600))
    wishes.ask(asked(kbit_s=500))
    assert wishes.granted(20.0, full_size=False) == VideoLimits(500, (320, 240))
    wishes.ask(asked(width=480))
    assert wishes.granted(20.0, full_size=False) == VideoLimits(500, (480, 480))


def test_an_episode_keeps_its_size_and_bits_enough_to_be_read():
    wishes = made()
    wishes.ask(asked(320, 240, 1))
    assert wishes.granted(20.0, full_size=True) == VideoLimits(readable_kbit_s(640, 480, 20.0), (640, 480))
    assert wishes.granted(20.0, full_size=False) == VideoLimits(readable_kbit_s(320, 240, 20.0), (320, 240))


def test_more_than_there_is_is_not_granted():
    wishes = made()
    wishes.ask(asked(kbit_s=2**31))
    assert wishes.granted(20.0, full_size=False) == BEST


@pytest.mark.parametrize(('width', 'height'), [(641, 0), (0, 481), (100, 75), (2**32 - 1, 2**32 - 1)])
def test_sizes_that_cannot_be_are_refused_with_those_that_can(width, height):
    with pytest.raises(CobaltError, match='640x480 at most'):
        made().ask(asked(width, height))


def test_wishes_end_some_time_after_the_last_viewer():
    wishes = made()
    wishes.ask(asked(320, 240))
    wishes.forget_unless_watched(True, 100.0)
    wishes.forget_unless_watched(False, 100.0 + WISHES_LAST_S - 0.1)
    assert wishes.granted(20.0, full_size=False).size_px == (320, 240), 'a page that is reloaded'
    wishes.forget_unless_watched(False, 100.0 + WISHES_LAST_S + 0.1)
    assert wishes.granted(20.0, full_size=False) == BEST
