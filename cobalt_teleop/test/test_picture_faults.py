"""What is wrong with a camera is told once, and its end too."""

import itertools

from cobalt_teleop.video.capture_time import CaptureTime
from cobalt_teleop.video.picture_faults import PictureFaults

ARRIVAL = 1_800_000_000_000_000_000


def made():
    told = []
    return PictureFaults(lambda text, good: told.append((text, good))), told


def test_a_fault_is_told_once_however_long_it_lasts():
    faults, told = made()
    for tenth in range(1000):
        faults.wrong('broken', tenth / 10)
    assert told == [('broken', False)]


def test_good_pictures_end_it_and_it_may_be_told_again():
    faults, told = made()
    faults.wrong('broken', 0.0)
    for tenth in range(1, 200):
        faults.good(tenth / 10)
    faults.wrong('broken', 20.0)
    assert told == [('broken', False), ('pictures are good again', True), ('broken', False)]


def test_one_good_picture_among_bad_ones_ends_nothing():
    faults, told = made()
    for tenth in range(300):
        (faults.good if tenth % 5 == 0 else faults.wrong)(*(() if tenth % 5 == 0 else ('broken',)), tenth / 10)
    assert told == [('broken', False)]


def test_a_camera_that_changes_its_mind_does_not_fill_the_log():
    faults, told = made()
    for tenth in range(600):
        faults.wrong(f'size {tenth}', tenth / 10)
    assert len(told) <= 6


def test_an_end_is_told_only_of_what_was_told():
    faults, told = made()
    faults.wrong('first', 0.0)
    faults.good(1.0)
    faults.good(2.5)
    faults.wrong('second', 3.0)
    faults.good(4.0)
    faults.good(5.5)
    assert [text for text, _ in told] == ['first', 'pictures are good again']


def test_good_stamps_are_kept():
    told = []
    times = CaptureTime(told.append)
    assert [times.of(ARRIVAL + at, ARRIVAL + at + 30) for at in (0, 50, 100)] == [ARRIVAL, ARRIVAL + 50, ARRIVAL + 100]
    assert told == []


def test_stamps_that_say_nothing_give_way_to_the_arrival_and_are_told_once():
    for header in (0, 12_000_000_000, ARRIVAL + 3600 * 10**9):
        told = []
        times = CaptureTime(told.append)
        assert [times.of(header, ARRIVAL + at) for at in (0, 50, 100)] == [ARRIVAL, ARRIVAL + 50, ARRIVAL + 100]
        assert len(told) == 1


def test_stamps_always_rise():
    times = CaptureTime(lambda text: None)
    stamps = [times.of(ARRIVAL + at, ARRIVAL + at) for at in (0, 50, 50, 40, 60, 0)]
    assert all(later > earlier for earlier, later in itertools.pairwise(stamps))
