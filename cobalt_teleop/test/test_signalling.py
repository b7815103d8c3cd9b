"""Looking after open pages."""

import asyncio
from types import SimpleNamespace

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from cobalt_teleop.bridge.door.arrival_pace import TOO_OFTEN
from cobalt_teleop.bridge.door.guest import Guest, Role
from cobalt_teleop.bridge.door.limits import DoorLimits
from cobalt_teleop.bridge.signalling import MAX_UNREAD_BYTES, REVOKED, Signalling


class Transport:
    """A connection whose other side reads nothing."""

    def __init__(self, unread):
        self.unread = unread
        self.aborted = False

    def get_write_buffer_size(self):
        return self.unread

    def abort(self):
        self.aborted = True


class Page:
    closed = False


def test_a_page_that_does_not_read_is_cut_off_and_told_of_and_a_slow_one_is_not():
    lines = []

    async def scenario():
        door = SimpleNamespace(is_still_welcome=lambda guest: True)
        signalling = Signalling(SimpleNamespace(sessions=()), door, DoorLimits(), lines.append)
        guest = Guest(role=Role.SPECTATOR, name='Eve')
        deaf, slow = Transport(MAX_UNREAD_BYTES + 1), Transport(MAX_UNREAD_BYTES // 2)
        for transport in (deaf, slow):
            signalling._pages[Page()] = guest, transport
        async for _ in signalling.watch(None):
            for _ in range(300):
                if deaf.aborted:
                    break
                await asyncio.sleep(0.02)
        assert deaf.aborted and not slow.aborted

    asyncio.run(scenario())
    assert lines[0] == 'Eve does not read what it is told, and is cut off'


def test_a_revoked_guest_s_session_ends_also_while_his_page_is_away_and_others_stay():
    async def scenario():
        went = []

        async def send_away(session, text):
            went.append((session.operator, text))
            sessions.remove(session)

        def session(name):
            return SimpleNamespace(operator=name, guest=Guest(role=Role.OPERATOR, name=name, invitation_id=name))

        sessions = [session('Bo'), session('Ada')]
        door = SimpleNamespace(is_still_welcome=lambda guest: guest.name != 'Bo')
        lobby = SimpleNamespace(sessions=sessions, send_away=send_away)
        signalling, deaf = Signalling(lobby, door, DoorLimits(), lambda line: None), Transport(0)
        signalling._pages[Page()] = sessions[0].guest, deaf
        async for _ in signalling.watch(None):
            for _ in range(300):
                if deaf.aborted:
                    break
                await asyncio.sleep(0.02)
        assert went == [('Bo', REVOKED)]
        assert deaf.aborted, 'a page that does not go is cut off'
        assert [one.operator for one in sessions] == ['Ada']

    asyncio.run(scenario())


class PhoneLobby:
    """A lobby that knows every page for one more of a session."""

    sessions = ()

    def __init__(self):
        self.refusals = []
        self.metrics = SimpleNamespace(note_refusal=self.refusals.append)
        self.main = SimpleNamespace(guest=Guest(role=Role.OPERATOR, name='Ada'))

    def paired_with(self, code, device):
        return self.main

    async def admit_companion(self, socket, hello, main, device):
        await socket.send_json({'type': 'you'})
        return SimpleNamespace(is_open_on=lambda socket: True, on_signal=lambda text: None)

    async def dismiss(self, page, socket):
        pass


def test_a_phone_beside_a_page_keeps_the_bounds_that_all_pages_keep():
    hello = {'type': 'hello', 'session': 'a' * 32, 'workcell': '', 'operator': '', 'codecs': [], 'token': 'pair.x'}
    limits = DoorLimits(arrivals_of_session=(2.0, 0.001), too_often_s=0.0)

    async def scenario():
        door = SimpleNamespace(is_still_welcome=lambda guest: True)
        lobby = PhoneLobby()
        signalling = Signalling(lobby, door, limits, lambda line: None)
        app = web.Application()
        app.router.add_get('/ws', signalling.serve)
        async with TestClient(TestServer(app)) as client:
            for _ in range(2):
                async with client.ws_connect('/ws') as socket:
                    await socket.send_json(hello | {'road': 'track', 'live': [0, 0]})
                    assert (await socket.receive_json())['type'] == 'you'
                    ((guest, transport),) = signalling._pages.values()
                    assert guest is lobby.main.guest and transport is not None, 'what it leaves unread is watched'
                while signalling._pages:
                    await asyncio.sleep(0.01)
            async with client.ws_connect('/ws') as socket:
                await socket.send_json(hello | {'road': 'track', 'live': [0, 0]})
                assert (await socket.receive_json())['text'] == TOO_OFTEN
        assert lobby.refusals == ['often']

    asyncio.run(scenario())
