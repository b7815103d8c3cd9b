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

    def say(self, source, epoch=None, refusal=HoldReason.NONE):
        """Says that a press goes on, or that none does; returns the source that is heard."""
        message = TeleopCommand(source=source, engaged=epoch is not None, clutch_epoch=epoch or 0, tracked=True)
        message.header.stamp = to_stamp(now_ns())
        gid = f'{source}{self.publishers.get(source, 0)}'.encode()
        publisher = {'data': gid, 'implementation_identifier': 'rmw_fastrtps_cpp'}
        self.topic.messages.append((message, {'publisher_gid': publisher, 'received_timestamp': now_ns()}))
        motion = self.inbox.take(lambda lease, source, gid: refusal)
        return motion and (motion.source, motion.clutch_epoch if motion.engaged else None)


@pytest.fixture
def devices():
    return Devices()


def test_a_press_that_waited_for_its_turn_is_not_heard_under_the_new_number_of_its_restarted_node(devices):
    devices.say('phone')
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
    devices.say('vr')
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
