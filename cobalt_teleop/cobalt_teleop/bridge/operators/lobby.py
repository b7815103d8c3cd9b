"""Everybody who is here: comes in, is known by name and colour, comes back after a reload, and is let go."""

import asyncio
import hashlib
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from cobalt_interfaces.msg import WorkcellInfo
from cobalt_teleop.bridge.door.door import EntryRefusedError
from cobalt_teleop.bridge.door.guest import Guest, Role
from cobalt_teleop.bridge.door.invitations import Invitations
from cobalt_teleop.bridge.door.last_tasks import keep_tasks
from cobalt_teleop.bridge.door.state_folder import StateFolder
from cobalt_teleop.bridge.host_services import ServiceError
from cobalt_teleop.bridge.metrics import Metrics
from cobalt_teleop.bridge.operators.appearance import distinct_name, free_colour, unnamed
from cobalt_teleop.bridge.operators.capacity import MAX_SESSIONS, make_room
from cobalt_teleop.bridge.operators.companion import Companion
from cobalt_teleop.bridge.operators.floor import Floor
from cobalt_teleop.bridge.operators.lobby_state import KnownSession, LobbyState, LobbyStateFile, key_sha256
from cobalt_teleop.bridge.operators.pairings import Pairings
from cobalt_teleop.bridge.operators.reception import SessionRules
from cobalt_teleop.bridge.operators.room import Room
from cobalt_teleop.bridge.operators.session import Session
from cobalt_teleop.bridge.operators.stop_record import KnownStop
from cobalt_teleop.bridge.operators.supervision import Supervision
from cobalt_teleop.bridge.operators.usher import Usher
from cobalt_teleop.bridge.ros_side import RosSide
from cobalt_teleop.bridge.wire.page_events import Event, pairing_event
from cobalt_teleop.bridge.wire.page_messages import PageMessage
from cobalt_teleop.core.errors import CobaltError

MOST_COMPANIONS = 2
"""A person has two hands."""

OWNER = Guest(role=Role.SUPERVISOR, at_the_machine=True)
"""Who sits at the machine itself."""


class NotYetError(CobaltError):
    """A page cannot come in now, but may soon; the message is what it is told."""


@dataclass(frozen=True, kw_only=True)
class LobbyRules:
    """What the lobby keeps.

    Attributes:
        grace_s: How long a session keeps its place and its control without a page [s].
        idle_s: Whoever does nothing for so long loses his place while others wait [s]; 0 for never.
        sessions: What each session keeps.
    """

    grace_s: float
    idle_s: float
    sessions: SessionRules


def public_session_id(key: str) -> str:
    """Returns the name under which ROS, logs and bags know a session; its key, which brings it back, stays secret."""
    return hashlib.sha256(key.encode()).hexdigest()[:16]


class Lobby:
    """Admits pages, keeps their sessions across a reload, and lets them go after a grace time.

    Args:
        ros: The workcells' ROS side.
        rules: What it keeps.
        log: Writes a line to the node's log.
        state: Folder and file that keep sessions across a restart; None to keep nothing.
        invitations: By which people come in; None where nobody is invited.
        places: Where pages are found, such as `https://192.0.2.7:8080`; for codes that a phone scans.
    """

    def __init__(
        self,
        ros: RosSide,
        rules: LobbyRules,
        log: Callable[[str], None],
        state: tuple[StateFolder, str] | None = None,
        invitations: Invitations | None = None,
        places: Sequence[str] = (),
    ) -> None:
        self.metrics = Metrics()
        self.floor = Floor(ros, self._on_change, self.metrics.note_frame)
        self._rules = rules
        self._log = log
        self._sessions: dict[str, Session] = {}
        self._expected: dict[str, KnownSession] = {}
        self._expected_stops: dict[str, KnownStop] = {}
        self._leaving: dict[str, asyncio.Task[None]] = {}
        self._pairings = Pairings()
        self._places = places
        self._usher = Usher(self.floor, self._sessions, rules.idle_s, self._on_change, log)
        self._supervision = Supervision(
            self.floor,
            self._sessions,
            self._usher,
            invitations,
            self.send_away,
            rules.sessions.service_timeout_s,
            log,
            places,
        )
        self._tells = False
        self._started_s = time.monotonic()
        self._folder = state[0] if state is not None else None
        self._tasks: list[str] = []
        self._state_file = LobbyStateFile(*state, self._state, log) if state is not None else None
        if self._state_file is not None:
            self._restore(self._state_file.read())
        self.metrics.read_from(self)
        self._ticker = asyncio.get_running_loop().create_task(self._tick())

    @property
    def rooms(self) -> list[Room]:
        """All workcells that have existed since the start."""
        return self.floor.rooms

    @property
    def sessions(self) -> Iterable[Session]:
        """Everybody, with those whose page may come back."""
        return tuple(self._sessions.values())

    @property
    def line(self) -> tuple[str, ...]:
        """Sessions that wait for a workcell."""
        return self._usher.places.line

    def health(self) -> dict[str, Any]:
        """What `/healthz` tells the owner."""
        present = self.floor.present
        return {
            'ok': True,
            'uptime_s': round(time.monotonic() - self._started_s, 1),
            'sessions': sum(session.connected for session in self._sessions.values()),
            'waiting': len(self.line),
            'workcells': {
                room.workcell_id: {
                    'host': room.info.host_id,
                    'present': room in present,
                    'visitors': len(room.visitors),
                    'answers': room.alive if room.visitors else None,
                    'frames_received': dict(room.frames_received),
                }
                for room in self.floor.rooms
            },
        }

    def on_workcell(self, info: WorkcellInfo) -> None:
        """A workcell has announced itself, or changed."""
        room = self.floor.announce(info)
        stop = self._expected_stops.pop(room.workcell_id, None)
        if stop is not None:
            room.expect_stop(stop)
        self._look()

    async def admit(
        self, socket: web.WebSocketResponse, hello: PageMessage, guest: Guest = OWNER, address: str = ''
    ) -> Session:
        """Takes a page in: into its former session if it has one.

        Args:
            socket: Of the page.
            hello: What it said first.
            guest: As whom the door let it in.
            address: From where it comes.

        Raises:
            EntryRefusedError: Too many pages are open.
        """
        # A page may bring the key that it had with an earlier run of the bridge, and with it its control.
        key = hello['session']
        session_id = public_session_id(key)
        session = self._sessions.get(session_id)
        if session is None or session.guest.invitation_id != guest.invitation_id:
            self._make_room(guest, address, session)
        if session is None:
            session = self._new_session(session_id, key, guest)
        if guest.comes_to_drive != session.guest.comes_to_drive:
            session.wants_place = guest.comes_to_drive
        leaving = self._leaving.pop(session_id, None)
        if leaving is not None:
            leaving.cancel()
        session.guest, session.address = guest, address
        session.wish = hello['workcell']
        wanted = guest.name or hello['operator'].strip()
        if wanted and wanted != session.wanted_name:
            session.wanted_name, session.operator = wanted, self._distinct(wanted, session)
        elif not session.lease_id:
            name = session.operator if session.wanted_name else unnamed(session_id, guest)
            session.operator = self._distinct(name, session)
        await session.attach(socket, hello)
        session.tell(self._workcells_event())
        session.tell(self._people_event())
        await self._usher.arrive(session)
        return session

    def guest_of(self, key: str) -> Guest | None:
        """Returns as whom a page is in that has a key, also one more page of a session; None if none has it."""
        page_id = public_session_id(key)
        session = self._sessions.get(page_id) or next(
            (session for session in self._sessions.values() if page_id in session.companions), None
        )
        return session.guest if session is not None else None

    def paired_with(self, code: str, device: str) -> Session | None:
        """Returns the session that a page joins by a code; None if the code is none of ours.

        Args:
            code: Where other pages show the token of their link.
            device: Public id of the page's key.

        Raises:
            NotYetError: That session is of an earlier run of the bridge, and its own page has not come back yet.
        """
        session_id = self._pairings.session_of(code, device)
        if session_id is None:
            return None
        if session_id in self._expected:
            raise NotYetError(
                'The page that this phone belongs to has not come back yet. This one goes on when it has.'
            )
        self._on_change()
        return self._sessions.get(session_id)

    async def admit_companion(
        self, socket: web.WebSocketResponse, hello: PageMessage, main: Session, device: str
    ) -> Companion:
        """Takes one more page of a session in; one whose page is away makes room for it.

        Raises:
            EntryRefusedError: There are as many as there may be.
        """
        companion = main.companions.get(device)
        if companion is None:
            others = sorted(main.companions.values(), key=lambda one: one.away_s)
            for absent in others[MOST_COMPANIONS - 1 :]:
                if absent.connected:
                    raise EntryRefusedError(
                        f'{main.operator} has two phones paired already. Close the page on one of them, '
                        'then load this page again.'
                    )
                await absent.close('')
            companion = Companion(device, main, self._rules.sessions, self._log)
            main.companions[device] = companion
            self._log(f'{main.full_name} has paired a second device')
        await companion.attach(socket, hello)
        companion.tell(self._workcells_event())
        companion.tell(self._people_event())
        main.tell_self()
        return companion

    async def dismiss(self, page: Session | Companion, socket: web.WebSocketResponse) -> None:
        """A page is gone; if it was its session's own, the session goes too unless the page comes back in time."""
        if isinstance(page, Companion):
            await page.detach(socket)
            return
        session = page
        if await session.detach(socket) and self._sessions.get(session.session_id) is session:
            task = asyncio.get_running_loop().create_task(self._leave_after_grace(session))
            self._leaving[session.session_id] = task
        self._on_change()

    async def close(self) -> None:
        """Lets everybody go."""
        self._ticker.cancel()
        self._usher.close()
        if self._state_file is not None:
            self._state_file.write_now()
        for task in self._leaving.values():
            task.cancel()
        for session in self._sessions.values():
            session.release_at_exit()
        await asyncio.gather(*(session.close() for session in self._sessions.values()), return_exceptions=True)
        self.floor.close()

    # What sessions ask.

    def objection(self, session: Session) -> str:
        """Returns why a session may not take control where it is; empty if it may."""
        return self._usher.objection(session)

    def took_control(self, session: Session) -> None:
        """A session has control."""
        self._usher.took_control(session)

    def gave_control(self, session: Session) -> None:
        """A person has given control back, or handed it over."""
        self._usher.gave_control(session)

    async def serve(self, session: Session, message: PageMessage) -> None:
        """Does what a person asks of the lobby.

        Raises:
            ServiceError: With the reason.
        """
        if message.type == 'pair':
            session.tell(pairing_event(self._pairings.issue(session.session_id), self._places))
            self._on_change()
        elif message.type == 'rename':
            self._rename(session, message['name'])
        elif message.type == 'watch':
            await self._usher.watch(session, message['workcell'])
        elif message.type == 'join_line':
            self._usher.join_line(session)
        elif message.type == 'leave_line':
            self._usher.leave_line(session)
        else:
            await self._supervision.serve(session, message)

    def _rename(self, session: Session, name: str) -> None:
        wanted = name.strip()
        if not wanted:
            raise ServiceError('a name needs at least one letter')
        if session.guest.name:
            raise ServiceError(f'your invitation names you {session.guest.name}')
        if session.lease_id and session.room is not None and session.room.keeps_episode:
            raise ServiceError('this episode is kept under your present name: change it when the episode has ended')
        before, session.wanted_name = session.operator, wanted
        session.operator = self._distinct(wanted, session)
        session.renew_control()
        self._log(f'{before} (session {session.session_id}) is now {session.operator}')
        session.tell_self()
        self._on_change()

    # People.

    def _new_session(self, session_id: str, key: str, guest: Guest) -> Session:
        session = Session(session_id, key, self._rules.sessions, self, self._log)
        known = self._expected.pop(session_id, None)
        if known is not None and known.is_opened_by(key):
            session.operator, session.wanted_name, session.colour = known.operator, known.wanted_name, known.colour
            session.wants_place, session.watched, session.guest = known.wants_place, known.watched, guest
        else:
            session.colour = free_colour(one.colour for one in self._all())
        self._sessions[session_id] = session
        return session

    def _distinct(self, wanted: str, session: Session) -> str:
        """Returns a name that none of those has who are here, drive, or are expected back."""
        here = [
            one.operator for one in self._sessions.values() if one is not session and (one.connected or one.lease_id)
        ]
        # Who pressed a stop is told by name: nobody else is called so before it is released.
        stopped = [room.stopped_by for room in self.floor.rooms if not room.was_stopped_by(session.session_id)]
        held = [name for name in stopped if name and name != session.operator]
        return distinct_name(wanted, [*here, *held, *(known.operator for known in self._expected.values())])

    def _all(self) -> list[Session | KnownSession]:
        return [*self._sessions.values(), *self._expected.values()]

    def _make_room(self, guest: Guest, address: str, known: Session | None) -> None:
        """Lets those go whose page is away and who keep nothing, if there is no room otherwise."""
        away = (self._sessions[session_id] for session_id in self._leaving if session_id in self._sessions)
        others = [session for session in self._sessions.values() if session is not known]
        dispensable = [session for session in away if session is not known and not self._keeps_something(session)]
        for session in make_room(guest, address, others, dispensable):
            self._leaving.pop(session.session_id).cancel()
            del self._sessions[session.session_id]
            self._pairings.forget(session.session_id)
            asyncio.get_running_loop().create_task(session.close())

    def _keeps_something(self, session: Session) -> bool:
        places, session_id = self._usher.places, session.session_id
        return bool(session.lease_id or places.place_of(session_id) or places.position(session_id))

    async def _leave_after_grace(self, session: Session) -> None:
        await asyncio.sleep(self._rules.grace_s)
        self._leaving.pop(session.session_id, None)
        await self._end(session)

    async def _end(self, session: Session) -> None:
        self._sessions.pop(session.session_id, None)
        self._pairings.forget(session.session_id)
        self._usher.forget(session)
        await session.close()
        self._on_change()

    async def send_away(self, session: Session, text: str) -> None:
        """Ends a session, and tells its page why."""
        await session.send_away(text)
        leaving = self._leaving.pop(session.session_id, None)
        if leaving is not None:
            leaving.cancel()
        await self._end(session)

    # What everybody is told.

    def _on_change(self) -> None:
        """Tells everybody soon, once for all changes of this moment, and has the state written."""
        if self._state_file is not None:
            self._state_file.changed()
        if not self._tells:
            self._tells = True
            asyncio.get_running_loop().call_soon(self._tell)

    def _tell(self) -> None:
        self._tells = False
        self._usher.settle()
        people = self._people_event()
        for session in self._sessions.values():
            session.tell_news(people)
            session.tell_news(self._usher.place_event(session))

    def _workcells_event(self) -> Event:
        return {
            'type': 'workcells',
            'list': [{'id': room.workcell_id, 'robot': room.info.robot} for room in self.floor.present],
        }

    def _people_event(self) -> Event:
        here = [session for session in self._sessions.values() if session.connected]
        return {
            'type': 'people',
            'list': [
                {
                    'name': session.operator,
                    'colour': session.colour,
                    'role': session.guest.role.value,
                    'workcell': session.room.workcell_id if session.room is not None else '',
                    'place': self._usher.places.place_of(session.session_id),
                    'drives': bool(session.lease_id),
                    'position': self._usher.position(session),
                }
                for session in sorted(here, key=lambda one: one.operator.casefold())
            ],
        }

    def _look(self) -> None:
        if self.floor.look():
            for session in self._sessions.values():
                session.tell(self._workcells_event())
            self._on_change()
        self._look_at_tasks()
        self._usher.look()

    def _look_at_tasks(self) -> None:
        tasks, before = self.floor.tasks, self._tasks
        self._tasks = tasks
        if tasks == before:
            return
        self._on_change()
        if self._folder is not None and tasks:
            try:
                keep_tasks(self._folder, tasks)
            except CobaltError as error:
                self._log(f'the tasks are not kept: {error}')

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(1.0)
            self._look()
            self._supervision.each_second()
            if self._state_file is not None:
                self._state_file.still_here()
            if self._expected and time.monotonic() - self._started_s > self._rules.grace_s:
                self._expect_nobody()
            for session in tuple(self._sessions.values()):
                asyncio.get_running_loop().create_task(session.each_second())

    # What survives a restart.

    def _state(self) -> LobbyState:
        places = self._usher.places
        here = [
            KnownSession(
                session_id=session.session_id,
                key_sha256=key_sha256(session.key),
                operator=session.operator,
                wanted_name=session.wanted_name,
                colour=session.colour,
                role=session.guest.role.value,
                invitation_id=session.guest.invitation_id,
                wish=session.wish,
                workcell=places.place_of(session.session_id),
                watched=session.room.workcell_id if session.room is not None else '',
                wants_place=session.wants_place,
            )
            for session in self._sessions.values()
        ]
        stops = [room.known_stop for room in self.floor.rooms]
        return LobbyState(
            (*here, *self._expected.values()),
            places.line,
            (*filter(None, stops), *self._expected_stops.values()),
            self._pairings.known,
        )

    def _restore(self, state: LobbyState) -> None:
        """Keeps places, names, the line and paired devices of those whose pages come back in time, and stops."""
        self._expected = {known.session_id: known for known in state.sessions[:MAX_SESSIONS]}
        self._expected_stops = {known.workcell: known for known in state.stops}
        keepers = {known.workcell: known.session_id for known in self._expected.values() if known.workcell}
        self._pairings.restore(state.pairings, self._expected)
        self._usher.places.restore(keepers, [one for one in state.line if one in self._expected])

    def _expect_nobody(self) -> None:
        for session_id in self._expected:
            self._pairings.forget(session_id)
            self._usher.places.give_up(session_id)
            self._usher.places.leave_line(session_id)
        self._expected = {}
        self._on_change()
