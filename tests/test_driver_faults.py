"""An arm that is reached as hardware is: each fault in motion ends in a hold.

`benchmarks/inject_faults.py` does the same, hundreds of times and with all kinds of faults.
"""

import pytest
from driver_faults import DrivenArm
from running_stack import free_domain


@pytest.fixture(scope='module')
def arm():
    arm = DrivenArm(free_domain())
    arm.take_control()
    yield arm
    arm.close()


@pytest.mark.parametrize('kind', ['NaN targets', 'joint fault', 'encoder jump'])
def test_a_fault_in_motion_ends_in_a_hold_and_a_person_ends_the_hold(arm, kind):
    assert arm.suffer(kind).faults == []
