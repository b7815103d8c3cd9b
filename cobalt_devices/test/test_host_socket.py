"""The loop that serves a vendor's library, with an arm that notes what it is told."""

import socket
import threading
import time

import pytest
from driver_runs import until

from cobalt_devices.drivers.host_socket import (
    COMMAND,
    GRIP,
    HOLD,
    READY,
    RECOVER,
    STATE,
    STOP,
    HostSocket,
    _serve,
    message,
    numbers_of,
)
from cobalt_teleop.core.errors import CobaltError

RATE_HZ = 100.0


class Arm:
    """One joint; it notes what it is told, and may take its time."""

    def __init__(self):
        self.told, self.takes_s = [], 0.0

    def state(self):
        time.sleep(self.takes_s)
        return [0.0, 1.0, 2.0, 3.0, 0.5]

    def faults(self):
        return ()

    def servo(self, joints, velocities):
        self.told.append(joints[0])

    def grip(self, opening):
        self.told.append(f'grip {opening:g}')

    def hold(self):
        self.told.append('hold')

    def stop(self):
        self.told.append('stop')

    def recover(self):
        self.told.append('recover')

    def leave(self):
        self.told.append('leave')


@pytest.fixture
def served():
    """Starts the loop; returns the arm, the host's end, and a list for what ended the loop."""
    host, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    arm, ended = Arm(), []

    def run():
        try:
            _serve(HostSocket(other.detach()), arm, RATE_HZ)
        except (EOFError, CobaltError, OSError) as error:
            ended.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert host.recv(4096) == READY
    yield arm, host, ended
    host.close()
    thread.join(5.0)


def test_states_are_told_as_numbers(served):
    _, host, _ = served
    packet = host.recv(4096)
    assert packet[:1] == STATE and numbers_of(packet) == (0.0, 1.0, 2.0, 3.0, 0.5)


def test_set_points_after_a_stall_are_made_up_for_without_a_jump(served):
    arm, host, _ = served
    arm.takes_s = 0.15  # as a busy computer
    time.sleep(0.02)
    for step in range(20):
        host.send(message(COMMAND, [float(step), 0.0]))
    arm.takes_s = 0.0
    until(lambda: arm.told and arm.told[-1] == 19.0)
    steps = [later - earlier for earlier, later in zip(arm.told, arm.told[1:], strict=False)]
    assert max(steps) <= 2.0


@pytest.mark.parametrize(('kind', 'word'), [(HOLD, 'hold'), (STOP, 'stop'), (RECOVER, 'recover')])
def test_what_stops_the_arm_forgets_set_points_that_wait(served, kind, word):
    arm, host, _ = served
    arm.takes_s = 0.1
    time.sleep(0.02)
    for step in range(60):
        host.send(message(COMMAND, [float(step), 0.0]))
    host.send(message(kind))
    arm.takes_s = 0.0
    until(lambda: word in arm.told)
    time.sleep(0.05)
    assert arm.told[-1] == word and len(arm.told) <= 2


def test_an_arm_that_cannot_keep_up_is_told(served):
    arm, host, ended = served
    arm.takes_s = 0.2
    for step in range(60):
        host.send(message(COMMAND, [float(step), 0.0]))
    until(lambda: ended)
    assert 'lower rate_hz' in str(ended[0])


def test_a_gripper_does_not_stop_the_stream(served):
    arm, host, _ = served
    host.send(message(COMMAND, [1.0, 0.0]))
    host.send(message(GRIP, [0.25]))
    until(lambda: set(arm.told) == {1.0, 'grip 0.25'})


def test_a_host_that_goes_ends_the_loop(served):
    _, host, ended = served
    host.close()
    until(lambda: ended)
    assert isinstance(ended[0], EOFError | OSError)
