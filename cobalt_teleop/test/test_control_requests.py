"""Who may take control: by the line, also by asking for what its holder gives back at that moment."""

import asyncio
from types import SimpleNamespace

import pytest

from cobalt_interfaces.msg import ControlState
from cobalt_teleop.bridge.host_services import RefusedError, ServiceError
from cobalt_teleop.bridge.operators.control_requests import ControlRequests
from cobalt_teleop.ros.stamps import now_ns, to_stamp

LINE = 'env_0 is kept for Bo: others wait in line; get in line too'


class Person:
    session_id, operator, can_see = 'mal', 'Mal', True

    def __init__(self, *, free, objection=LINE):
        self.room = SimpleNamespace(workcell_id='env_0', free=free, tell_control=lambda: None)
        self._objection = objection

    def objection(self):
        return self._objection

    def on_taken(self):
        pass


def ask(person, *, held_at_host):
    """Returns what the host was asked for, what the person heard, and his lease, after he has asked for control."""
    calls, lines = [], []

    async def call(service, **fields):
        calls.append(service)
        if service == 'AcquireControl' and held_at_host:
            raise RefusedError('Ada holds control. They have been asked to hand over.', SimpleNamespace(holder='Ada'))
        return SimpleNamespace(lease_id='L1')

    requests = ControlRequests(person, call, lines.append)
    try:
        asyncio.run(requests.acquire(True))
        heard = ''
    except ServiceError as error:
        heard = str(error)
    return calls, heard, requests


def test_who_asks_for_what_is_free_goes_by_the_line():
    calls, heard, requests = ask(Person(free=True), held_at_host=False)
    assert (calls, heard, requests.asks) == ([], LINE, False)


def test_who_asks_a_holder_leaves_a_request_also_while_others_wait():
    calls, heard, requests = ask(Person(free=False), held_at_host=True)
    assert calls == ['AcquireControl'] and not heard and requests.asks


def test_what_becomes_free_meanwhile_is_given_back_to_the_line():
    calls, heard, requests = ask(Person(free=False), held_at_host=False)
    assert calls == ['AcquireControl', 'ReleaseControl'] and heard == LINE
    assert not requests.lease_id and not requests.asks


@pytest.mark.parametrize('free', [True, False])
def test_without_a_line_who_asks_gets_what_is_free(free):
    calls, heard, requests = ask(Person(free=free, objection=''), held_at_host=False)
    assert (calls, heard, requests.lease_id) == (['AcquireControl'], '', 'L1')


def held_by(session):
    state = ControlState(lease_id='L1', sessions=[session])
    state.header.stamp = to_stamp(now_ns())
    return state


def test_what_the_host_told_before_it_took_control_back_does_not_take_it_again():
    told = []

    async def call(service, **fields):
        if service == 'ReleaseControl':
            told.append(held_by('mal'))
            assert not requests.on_control(told[0])
        return SimpleNamespace(lease_id='L1')

    requests = ControlRequests(Person(free=True, objection=''), call, lambda line: None)

    async def take_and_give_back():
        await requests.acquire(False)
        await requests.release()

    asyncio.run(take_and_give_back())
    assert told and not requests.on_control(told[0])
    assert requests.on_control(held_by('mal')), "what an earlier run of the bridge took is this session's"
