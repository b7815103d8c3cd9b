"""Whatever is asked, in whatever order, no limit is broken and nothing jumps at engage.

The environment variable COBALT_GUARD_SEQUENCES sets how many sequences are tried with each arm.
"""

import os

import pytest
from guard_sequences import EVENTS, STARTS, run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

_SEQUENCES = int(os.environ.get('COBALT_GUARD_SEQUENCES', '0'))


def _settings(usual):
    return settings(
        max_examples=_SEQUENCES or usual, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
    )


@pytest.mark.timeout(7200 if _SEQUENCES else 180)
@_settings(250)
@given(STARTS, EVENTS, st.booleans())
def test_a_gantry_whose_tool_is_slower_than_its_joints(start, events, late):
    run('gantry', start, events, late=late)


@pytest.mark.timeout(7200 if _SEQUENCES else 180)
@_settings(250)
@given(STARTS, EVENTS, st.booleans())
def test_a_gantry_whose_joints_are_slower_than_its_tool(start, events, late):
    run('slow joints', start, events, late=late)


@pytest.mark.timeout(7200 if _SEQUENCES else 180)
@_settings(100)
@given(STARTS, EVENTS, st.booleans())
def test_the_panda(start, events, late):
    run('panda', start, events, late=late)
