"""Leads people to workcells: to a free one, into the line, to look on meanwhile, and away when they are idle."""

import asyncio
import time
from collections.abc import Callable, Mapping

from cobalt_teleop.bridge.door.guest import Role
from cobalt_teleop.bridge.host_services import ServiceError
from cobalt_teleop.bridge.operators.floor import Floor
from cobalt_teleop.bridge.operators.places import Places
from cobalt_teleop.bridge.operators.room import Room
from cobalt_teleop.bridge.operators.session import Session
from cobalt_teleop.bridge.wire.page_events import Event

CLAIM_S = 60.0
"""Whoever has waited for a place must take control within this time while others wait [s]."""

WARNING_S = 30.0
"""Nobody loses a place without having been warned so long before, or half the time that he has [s]."""


class Usher:
    """Decides who goes where, and goes with them. Lives in the event loop.

    Args:
        floor: The workcells.
        sessions: Everybody, by session.
        idle_s: Whoever does nothing for so long loses his place while others wait [s]; 0 for never.
        on_change: Called when places or the line have changed.
        log: Writes a line to the node's log.
    """

    def __init__(
        self,
        floor: Floor,
        sessions: Mapping[str, Session],
        idle_s: float,
        on_change: Callable[[], None],
        log: Callable[[str], None],
    ) -> None:
        self.places = Places()
        self._floor = floor
        self._sessions = sessions
        self._idle_s = idle_s
        self._on_change = on_change
        self._log = log
        self._moves: set[asyncio.Task[None]] = set()
        self._called: dict[str, float] = {}
        self._warned: dict[str, float] = {}

    # People come and go.

    async def arrive(self, session: Session) -> None:
        """Leads a page that has just come to where it belongs."""
        if session.wish:
            room = self._floor.find(session.wish)
            self._settle_at(session, room)
        else:
            if session.guest.role is Role.SPECTATOR:
                self.forget(session)
            elif session.wants_place:
                self.places.join(session.session_id)
            self.settle(arriving=session)
            room = self._room_of(session)
        if room is not None:
            await self._go(session, room)
        else:
            await session.leave()
            session.tell({'type': 'waiting', 'workcell': session.wish})
        self._on_change()

    def forget(self, session: Session) -> None:
        """Somebody has no place and waits for none."""
        self.places.give_up(session.session_id)
        self.places.leave_line(session.session_id)
        self._called.pop(session.session_id, None)
        self._warned.pop(session.session_id, None)

    def settle(self, *, arriving: Session | None = None) -> None:
        """Gives free workcells to those who wait, in their order.

        Args:
            arriving: Who is led to his workcell by the caller.
        """
        free = sorted((room for room in self._floor.present if room.free), key=lambda room: len(room.visitors))
        for session_id, workcell in self.places.assign([room.workcell_id for room in free], self._fits):
            session, room = self._sessions[session_id], self._floor.find(workcell)
            if session is arriving or room is None:
                continue
            self._called[session_id] = time.monotonic()
            self._log(f'{session.operator} (session {session_id}) is next at {workcell}')
            self._move(session, room)
            self._on_change()

    # What people do.

    def took_control(self, session: Session) -> None:
        """Control of a workcell makes its place one's own."""
        if session.room is None:
            return
        session.wants_place = True
        self._called.pop(session.session_id, None)
        before = self._sessions.get(self.places.take(session.session_id, session.room.workcell_id))
        if before is not None and before.wants_place and not before.wish:
            self.places.join(before.session_id, first=True)
        self._on_change()

    def gave_control(self, session: Session) -> None:
        """Whoever gives control back lets the next one come."""
        session.wants_place = False
        self.forget(session)
        self._on_change()

    def objection(self, session: Session) -> str:
        """Returns why somebody may not take control where he is; empty if he may."""
        if session.room is None:
            return ''
        workcell, task = session.room.workcell_id, session.guest.task
        if not _offers(session.room, task) and self.places.keeper(workcell) != session.session_id:
            return f'{workcell} does not have the task "{task}", for which you are invited'
        if not self._waiting_for(workcell):
            return ''
        position = self.position(session)
        if self.places.keeper(workcell):
            keeper = self._sessions.get(self.places.objection(session.session_id, workcell))
        else:  # for the moment in which it has been given back, and nobody has been led to it
            line = self._hopeful_line()
            before = line[: position - 1] if position else line
            keeper = next((self._sessions[one] for one in before if self._fits(one, workcell)), None)
        if keeper is None:
            return ''
        turn = f'your place in line is {position}' if position else 'others wait in line; get in line too'
        return f'{workcell} is kept for {keeper.operator}: {turn}'

    async def lead(self, session: Session, room: Room) -> None:
        """Gives somebody a workcell's place and goes there with him."""
        session.wants_place, session.wish = True, ''
        before = self._sessions.get(self.places.take(session.session_id, room.workcell_id))
        if before is not None and before.wants_place and not before.wish:
            self.places.join(before.session_id, first=True)
        self._called[session.session_id] = time.monotonic()
        if session.room is not room:
            await self._go(session, room)
        self._on_change()

    async def watch(self, session: Session, workcell: str) -> None:
        """Looks on at another workcell, and keeps the place in line.

        Raises:
            ServiceError: The workcell is not there, or the person has a place of his own.
        """
        room = self._floor.find(workcell)
        if room is None:
            raise ServiceError(f'there is no workcell {workcell} now')
        if self.places.place_of(session.session_id):
            raise ServiceError('give control back first: your place is at another workcell')
        if room is not session.room:
            await self._go(session, room)
            self._on_change()

    def join_line(self, session: Session) -> None:
        """Waits for a place."""
        session.wants_place = True
        session.wish = ''
        self.places.join(session.session_id)
        self.settle()
        self._on_change()

    def leave_line(self, session: Session) -> None:
        """Looks on, and waits no more."""
        session.wants_place = False
        self.forget(session)
        self._on_change()

    # Once a second.

    def look(self) -> None:
        """Leads on those whose workcell has come, is free, or is gone, and looks who is idle."""
        for session in tuple(self._sessions.values()):
            if session.connected and not session.going.locked() and self._is_lost(session):
                self._lead_on(session)
        self.settle()
        self._look_who_is_idle(time.monotonic())

    def position(self, session: Session) -> int:
        """Returns how many go before somebody in the line, and himself; 0 if he waits for no workcell that there is."""
        line = self._hopeful_line()
        return line.index(session.session_id) + 1 if session.session_id in line else 0

    def place_event(self, session: Session) -> Event:
        """What a page shows of its place."""
        missing = session.guest.role is not Role.SPECTATOR and self._is_missing(session.guest.task)
        return {
            'type': 'place',
            'workcell': self.places.place_of(session.session_id),
            'position': self.position(session),
            'waiting': self._waiting_for(session.room.workcell_id) if session.room is not None else 0,
            'workcells': len(self._floor.present),
            'missing_task': session.guest.task if missing else '',
            'tasks': self._floor.tasks,
            'called': session.session_id in self._called,
        }

    def close(self) -> None:
        """Leads nobody any more."""
        for task in self._moves:
            task.cancel()

    def _is_missing(self, task: str) -> bool:
        """There are workcells, and none has a task."""
        there = self._floor.present
        return bool(there) and not any(_offers(room, task) for room in there)

    def _hopeful_line(self) -> list[str]:
        """Returns who waits, without those whose task no workcell has: they stand in nobody's way."""
        line = ((session_id, self._sessions.get(session_id)) for session_id in self.places.line)
        return [one for one, session in line if session is None or not self._is_missing(session.guest.task)]

    def _waiting_for(self, workcell: str) -> int:
        """Returns how many wait in line whose page is there, and who could go to a workcell."""
        return sum(self._fits(session_id, workcell) for session_id in self.places.line)

    def _settle_at(self, session: Session, room: Room | None) -> None:
        """The workcell that the address names becomes one's place if it is nobody's."""
        if session.guest.role is Role.SPECTATOR or room is None:
            self.forget(session)
            return
        keeper = self.places.keeper(room.workcell_id)
        if keeper == session.session_id:
            return
        self.forget(session)
        drives = (session.guest.comes_to_drive or session.wants_place) and _offers(room, session.guest.task)
        if drives and not keeper and not self._hopeful_line():
            self.places.take(session.session_id, room.workcell_id)

    def _room_of(self, session: Session) -> Room | None:
        """Returns where somebody without a wish goes: to his place, or to look on."""
        room = self._floor.find(self.places.place_of(session.session_id))
        if room is not None:
            return room
        there = self._floor.present
        if session.room in there or not there:
            return session.room
        watched = self._floor.find(session.watched)
        if watched is not None:
            return watched
        fitting = [room for room in there if _offers(room, session.guest.task)] or there
        return next((room for room in fitting if not room.free), fitting[0])

    def _is_lost(self, session: Session) -> bool:
        """Somebody waits for a workcell, or came by the plain address to one that is gone."""
        room = session.room
        if room is None:
            return True
        return not session.wish and self._floor.find(room.workcell_id) is None and not room.alive

    def _lead_on(self, session: Session) -> None:
        if session.wish:
            room = self._floor.find(session.wish)
            if room is not None:
                self._settle_at(session, room)
                self._move(session, room)
            return
        there = self._floor.present
        if not there:
            return
        if session.wants_place and session.guest.role is not Role.SPECTATOR:
            self.places.give_up(session.session_id)
            self.places.join(session.session_id, first=True)
            self.settle(arriving=session)
        room = self._room_of(session)
        if room is not None and room is not session.room:
            self._move(session, room)
            self._on_change()

    def _fits(self, session_id: str, workcell: str) -> bool:
        session, room = self._sessions.get(session_id), self._floor.find(workcell)
        return session is not None and room is not None and session.connected and _offers(room, session.guest.task)

    def _move(self, session: Session, room: Room) -> None:
        move = asyncio.get_running_loop().create_task(self._go(session, room))
        self._moves.add(move)
        move.add_done_callback(self._moves.discard)

    async def _go(self, session: Session, room: Room) -> None:
        """Goes somewhere with somebody, one way after the other; if he gets a place on the way, on to that."""
        async with session.going:
            before = session.room
            if before is not None and before is not room and self._floor.find(before.workcell_id) is None:
                session.notice(f'{before.workcell_id} is gone; this is {room.workcell_id}', 'info')
            await session.enter(room)
            place = self._floor.find(self.places.place_of(session.session_id))
            if place is not None and place is not session.room and not session.wish:
                await session.enter(place)
            if session.session_id not in self._sessions:
                await session.leave()  # it has ended meanwhile
        self._on_change()

    def _look_who_is_idle(self, now_s: float) -> None:
        for session in tuple(self._sessions.values()):
            place = self.places.place_of(session.session_id)
            limit_s = self._limit_s(session) if place and self._waiting_for(place) else 0.0
            since_s = max(session.last_active_s, self._called.get(session.session_id, 0.0))
            warning_s = min(WARNING_S, limit_s / 2.0)
            if not limit_s or now_s - since_s < limit_s - warning_s:
                if self._warned.pop(session.session_id, None) is not None:
                    session.tell({'type': 'idle', 'left_s': 0})
                continue
            warned_s = self._warned.setdefault(session.session_id, now_s)
            left_s = warned_s + warning_s - now_s
            if left_s > 0.0:
                session.tell({'type': 'idle', 'left_s': max(1, round(left_s))})
            else:
                session.tell({'type': 'idle', 'left_s': 0})
                asyncio.get_running_loop().create_task(self._give_place_back(session))

    def _limit_s(self, session: Session) -> float:
        if session.session_id in self._called and not session.lease_id:
            return CLAIM_S
        return self._idle_s

    async def _give_place_back(self, session: Session) -> None:
        workcell = self.places.place_of(session.session_id)
        self._log(f'{session.operator} (session {session.session_id}) was idle: {workcell} goes to who waits')
        self.gave_control(session)
        session.notice(f'nobody used {workcell} here while others waited: it goes to them. You may get in line again')
        await session.release_control()
        self.settle()


def _offers(room: Room, task: str) -> bool:
    """A workcell has the task that somebody was invited for."""
    return not task or task in room.info.tasks
