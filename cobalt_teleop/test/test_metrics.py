"""What Prometheus may ask."""

import math
from types import SimpleNamespace

import pytest
from prometheus_client.parser import text_string_to_metric_families

from cobalt_teleop.bridge.door.guest import Role
from cobalt_teleop.bridge.metrics import MAX_WORKCELLS, OTHERS, REASONS, Metrics
from cobalt_teleop.bridge.operators.sample_gate import LinkCounts
from cobalt_teleop.bridge.wire.page_messages import CameraReport, PageMessage


def camera(**fields):
    values = {'name': 'front', 'fps': 20.0, 'frame_age_ms': 40.0, 'kbit_s': 300.0, 'dropped': 0, 'freezes': 0}
    return CameraReport(**{**values, 'shown_width': 640, **fields})


def report(*cameras, rtt_ms=12.0):
    return PageMessage('stats', {'rtt_ms': rtt_ms, 'loss_down': 0.0, 'cameras': cameras})


def person(role=Role.OPERATOR, lease_id='', video=('units', 'h264'), told=None):
    return SimpleNamespace(connected=True, role=role, lease_id=lease_id, video=video, report=told)


def room(number):
    return SimpleNamespace(
        workcell_id=f'env_{number}',
        frames_received={'front': 10, 'wrist': 5},
        last_tick=SimpleNamespace(missed=2, duration_s=0.012),
    )


def here(*sessions, line=(), rooms=()):
    return SimpleNamespace(sessions=sessions, line=line, rooms=list(rooms))


def values(metrics):
    """Returns every sample by its name and its labels' values, in the order of the labels' names."""
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(metrics.text().decode())
        for sample in family.samples
    }


def test_it_tells_who_is_here_and_how_video_reaches_them():
    metrics = Metrics()
    away = person()
    away.connected = False
    metrics.read_from(
        here(
            person(lease_id='L', told=report(camera(), camera(name='wrist', kbit_s=200.0))),
            person(Role.SPECTATOR, video=('track', 'vp8')),
            away,
            line=('a', 'b'),
            rooms=[room(0)],
        )
    )
    found = values(metrics)
    assert [found['cobalt_people', role.value] for role in Role] == [1, 1, 0]
    assert (found[('cobalt_drivers',)], found[('cobalt_waiting',)]) == (1, 2)
    assert (found['cobalt_viewers', 'h264', 'units'], found['cobalt_viewers', 'vp8', 'track']) == (1, 1)
    assert found['cobalt_video_bits_per_second', 'units'] == 500_000
    assert found['cobalt_ticks_missed_total', 'env_0'] == 2
    assert found['cobalt_tick_seconds', 'env_0'] == pytest.approx(0.012)
    assert found['cobalt_frames_received_total', 'env_0'] == 15


def test_it_counts_what_happens_between_two_scrapes():
    metrics = Metrics()
    first = report(camera(dropped=3, freezes=1))
    metrics.note_report('units', None, first)
    metrics.note_report('units', first, report(camera(dropped=5, freezes=1, frame_age_ms=math.nan), rtt_ms=math.nan))
    metrics.note_report('units', report(camera(dropped=5)), report(camera(dropped=0)))
    metrics.note_samples(LinkCounts(received=20, lost=1, jitter_ms=0.0))
    metrics.note_frame(0.03)
    for reason in REASONS:
        metrics.note_refusal(reason)
    found = values(metrics)
    assert found['cobalt_video_frames_dropped_total', 'units'] == 2, 'a page counts from when it opened'
    assert found['cobalt_frame_age_seconds_count', 'units'] == 2, 'what is not known is not counted'
    assert found['cobalt_frame_age_seconds_bucket', '0.04', 'units'] == 2
    assert found[('cobalt_round_trip_seconds_count',)] == 2
    assert found['cobalt_device_samples_total', 'lost'] == 1
    assert found[('cobalt_capture_to_bridge_seconds_count',)] == 1
    assert [found['cobalt_sessions_refused_total', reason] for reason in REASONS] == [1] * len(REASONS)


def test_labels_are_bounded():
    metrics = Metrics()
    metrics.read_from(here(rooms=[room(number) for number in range(MAX_WORKCELLS + 50)]))
    names = [key[1] for key in values(metrics) if key[0] == 'cobalt_ticks_missed_total']
    assert len(names) == MAX_WORKCELLS + 1
    assert values(metrics)['cobalt_ticks_missed_total', OTHERS] == 100
