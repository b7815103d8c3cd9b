"""Who gets control that is handed over, and who may release a stop: with sessions of no page, and no host."""

import asyncio
from types import SimpleNamespace

import pytest
from std_msgs.msg import Header

from cobalt_interfaces.msg import ControlState, WorkcellInfo
from cobalt_teleop.bridge.door.guest import Guest, Role
from cobalt_teleop.bridge.host_services import ServiceError
from cobalt_teleop.bridge.metrics import Metrics
from cobalt_teleop.bridge.network.media_way import MediaWay
from cobalt_teleop.bridge.operators import control_requests
from cobalt_teleop.bridge.operators.reception import SessionRules
from cobalt_teleop.bridge.operators.room import Room
from cobalt_teleop.bridge.operators.session import Session
from cobalt_teleop.bridge.wire.page_messages import PageMessage
from cobalt_teleop.core import topics
from cobalt_teleop.ros.stamps import now_ns, to_stamp

HELLO = PageMessage('hello', {'codecs': ('h264',), 'road': 'track', 'live': (0, 0)})
RULES = SessionRules(
    service_timeout_s=1.0,
    episode_timeout_s=1.0,
    require_recording=False,
    adaptive_video=False,
    way=MediaWay(),
    messages_per_s=50.0,
)


class Socket:
    closed = False

    async def send_str(self, text):
        pass

    async def close(self, **_):
        self.closed = True


class Host:
    """One workcell's host: keeps who has control, and notes what it is asked."""

    def __init__(self):
        self.calls = []
        self.while_it_answers = lambda: None

    def listen(self, info, on_message):
        pass

    def services(self, host_id):
        return self

    async def call(self, service, timeout_s, **fields):
        self.calls.append((service, fields))
        self.while_it_answers()
        if service == 'AcquireControl' and fields['takeover']:
            raise ServiceError('somebody holds control')
        return SimpleNamespace(lease_id=f'lease of {fields.get("session_id", "")}')

    def asked(self, service):
        return [fields for called, fields in self.calls if called == service]


class Desk:
    """A workcell, and its people."""

    def __init__(self):
        self.host = Host()
        self.room = Room(WorkcellInfo(workcell_id='env_0'), self.host, lambda: None, lambda age_s: None)
        self.metrics = Metrics()
        self.sockets = {}

    def objection(self, session):
        return ''

    def took_control(self, session):
        pass

    gave_control = took_control

    async def comes(self, name, role=Role.OPERATOR, session=None):
        session = session or Session(name, name, RULES, self, lambda line: None)
        session.operator, session.guest, session.room = name, Guest(role=role), self.room
        self.sockets[session] = Socket()
        await session.attach(self.sockets[session], HELLO)
        if session not in self.room.visitors:
            self.room._visitors.append(session)
        return session

    async def asks(self, session):
        session.on_signal('{"type": "acquire", "ask": true}')
        await settled()
        assert session.asks

    async def says(self, session, text):
        session.on_signal(f'{{"type": "{text}"}}')
        await settled()

    def tells(self, **fields):
        self.room.on_message(topics.CONTROL_STATE, ControlState(**fields))


async def settled():
    for _ in range(20):
        await asyncio.sleep(0)


async def demoted(desk, bo):
    await desk.comes('Bo', Role.SPECTATOR, bo)


async def gone(desk, bo):
    await bo.detach(desk.sockets[bo])


async def sent_away(desk, bo):
    await bo.send_away('Go.')


@pytest.mark.parametrize('happens', [demoted, gone, sent_away])
def test_control_is_handed_to_nobody_who_is_gone_or_may_not_drive_any_more(happens):
    async def scenario():
        desk = Desk()
        ada, bo = await desk.comes('Ada'), await desk.comes('Bo')
        assert ada.take_lease('lease of Ada', desk.room)
        await desk.asks(bo)
        await happens(desk, bo)
        assert not bo.asks
        await desk.says(ada, 'hand_over')
        assert not desk.host.asked('TransferControl') and not bo.lease_id
        assert desk.host.asked('ReleaseControl') == [{'workcell_id': 'env_0', 'lease_id': 'lease of Ada'}]

    asyncio.run(scenario())


def test_who_goes_while_control_is_on_its_way_to_him_does_not_keep_it():
    async def scenario():
        desk = Desk()
        ada, bo = await desk.comes('Ada'), await desk.comes('Bo')
        ada.take_lease('lease of Ada', desk.room)
        await desk.asks(bo)
        desk.host.while_it_answers = lambda: setattr(bo, 'guest', Guest(role=Role.SPECTATOR))
        await desk.says(ada, 'hand_over')
        assert not bo.lease_id and not ada.lease_id
        assert desk.host.asked('ReleaseControl') == [{'workcell_id': 'env_0', 'lease_id': 'lease of Bo'}]

    asyncio.run(scenario())


def test_a_host_that_has_begun_anew_gives_control_to_nobody_without_a_press(monkeypatch):
    monkeypatch.setattr(control_requests, 'RENEW_PERIOD_S', -1.0)

    async def scenario():
        desk = Desk()
        ada = await desk.comes('Ada')
        ada.take_lease('lease of an earlier run', desk.room)

        def restarted():
            desk.host.while_it_answers = lambda: None
            header = Header(stamp=to_stamp(now_ns()))
            desk.tells(header=header, lease_id='lease of Ada', holder='Ada', sessions=[ada.session_id])

        desk.host.while_it_answers = restarted
        await ada._control.each_second()
        await settled()
        assert not ada.lease_id and len(desk.host.asked('AcquireControl')) == 1
        assert desk.host.asked('ReleaseControl') == [{'workcell_id': 'env_0', 'lease_id': 'lease of Ada'}]

    asyncio.run(scenario())


def test_who_asks_and_waits_is_handed_control():
    async def scenario():
        desk = Desk()
        ada, bo = await desk.comes('Ada'), await desk.comes('Bo')
        ada.take_lease('lease of Ada', desk.room)
        await desk.asks(bo)
        await desk.says(ada, 'hand_over')
        assert bo.lease_id == 'lease of Bo' and not bo.asks

    asyncio.run(scenario())


def test_a_supervisors_stop_is_released_by_a_supervisor_alone():
    async def scenario():
        desk = Desk()
        sue, eve = await desk.comes('Sue', Role.SUPERVISOR), await desk.comes('Eve', Role.SUPERVISOR)
        bo = await desk.comes('Bo')
        bo.take_lease('lease of Bo', desk.room)
        await desk.says(bo, 'emergency_stop')
        desk.tells(lease_id='lease of Bo', holder='Bo', estop=True, estop_by='Bo')
        assert bo.release_objection() == ''
        await desk.says(sue, 'emergency_stop')
        assert 'a supervisor has to release it' in bo.release_objection(), 'he has pressed it and drives, and yet'
        await desk.says(bo, 'clear_emergency_stop')
        assert not desk.host.asked('ClearEmergencyStop')
        assert 'in the panel' in eve.release_objection(), 'not by a press in passing, while another drives'
        desk.tells(estop=True, estop_by='Bo')
        assert eve.release_objection() == '' and bo.release_objection()
        assert (await desk.comes('Di', Role.SPECTATOR)).release_objection() == bo.release_objection()
        await desk.says(eve, 'clear_emergency_stop')
        assert len(desk.host.asked('ClearEmergencyStop')) == 1
        desk.tells()
        await desk.says(bo, 'emergency_stop')
        desk.tells(estop=True, estop_by='Bo')
        assert bo.release_objection() == '', 'the next stop is his own again'

    asyncio.run(scenario())


def test_a_stop_is_released_by_who_pressed_it_whatever_he_is_called_and_by_no_namesake():
    async def scenario():
        desk = Desk()
        sue, mal = await desk.comes('Sue'), await desk.comes('Mal')
        await desk.says(sue, 'emergency_stop')
        stopped = {'lease_id': 'x', 'holder': 'Ada', 'estop': True, 'estop_by': 'Sue'}
        desk.tells(**stopped)
        sue.operator, mal.operator = 'Susan', 'Sue'
        watcher = await desk.comes('Wim', Role.SPECTATOR)
        assert mal.release_objection() == watcher.release_objection(), 'one rule, in the same words'
        await desk.says(mal, 'clear_emergency_stop')
        assert not desk.host.asked('ClearEmergencyStop')
        await desk.says(sue, 'clear_emergency_stop')
        assert len(desk.host.asked('ClearEmergencyStop')) == 1
        desk.tells(lease_id='x', holder='Ada')
        desk.tells(**stopped)  # pressed elsewhere, by somebody of that name
        await desk.says(sue, 'clear_emergency_stop')
        assert len(desk.host.asked('ClearEmergencyStop')) == 1

    asyncio.run(scenario())
