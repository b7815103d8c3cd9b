"""Latencies, tracking and link, with delays that the tests put in."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from step_rows import PERIOD_NS, START_NS, command, part, part_record, reach

from cobalt_recorder.metrics import link
from cobalt_recorder.metrics.latency import command_latency, frame_age, input_to_picture_latency
from cobalt_recorder.metrics.tracking import tracking_error, tracking_error_rotation, tracking_lag
from cobalt_teleop.core.command import NOTHING_SHOWN_NS

MS = 1_000_000


def test_one_way_latency_is_from_the_sample_to_the_action():
    record = part_record(
        [part(i, human=command(i, stamp_ns=START_NS + i * PERIOD_NS - (10 + i) * MS)) for i in range(21)]
    )
    # Applied 3 ms after the state: 13 to 33 ms.
    assert command_latency(record).value == pytest.approx(23.0)
    assert command_latency(record, 95.0).value == pytest.approx(32.0)


def test_a_command_that_stays_counts_when_it_was_new():
    commands = [command(i) for i in range(4)]
    record = part_record([part(i, human=commands[i // 5]) for i in range(20)])
    assert record.fresh.tolist() == [0, 5, 10, 15]
    # Made for the rows 0 to 3, 15 ms before their actions.
    assert command_latency(record).value == pytest.approx(np.median([15, 215, 415, 615]))


def test_the_age_of_the_picture_that_was_seen():
    record = part_record([part(i, human=command(i, shown_ns=START_NS + i * PERIOD_NS - 112 * MS)) for i in range(10)])
    assert frame_age(record).value == pytest.approx(100.0)


def test_who_sees_nothing_sees_no_old_picture():
    record = part_record([part(i, human=command(i, shown_ns=NOTHING_SHOWN_NS)) for i in range(10)])
    assert frame_age(record).reason == 'no command says which picture its operator saw'


def test_from_the_hand_to_the_picture_of_what_it_did():
    """Sampled 12 ms before its row, whose effect is the next row's state; pictures are 100 ms old when seen."""
    pictures = [max(START_NS, START_NS + (i - 2) * PERIOD_NS) for i in range(40)]
    record = part_record([part(i, human=command(i, shown_ns=pictures[i])) for i in range(40)])
    # Row i's effect is state i + 1, which is seen first in the sample of row i + 3: three periods later.
    assert input_to_picture_latency(record).value == pytest.approx(150.0)


@pytest.mark.parametrize('metric', [command_latency, frame_age, input_to_picture_latency])
@pytest.mark.parametrize('parts', [[], [part(0)], [part(i, has_human=False) for i in range(5)]])
def test_no_stamps_no_latency(metric, parts):
    found = metric(part_record(parts))
    assert math.isnan(found.value) == bool(found.reason)


def test_unset_stamps_are_no_latency():
    record = part_record([part(i, human=command(i, stamp_ns=0)) for i in range(5)])
    assert command_latency(record).reason == 'no command of a person carries a stamp'


def following(delay_s, count=61):
    """An arm that is where its target was `delay_s` ago."""
    targets = reach(count)
    times_s = np.arange(count) * 0.05
    # A target counts from 3 ms after its row's stamp.
    measured = [np.interp(times_s - delay_s, times_s + 0.003, column) for column in targets.T]
    return part_record([part(i, np.stack(measured, axis=1)[i], target=targets[i]) for i in range(count)])


@pytest.mark.parametrize('delay_s', [0.02, 0.05, 0.113, 0.25])
def test_the_lag_that_was_put_in_is_found(delay_s):
    assert tracking_lag(following(delay_s)).value == pytest.approx(delay_s * 1e3, abs=3.0)


def test_an_arm_that_does_something_else_has_no_lag():
    generator = np.random.default_rng(1)
    wild = generator.normal(size=(60, 3)).cumsum(axis=0) * 0.01
    record = part_record([part(i, wild[i], target=reach(60)[i]) for i in range(60)])
    assert tracking_lag(record).reason == 'the motion does not resemble the target'
    still = part_record([part(i) for i in range(60)])
    assert tracking_lag(still).reason == 'the target moved less than a centimetre'


def test_the_error_is_to_the_state_one_tick_later():
    exact = part_record([part(i, (0.01 * i, 0, 0), target=(0.01 * (i + 1), 0, 0)) for i in range(10)])
    assert tracking_error(exact).value == pytest.approx(0.0, abs=1e-12)
    off = part_record([part(i, (0.01 * i, 0, 0), target=(0.01 * (i + 1), 0.003, 0.004)) for i in range(10)])
    assert tracking_error(off).value == pytest.approx(0.005)
    turned = (0.0, 0.0, math.sin(0.05), math.cos(0.05))
    assert tracking_error_rotation(part_record([part(i, quat_xyzw=turned) for i in range(5)])).value == pytest.approx(
        0.1
    )


@pytest.mark.parametrize('metric', [tracking_error, tracking_error_rotation, tracking_lag])
@pytest.mark.parametrize('parts', [[], [part(0)], [part(i, (math.nan, 0, 0)) for i in range(5)]])
def test_tracking_of_nothing(metric, parts):
    found = metric(part_record(parts))
    assert math.isnan(found.value)
    assert found.reason


def stats(**changes):
    given = {
        'lease_id': 'a',
        'rtt_ms': 40.0,
        'jitter_ms': 2.0,
        'loss_up': 0.0,
        'loss_down': math.nan,
        'sample_rate_hz': 40.0,
        'cameras': [SimpleNamespace(name='front', fps=20.0, frame_age_ms=80.0, dropped=3, freezes=0)],
    }
    return SimpleNamespace(**(given | changes))


def test_only_the_holder_s_link_counts():
    assert link.link_sample(stats(lease_id='')) is None
    samples = [link.link_sample(stats(rtt_ms=rtt, loss_up=loss)) for rtt, loss in ((30, 0), (50, 0.2), (90, 0.1))]
    assert link.round_trip(samples).value == 50
    assert link.samples_lost(samples).value == pytest.approx(0.1)
    assert link.video_lost(samples).reason
    assert link.frame_rate(samples, 'front').value == 20
    assert link.freezes(samples, 'wrist').reason


def test_counters_that_begin_anew_with_a_connection():
    cameras = [
        [SimpleNamespace(name='front', fps=20.0, frame_age_ms=80.0, dropped=dropped, freezes=0)]
        for dropped in (5, 7, 7, 2, 3)
    ]
    samples = [link.link_sample(stats(cameras=one)) for one in cameras]
    assert link.frames_unshown(samples, 'front').value == 2 + 2 + 1


@pytest.mark.parametrize(
    'metric', [link.round_trip, link.network_jitter, link.samples_lost, link.video_lost, link.sample_rate]
)
def test_no_report_no_link(metric):
    assert 'nobody reported' in metric([]).reason
