"""All workcells, all sessions, and who goes where. Lives in the event loop."""

import asyncio
import hashlib
import secrets
import time
from collections.abc import Callable
from typing import Any

from aiohttp import web

from cobalt_interfaces.msg import WorkcellInfo
from cobalt_teleop.bridge.operators.room import OpenEndpoints, Room
from cobalt_teleop.bridge.operators.session import Session, SessionRules
from cobalt_teleop.bridge.wire.page_events import Event
from cobalt_teleop.bridge.wire.page_messages import PageMessage

MAX_SESSIONS = 64
KEY_DIGITS = 32


def public_session_id(key: str) -> str:
    """Returns the name under which ROS, logs and bags know a session; its key, which brings it back, stays secret."""
    return hashlib.sha256(key.encode()).hexdigest()[:16]


class Lobby:
    """Admits pages, keeps their sessions across a reload, and lets them go after a grace time.

    Args:
        open_endpoints: Opens the ROS side of a workcell.
        exists: Tells by its name whether somebody announces a workcell at this moment.
        rules: What all sessions keep.
        grace_s: How long a session keeps its control without a page [s].
        log: Writes a line to the node's log.
    """

    def __init__(
        self,
        open_endpoints: OpenEndpoints,
        exists: Callable[[str], bool],
        rules: SessionRules,
        grace_s: float,
        log: Callable[[str], None],
    ) -> None:
        self._open_endpoints = open_endpoints
        self._exists = exists
        self._rules = rules
        self._grace_s = grace_s
        self._log = log
        self._rooms: dict[str, Room] = {}
        self._present: tuple[str, ...] = ()
        self._sessions: dict[str, Session] = {}
        self._wishes: dict[str, str] = {}
        self._moving: set[str] = set()
        self._leaving: dict[str, asyncio.Task[None]] = {}
        self._ticker = asyncio.get_running_loop().create_task(self._tick())
        self._started_s = time.monotonic()

    def health(self) -> dict[str, Any]:
        """What `/healthz` tells."""
        return {
            'ok': True,
            'uptime_s': round(time.monotonic() - self._started_s, 1),
            'sessions': sum(session.connected for session in self._sessions.values()),
            'workcells': {
                name: {
                    'host': room.info.host_id,
                    'visitors': len(room.visitors),
                    'answers': room.alive if room.visitors else None,
                    'frames_received': dict(room.frames_received),
                }
                for name, room in sorted(self._rooms.items())
            },
        }

    def on_workcell(self, info: WorkcellInfo) -> None:
        """A workcell has announced itself, or changed."""
        room = self._rooms.get(info.workcell_id)
        if room is None:
            room = self._rooms[info.workcell_id] = Room(info, self._open_endpoints)
        elif room.update_info(info):
            asyncio.get_running_loop().create_task(self._reopen(room))
        self._look_who_is_there()

    async def admit(self, socket: web.WebSocketResponse, hello: PageMessage) -> Session:
        """Takes a page in: into its former session if it has one."""
        # A page may bring the key that it had with an earlier run of the bridge, and with it its control.
        key = hello['session'] if len(hello['session']) == KEY_DIGITS else secrets.token_hex(KEY_DIGITS // 2)
        session = self._sessions.get(public_session_id(key))
        if session is None:
            self._forget_the_longest_gone()
            session = Session(public_session_id(key), key, self._rules, self._log)
            self._sessions[session.session_id] = session
        leaving = self._leaving.pop(session.session_id, None)
        if leaving is not None:
            leaving.cancel()
        await session.attach(socket, hello)
        session.tell(self._workcells_event())
        self._wishes[session.session_id] = hello['workcell']
        room = self._place(session)
        if room is not None:
            await session.enter(room)
        else:
            wish = self._wishes.get(session.session_id, '')
            await session.leave()
            session.tell({'type': 'waiting', 'workcell': wish})
        return session

    async def dismiss(self, session: Session, socket: web.WebSocketResponse) -> None:
        """A page is gone; its session goes too unless it comes back in time."""
        if await session.detach(socket):
            task = asyncio.get_running_loop().create_task(self._leave_after_grace(session))
            self._leaving[session.session_id] = task

    async def close(self) -> None:
        """Lets everybody go."""
        self._ticker.cancel()
        for task in self._leaving.values():
            task.cancel()
        for session in self._sessions.values():
            session.release_at_exit()
        await asyncio.gather(*(session.close() for session in self._sessions.values()), return_exceptions=True)
        for room in self._rooms.values():
            room.close()

    def _place(self, session: Session) -> Room | None:
        """Returns the workcell for a session: the one that its address names; else its last, or a free one."""
        wish = self._wishes.get(session.session_id, '')
        if wish:
            return self._rooms[wish] if wish in self._present else None
        if session.room is not None and session.room.workcell_id in self._present:
            return session.room
        there = [self._rooms[name] for name in self._present]
        return next((room for room in there if room.free), there[0] if there else session.room)

    def _look_who_is_there(self) -> None:
        """Notes which workcells exist, tells the pages, and lets those in that waited."""
        present = tuple(name for name in sorted(self._rooms, key=_natural) if self._exists(name))
        if present != self._present:
            self._present = present
            for session in self._sessions.values():
                session.tell(self._workcells_event())
        for session in self._sessions.values():
            if session.connected and session.session_id not in self._moving and self._is_lost(session):
                room = self._place(session)
                if room is not None and room is not session.room:
                    self._moving.add(session.session_id)
                    asyncio.get_running_loop().create_task(self._move(session, room))

    def _is_lost(self, session: Session) -> bool:
        """A session waits for a workcell, or came by the plain address to one that is gone."""
        room = session.room
        if room is None:
            return True
        return not self._wishes.get(session.session_id) and room.workcell_id not in self._present and not room.alive

    async def _move(self, session: Session, room: Room) -> None:
        try:
            if session.room is not None:
                session.notice(f'{session.room.workcell_id} is gone; this is {room.workcell_id}', 'info')
            await session.enter(room)
            if session.session_id not in self._sessions:
                await session.leave()  # it has ended meanwhile
        finally:
            self._moving.discard(session.session_id)

    def _workcells_event(self) -> Event:
        return {
            'type': 'workcells',
            'list': [{'id': name, 'robot': self._rooms[name].info.robot} for name in self._present],
        }

    async def _reopen(self, room: Room) -> None:
        visitors = [visitor for visitor in room.visitors if isinstance(visitor, Session)]
        room.close()
        for session in visitors:
            await session.enter(room)

    async def _leave_after_grace(self, session: Session) -> None:
        await asyncio.sleep(self._grace_s)
        self._leaving.pop(session.session_id, None)
        self._sessions.pop(session.session_id, None)
        self._wishes.pop(session.session_id, None)
        await session.close()

    def _forget_the_longest_gone(self) -> None:
        if len(self._sessions) < MAX_SESSIONS:
            return
        gone = next((key for key in self._leaving if key in self._sessions), None)
        if gone is None:
            raise web.HTTPServiceUnavailable(text='Too many pages are open.\n')
        self._leaving.pop(gone).cancel()
        session = self._sessions.pop(gone)
        asyncio.get_running_loop().create_task(session.close())

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(1.0)
            self._look_who_is_there()
            for session in tuple(self._sessions.values()):
                asyncio.get_running_loop().create_task(session.each_second())


def _natural(name: str) -> tuple[str, int]:
    stem = name.rstrip('0123456789')
    digits = name[len(stem) :]
    return stem, int(digits) if digits else -1
