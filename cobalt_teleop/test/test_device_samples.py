"""A page's clock is believed only as far as it makes sense."""

import math

import pytest

from cobalt_teleop.bridge.operators.device_samples import on_host_clock

NOW_NS = 1_796_036_310_000_000_000
MS = 1_000_000


@pytest.mark.parametrize(
    ('age_ms', 'offset_ms', 'expected_age_ms'),
    [
        (20, 0.0, 20),
        (20, 5.0, 15),
        (3_600_020, 3_600_000.0, 20),
        (20, 30.0, 0),
        (20, -9e9, 0),
        (20, math.nan, 0),
        (5000, 0.0, 0),
    ],
)
def test_a_sample_is_stamped_on_the_hosts_clock(age_ms, offset_ms, expected_age_ms):
    stamp_ns = on_host_clock(NOW_NS - age_ms * MS, offset_ms, NOW_NS)
    assert stamp_ns == NOW_NS - expected_age_ms * MS
