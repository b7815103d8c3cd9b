"""Whose press counts, when devices come, go, and come again."""

import pytest

from cobalt_interfaces.msg import TeleopCommand
from cobalt_teleop.core.command import HoldReason
from cobalt_teleop.ros.stamps import now_ns, to_stamp
from cobalt_teleop.workcell_host.command_inbox import CommandInbox


class Topic:
    """A subscription that gives what a test puts in."""

    def __init__(self):
        self.messages = []

    def take_all(self):
        taken, self.messages = self.messages, []
        return taken


class Devices:
    """An operator's devices, each with the publisher of its node."""

    def __init__(self):
        self.topic = Topic()
        self.inbox = CommandInbox(self.topic)
        self.publishers = {}

    def start_again(self, source):
        self.publishers[source] = self.publishers.get(source, 0) + 1

    def say(self, source, epoch=None, refusal=HoldReason.NONE, since_ns=0):
        """Says that a press goes on, or that none does; returns the source that is heard."""
        message = TeleopCommand(source=source, engaged=epoch is not None, clutch_epoch=epoch or 0, tracked=True)
        message.header.stamp, message.engaged_since = to_stamp(now_ns()), to_stamp(since_ns)
        gid = f'{source}{self.publishers.get(source, 0)}'.encode()
        publisher = {'data': gid, 'implementation_identifier': 'rmw_fastrtps_cpp'}
        self.topic.messages.append((message, {'publisher_gid': publisher, 'received_timestamp': now_ns()}))
        motion = self.inbox.take(lambda lease, source, gid: refusal)
        return motion and (motion.source, motion.clutch_epoch if motion.engaged else None)


@pytest.fixture
def devices():
    return Devices()


def test_a_press_that_waited_for_its_turn_is_not_heard_under_the_new_number_of_its_restarted_node(devices):
    assert devices.say('phone', 3) == ('phone', 3)
    assert devices.say('vr', 7) == ('phone', 3)
    for source in ('phone', 'vr'):
        devices.start_again(source)
    assert devices.say('vr', 800) == ('phone', 3)
    devices.say('phone')
    assert devices.say('vr', 800) == ('phone', None)
    assert devices.inbox.refusal is HoldReason.REENGAGE
    devices.say('vr')
    assert devices.say('vr', 801) == ('vr', 801)


def test_a_new_node_of_the_device_that_drives_is_heard_at_once(devices):
    assert devices.say('vr', 5) == ('vr', 5)
    devices.start_again('vr')
    assert devices.say('vr', 900) == ('vr', 900)


def test_a_press_after_a_restart_at_rest_is_heard_at_once(devices):
    devices.say('gamepad', 1)
    devices.say('gamepad')
    devices.start_again('gamepad')
    assert devices.say('gamepad', 600) == ('gamepad', 600)


def test_a_press_that_waited_is_refused_and_said_to_be_when_the_other_lets_go(devices):
    devices.say('phone', 3)
    assert devices.say('vr', 7) == ('phone', 3)
    assert devices.inbox.refusal is HoldReason.NONE
    devices.say('phone')
    assert devices.say('vr', 7) == ('phone', None)
    assert devices.inbox.refusal is HoldReason.REENGAGE


def test_sources_without_number_are_forgotten(devices):
    for number in range(40):
        devices.say(f'other {number}', number)
    assert len(devices.inbox.presses) == 16


@pytest.mark.parametrize('epoch', [None, 1])
def test_strangers_under_many_names_do_not_free_a_press_that_waited(devices, epoch):
    devices.say('phone', 3)
    devices.say('vr', 7)
    for number in range(1000):
        devices.say(f'stranger {number}', epoch, HoldReason.NO_LEASE)
    devices.say('phone')
    assert devices.say('vr', 7) == ('phone', None)
    assert devices.inbox.refusal is HoldReason.REENGAGE
    devices.say('vr')
    assert devices.say('vr', 8) == ('vr', 8)


SECOND_NS = 10**9


@pytest.mark.parametrize('began_s', [-60.0, -1.0, None, 60.0], ids=['long before', 'before', 'unknown', 'never'])
def test_a_press_that_was_not_seen_to_begin_and_is_older_than_the_lease_is_refused_until_it_is_made_again(
    devices, began_s
):
    devices.inbox.begin_lease(now_ns())
    since_ns = 0 if began_s is None else now_ns() + int(began_s * SECOND_NS)
    for _ in range(3):
        assert devices.say('hand', 5, since_ns=since_ns) is None
        assert devices.inbox.refusal is HoldReason.REENGAGE
    assert devices.say('hand') == ('hand', None)
    assert devices.say('hand', 6, since_ns=since_ns) == ('hand', 6)


def test_a_press_that_began_under_the_lease_is_heard_at_once(devices):
    devices.inbox.begin_lease(now_ns() - SECOND_NS)
    assert devices.say('hand', 5, since_ns=now_ns()) == ('hand', 5)


def test_a_node_that_is_started_again_brings_no_old_press_along(devices):
    lease_ns = now_ns()
    devices.inbox.begin_lease(lease_ns)
    assert devices.say('hand', 5, since_ns=now_ns()) == ('hand', 5)
    devices.start_again('hand')
    assert devices.say('hand', 900, since_ns=lease_ns - SECOND_NS) == ('hand', 5)
    assert devices.inbox.refusal is HoldReason.REENGAGE
