"""Whole episodes: timing, completeness, and that nothing at all makes the metrics fail."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from step_rows import HOLD, PERIOD_NS, START_NS, command, part, row, table, time

from cobalt_recorder.metrics.catalogue import SUBJECTS, metric_names
from cobalt_recorder.metrics.measure import measure, measure_running
from cobalt_recorder.metrics.record import CameraRecord, EpisodeRecord


def frame(stamp_ns, camera='front'):
    return SimpleNamespace(camera=camera, stamp=time(stamp_ns))


def good_rows(count=101, **changes):
    return [
        row(
            index,
            success=index == count - 2,
            terminal=index == count - 1,
            frames=[frame(START_NS + index * PERIOD_NS - 5)],
            **changes,
        )
        for index in range(count)
    ]


def episode(rows, **changes):
    steps = table(rows)
    stamps = [stamp for frames in steps.frames for stamp in frames.values()]
    given = {
        'outcome': 'SUCCESS',
        'judged_by_task': True,
        'control_rate_hz': 20.0,
        'first_step': 100,
        'last_step': 100 + len(rows) - 1,
        'steps': steps,
        'cameras': {'front': CameraRecord(stamps, len(stamps))},
        'dropped': {'control_step': 0},
    }
    return EpisodeRecord(**(given | changes))


def values(record):
    return {metric.name: metric.value for metric in measure(record)}


def test_a_whole_episode():
    found = values(episode(good_rows()))
    assert found['duration'] == pytest.approx(5.0)
    assert found['rate'] == pytest.approx(20.0)
    assert found['rate_jitter'] == pytest.approx(0.0)
    assert found['success'] == found['success_seen'] == 1.0
    assert found['rows'] == found['frames/front'] == found['frames_referenced/front'] == 101
    zeros = ('rows_missing', 'ticks_missed', 'stamps_backwards', 'frames_missing/front', 'frames_undecodable/front')
    assert [found[name] for name in (*zeros, 'resets', 'dropped/control_step')] == [0.0] * 7


def test_the_catalogue_names_what_is_measured():
    found = measure(episode(good_rows()))
    assert all(metric.subject in SUBJECTS for metric in found)
    assert {metric.name.partition('/')[0] for metric in found} <= {name.removesuffix('/*') for name in metric_names()}
    assert len(metric_names()) == len(set(metric_names()))


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
    stamps = [START_NS + index * PERIOD_NS * 2 for index in range(50)]
    assert values(episode([row(i, stamp_ns=stamps[i]) for i in range(50)]))['rate'] == pytest.approx(10.0)
    stamps[10] = stamps[9]  # measured once for two ticks
    stamps[20] = stamps[19] - 5
    assert values(episode([row(i, stamp_ns=stamps[i]) for i in range(50)]))['stamps_backwards'] == 1


def test_an_uneven_loop():
    stamps = [START_NS + index * PERIOD_NS + index % 2 * 10_000_000 for index in range(51)]
    assert values(episode([row(i, stamp_ns=stamps[i]) for i in range(51)]))['rate_jitter'] == pytest.approx(10.0)


def test_a_scene_that_began_anew_and_an_arm_that_was_sent_home():
    rows = [row(index, authority=3 if 20 <= index < 30 else 1) for index in range(50)]
    rows[40].sim_time = 0.0
    assert values(episode(rows))['resets'] == 2


def test_frames_that_rows_refer_to_but_are_not_there_or_do_not_decode():
    rows = good_rows()
    stamps = [START_NS + index * PERIOD_NS - 5 for index in range(101)][4:]
    found = values(episode(rows, cameras={'front': CameraRecord(stamps, len(stamps) - 2)}))
    assert found['frames_missing/front'] == 4
    assert found['frames_undecodable/front'] == 2


def test_success_that_only_a_person_claims():
    rows = [row(index) for index in range(30)]
    assert values(episode(rows))['success_seen'] == 0.0
    assert math.isnan(values(episode(rows, judged_by_task=False))['success_seen'])
    assert math.isnan(values(episode(rows, outcome='FAILURE'))['success_seen'])


def test_two_arms_have_metrics_of_their_own():
    rows = [row(i, [part(i, (0.01 * i, 0, 0), part='left'), part(i, part='right')]) for i in range(30)]
    found = {(metric.name, metric.part): metric.value for metric in measure(episode(rows))}
    assert found['robot_path_length', 'left'] == pytest.approx(0.29)
    assert found['robot_path_length', 'right'] == 0.0
    assert found['duration', ''] == pytest.approx(29 * 0.05)


def test_a_part_that_comes_later_counts_from_then():
    rows = [row(i, []) for i in range(300)] + [row(i, [part(i, (0.01 * i, 0, 0))]) for i in range(300, 330)]
    found = values(episode(rows))
    assert found['robot_path_length'] == pytest.approx(0.29)


def test_a_window_holds_the_newest_rows():
    steps = table([row(index) for index in range(95)], newest=20)
    assert 20 <= len(steps) <= 40
    assert steps.ticks['step'][-1] == 194
    assert len(steps.frames) == len(steps.parts['arm']) == len(steps)
    assert steps.parts['arm']['human_sequence'][-1] == 95


def test_while_it_runs_there_are_no_words_on_its_end():
    names = {metric.name for metric in measure_running(episode(good_rows()))}
    assert {'rate', 'robot_path_length', 'command_latency'} <= names
    assert not names & {'success', 'rows_missing', 'frames/front'}


@pytest.mark.parametrize('rows', [[], [row()], [row(parts=[])], [row(), row()]])
@pytest.mark.parametrize('rate_hz', [20.0, math.nan, 0.0])
def test_next_to_nothing_is_not_a_number_and_not_an_error(rows, rate_hz):
    record = episode(rows, first_step=0, last_step=0, outcome='UNKNOWN', control_rate_hz=rate_hz)
    for metric in measure(record):
        assert math.isnan(metric.value) == bool(metric.reason), metric


def test_a_still_arm_is_no_error():
    found = values(episode([row(i, [part(i, authority=HOLD, has_human=False)]) for i in range(60)]))
    assert found['robot_idle_share'] == 1.0
    assert math.isnan(found['robot_sparc'])
    json.dumps(found)


numbers = st.floats(width=32) | st.sampled_from([0.0, math.nan, math.inf, -math.inf, 1e300])
triples = st.tuples(numbers, numbers, numbers)
quads = st.tuples(numbers, numbers, numbers, numbers)
stamps = st.integers(0, 2**32 * 10**9 - 1) | st.integers(START_NS - 10**9, START_NS + 10**9)


@st.composite
def any_rows(draw):
    rows = []
    for index in range(draw(st.integers(0, 12))):
        human = command(
            index,
            draw(triples),
            quat_xyzw=draw(quads),
            stamp_ns=draw(stamps),
            shown_ns=draw(stamps),
            mode=draw(st.integers(0, 255)),
            engaged=draw(st.booleans()),
            gripper=draw(numbers),
            clutch_epoch=draw(st.integers(0, 2**32 - 1)),
            sequence=draw(st.integers(0, 2**64 - 1)),
        )
        one = part(
            index,
            draw(triples),
            quat_xyzw=draw(quads),
            target=draw(triples),
            authority=draw(st.integers(0, 4)),
            limits=draw(st.integers(0, 2**32 - 1)),
            has_human=draw(st.booleans()),
            human=human,
        )
        rows.append(row(index, [one], stamp_ns=draw(stamps), step=draw(st.integers(0, 2**64 - 1))))
    return rows


@settings(max_examples=60, deadline=None)
@given(any_rows())
def test_no_numbers_make_it_fail(rows):
    for metric in measure(episode(rows, first_step=0, last_step=0)):
        assert math.isnan(metric.value) == bool(metric.reason), metric
        assert not np.isinf(metric.value), metric
