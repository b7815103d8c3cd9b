import pytest

from cobalt_teleop.core.command import HoldReason
from cobalt_teleop.core.lease import LeaseDesk, LeaseRefusedError


def held():
    desk = LeaseDesk(duration_s=10.0)
    desk.acquire(session='s1', operator='Ada', takeover=False, lease_id='L1', now_s=0.0)
    return desk


def test_the_second_is_refused_and_told_who_holds():
    with pytest.raises(LeaseRefusedError, match='Ada holds control'):
        held().acquire(session='s2', operator='Bo', takeover=False, lease_id='L2', now_s=1.0)


def test_the_same_session_gets_its_lease_again():
    again = held().acquire(session='s1', operator='Ada', takeover=False, lease_id='L2', now_s=1.0)
    assert again.lease_id == 'L1' and again.expires_s == 11.0


def test_the_holders_own_session_may_bring_a_new_name():
    desk = held()
    assert desk.acquire(session='s1', operator='', takeover=False, lease_id='L2', now_s=1.0).holder == 'Ada'
    assert desk.acquire(session='s1', operator='Eve', takeover=False, lease_id='L2', now_s=2.0).holder == 'Eve'


def test_a_request_is_left_with_the_holder_and_a_transfer_grants_it():
    desk = held()
    with pytest.raises(LeaseRefusedError):
        desk.acquire(session='s2', operator='Bo', takeover=True, lease_id='L2', now_s=1.0)
    assert desk.requested_by == 'Bo'
    assert desk.transfer(held='L1', session='s2', operator='Bo', lease_id='L2', now_s=2.0).holder == 'Bo'
    assert desk.requested_by == ''
    with pytest.raises(LeaseRefusedError, match='Bo holds control'):
        desk.release('L1', 3.0)


def test_use_renews_and_silence_ends_it():
    desk = held()
    assert desk.admit('arm', 'L1', 'keyboard', b'a', 9.0) is HoldReason.NONE
    assert desk.current(18.0) is not None
    assert desk.current(19.0) is None
    assert desk.admit('arm', 'L1', 'keyboard', b'a', 19.0) is HoldReason.NO_LEASE


def test_a_foreign_lease_and_a_second_publisher_are_refused():
    desk = held()
    assert desk.admit('arm', 'L9', 'keyboard', b'a', 1.0) is HoldReason.FOREIGN_LEASE
    assert desk.admit('arm', 'L1', 'keyboard', b'a', 1.0) is HoldReason.NONE
    assert desk.admit('arm', 'L1', 'keyboard', b'b', 1.0) is HoldReason.FOREIGN_PUBLISHER
    assert desk.admit('arm', 'L1', 'hand', b'b', 1.0) is HoldReason.FOREIGN_PUBLISHER
    assert desk.admit('left', 'L1', 'hand', b'b', 1.0) is HoldReason.NONE


def test_a_lease_may_name_several_devices_and_each_is_bound_to_its_publisher():
    desk = LeaseDesk()
    named = {'session': 's1', 'operator': 'Ada', 'takeover': False, 'lease_id': 'L1', 'now_s': 0.0}
    desk.acquire(**named, sources=('keyboard', 'phone'))
    assert desk.admit('arm', 'L1', 'phone', b'p', 1.0) is HoldReason.NONE
    assert desk.admit('arm', 'L1', 'keyboard', b'k', 1.0) is HoldReason.NONE
    assert desk.admit('arm', 'L1', 'phone', b'k', 1.0) is HoldReason.FOREIGN_PUBLISHER
    assert desk.admit('arm', 'L1', 'hand', b'h', 1.0) is HoldReason.FOREIGN_PUBLISHER


def test_a_policy_is_no_device_of_the_holder():
    desk = LeaseDesk()
    named = {'session': 's1', 'operator': 'Ada', 'takeover': False, 'lease_id': 'L1', 'now_s': 0.0}
    desk.acquire(**named, sources=('keyboard',))
    assert desk.admit('policy', 'L1', 'act', b'p', 1.0, of_person=False) is HoldReason.NONE
    assert desk.admit('policy', 'L1', 'other', b'q', 1.0, of_person=False) is HoldReason.FOREIGN_PUBLISHER


def test_where_the_middleware_names_no_publisher_the_source_must_do():
    desk = held()
    assert desk.admit('arm', 'L1', 'keyboard', None, 1.0) is HoldReason.NONE
    assert desk.admit('arm', 'L1', 'hand', None, 1.0) is HoldReason.FOREIGN_PUBLISHER


def test_a_session_needs_a_name():
    with pytest.raises(LeaseRefusedError, match='session_id is empty'):
        LeaseDesk().acquire(session='', operator='Ada', takeover=False, lease_id='L1', now_s=0.0)
