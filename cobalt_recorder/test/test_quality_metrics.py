import math
from dataclasses import replace

import pytest

from cobalt_recorder.quality_metrics import CameraRecord, EpisodeRecord, Row, measure

PERIOD_NS = 50_000_000


def row(index, **changes):
    stamp_ns = 10**18 + index * PERIOD_NS
    given = Row(100 + index, stamp_ns, success=False, terminal=False, ticks_missed=7, frames={'front': stamp_ns - 5})
    return replace(given, **changes)


def episode(rows, **changes):
    stamps = [frame for one in rows for frame in one.frames.values()]
    given = {
        'outcome': 'SUCCESS',
        'judged_by_task': True,
        'control_rate_hz': 20.0,
        'first_step': 100,
        'last_step': 100 + len(rows) - 1,
        'rows': rows,
        'cameras': {'front': CameraRecord(stamps, len(stamps))},
        'dropped': {'control_step': 0},
    }
    return EpisodeRecord(**(given | changes))


def values(record):
    return {metric.name: metric.value for metric in measure(record)}


def good_rows(count=101):
    return [row(index, success=index == count - 2, terminal=index == count - 1) for index in range(count)]


def test_a_whole_episode():
    found = values(episode(good_rows()))
    assert found['duration'] == pytest.approx(5.0)
    assert found['rate'] == pytest.approx(20.0)
    assert found['success'] == found['success_seen'] == 1.0
    assert found['rows'] == 101
    assert found['frames/front'] == found['frames_referenced/front'] == 101
    zeros = ('rows_missing', 'ticks_missed', 'stamps_backwards', 'frames_missing/front', 'frames_undecodable/front')
    assert [found[name] for name in zeros] == [0.0] * 5


def test_rows_that_the_file_lacks_are_missing_though_the_rest_is_in_order():
    rows = good_rows()
    found = values(episode(rows[:50] + rows[53:], last_step=200))
    assert found['rows_missing'] == 3
    assert found['longest_gap'] == pytest.approx(200)


def test_the_last_rows_are_missed_by_what_the_host_said():
    assert values(episode(good_rows()[:-2], last_step=200))['rows_missing'] == 2


def test_missed_ticks_are_a_share():
    rows = [row(index, ticks_missed=7 + index // 10) for index in range(91)]
    assert values(episode(rows))['ticks_missed'] == pytest.approx(9 / 99)


def test_a_slow_loop_and_a_clock_that_was_set_back():
    rows = [row(index, stamp_ns=10**18 + index * PERIOD_NS * 2) for index in range(50)]
    assert values(episode(rows))['rate'] == pytest.approx(10.0)
    rows[20] = row(20, stamp_ns=rows[19].stamp_ns - 5)
    assert values(episode(rows))['stamps_backwards'] == 1


def test_frames_that_rows_refer_to_but_are_not_there_or_do_not_decode():
    rows = good_rows()
    stamps = [one.frames['front'] for one in rows][4:]
    found = values(episode(rows, cameras={'front': CameraRecord(stamps, len(stamps) - 2)}))
    assert found['frames_missing/front'] == 4
    assert found['frames_undecodable/front'] == 2


def test_success_that_only_a_person_claims():
    rows = [row(index) for index in range(30)]
    assert values(episode(rows))['success_seen'] == 0.0
    assert 'success_seen' not in values(episode(rows, judged_by_task=False))
    assert 'success_seen' not in values(episode(rows, outcome='FAILURE'))


def test_nothing_at_all_is_not_a_number_and_not_an_error():
    found = values(episode([], first_step=0, last_step=0, outcome='UNKNOWN'))
    assert math.isnan(found['success'])
    assert math.isnan(found['rate'])
    assert math.isnan(found['duration'])
    assert found['rows'] == 0
