"""Looking after open pages."""

import asyncio
from types import SimpleNamespace

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
