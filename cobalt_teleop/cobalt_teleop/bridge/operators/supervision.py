"""What a supervisor may: see everything, stop all workcells, give control to somebody, send away, invite."""

import asyncio
import math
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from cobalt_interfaces.msg import ControlState, EpisodeState
from cobalt_teleop.bridge.door.guest import Role
from cobalt_teleop.bridge.door.invitations import InvitationError, Invitations
from cobalt_teleop.bridge.host_services import ServiceError
from cobalt_teleop.bridge.operators.floor import Floor
from cobalt_teleop.bridge.operators.room import Room
from cobalt_teleop.bridge.operators.session import Session
from cobalt_teleop.bridge.operators.usher import Usher
from cobalt_teleop.bridge.wire import wording
from cobalt_teleop.bridge.wire.page_events import Event, link_elsewhere, stopped_by
from cobalt_teleop.bridge.wire.page_messages import PageMessage
from cobalt_teleop.core.topics import PAGE_DEVICES

SendAway = Callable[[Session, str], Awaitable[None]]


class Supervision:
    """Serves supervisors' panels. Lives in the event loop.

    Args:
        floor: The workcells.
        sessions: Everybody, by session.
        usher: Leads people to workcells.
        invitations: Lets people in; None where nobody is invited.
        send_away: Ends a session, and tells its page why.
        timeout_s: How long a host may take to answer [s].
        log: Writes a line to the node's log.
        places: Where pages are found, such as `https://192.0.2.7:8080`.
    """

    def __init__(
        self,
        floor: Floor,
        sessions: Mapping[str, Session],
        usher: Usher,
        invitations: Invitations | None,
        send_away: SendAway,
        timeout_s: float,
        log: Callable[[str], None],
        places: Sequence[str] = (),
    ) -> None:
        self._floor = floor
        self._sessions = sessions
        self._usher = usher
        self._invitations = invitations
        self._send_away_session = send_away
        self._timeout_s = timeout_s
        self._log = log
        self._places = places
        self._watching: set[str] = set()

    async def serve(self, session: Session, message: PageMessage) -> None:
        """Does what a supervisor asks for.

        Raises:
            ServiceError: With the reason.
        """
        if message.type == 'overview':
            self._watch(session, on=message['on'])
        elif message.type == 'stop_all':
            await self._stop_all(session)
        elif message.type == 'release_stops':
            await self._release_stops(session, message['workcell'], confirm=message['confirm'])
        elif message.type == 'end_episode':
            await self._end_episode(session, message['workcell'])
        elif message.type == 'give':
            await self._give(session, message['workcell'], message['session'])
        elif message.type == 'send_away':
            await self._send_away(session, message['session'])
        elif message.type == 'invite':
            self._invite(session, message)

    def each_second(self) -> None:
        """Tells the open panels what has changed."""
        for session_id in tuple(self._watching):
            session = self._sessions.get(session_id)
            if session is None or not session.connected or not session.guest.role.includes(Role.SUPERVISOR):
                self._watching.discard(session_id)
            else:
                session.tell_news(self._overview(session))

    def _watch(self, session: Session, *, on: bool) -> None:
        if on:
            self._watching.add(session.session_id)
            session.tell(self._overview(session))
        else:
            self._watching.discard(session.session_id)

    async def _stop_all(self, session: Session) -> None:
        self._log(f'{session.operator} (session {session.session_id}) stops all workcells')
        # Also one that has just been lost from sight, if somebody is there.
        rooms = [room for room in self._floor.rooms if room.visitors or self._floor.find(room.workcell_id) is room]
        await self._everywhere(
            rooms, lambda room: room.stop(session, partial(room.call, timeout_s=self._timeout_s)), 'NOT stopped'
        )

    async def _release_stops(self, session: Session, workcell: str, *, confirm: bool) -> None:
        stopped = [
            room
            for room in self._floor.present
            if room.control is not None and room.control.estop and workcell in ('', room.workcell_id)
        ]
        if not stopped:
            raise ServiceError(f'{workcell} is not stopped' if workcell else 'no workcell is stopped')
        names = ', '.join(room.workcell_id for room in stopped)
        self._log(f'{session.operator} (session {session.session_id}) releases the stop of {names}')
        await self._everywhere(
            stopped,
            lambda room: room.call('ClearEmergencyStop', self._timeout_s, who=session.operator, confirm=confirm),
            'still stopped',
        )

    async def _everywhere(self, rooms: list[Room], act: Callable[[Room], Awaitable[object]], failure: str) -> None:
        """Does a thing at all workcells at once.

        Raises:
            ServiceError: Names those at which it failed.
        """
        results = await asyncio.gather(*(act(room) for room in rooms), return_exceptions=True)
        failed = [
            f'{room.workcell_id} ({result})'
            for room, result in zip(rooms, results, strict=True)
            if isinstance(result, Exception)
        ]
        if failed:
            raise ServiceError(f'{failure}: {", ".join(failed)}')

    async def _end_episode(self, session: Session, workcell: str) -> None:
        """Ends an episode that nobody drives; the host asks for control, which is taken for that moment."""
        room = self._floor.find(workcell)
        if room is None:
            raise ServiceError(f'there is no workcell {workcell} now')
        if not room.free and room.control is not None:
            raise ServiceError(f'{room.control.holder} has control of {workcell}, and ends its episode')
        self._log(f'{session.operator} (session {session.session_id}) ends the episode of {workcell}: nobody drives')
        call = partial(room.call, timeout_s=self._timeout_s)
        # Under a session of its own: it is no page that has control, and none takes it back.
        lease = await call(
            'AcquireControl', session_id=secrets.token_hex(8), operator_id=session.operator, parts=[], takeover=False
        )
        try:
            await call(
                'EndEpisode',
                lease_id=lease.lease_id,
                outcome=EpisodeState.OUTCOME_ABORTED,
                note=f'nobody drove, and {session.operator} ended it',
            )
        finally:
            await call('ReleaseControl', lease_id=lease.lease_id)

    async def _give(self, session: Session, workcell: str, to: str) -> None:
        room, target = self._floor.find(workcell), self._sessions.get(to)
        if room is None:
            raise ServiceError(f'there is no workcell {workcell} now')
        if target is None or not target.connected:
            raise ServiceError('that person is not here any more')
        if not target.guest.role.includes(Role.OPERATOR):
            raise ServiceError(f'{target.operator} is invited to watch, not to drive')
        control = room.control or ControlState()
        holder = next((one for one in self._sessions.values() if one.room is room and one.lease_id), None)
        if control.lease_id and holder is None:
            raise ServiceError(f'{control.holder} drives {workcell} from elsewhere, and must release it there')
        if holder is target:
            raise ServiceError(f'{target.operator} has control of {workcell} already')
        self._log(f'{session.operator} (session {session.session_id}) gives {workcell} to {target.operator}')
        await self._usher.lead(target, room)
        if not target.may_drive:
            raise ServiceError(f"{target.operator} is gone, or that browser shows no video and can't drive")
        if holder is not None:
            answer = await room.call(
                'TransferControl',
                self._timeout_s,
                lease_id=holder.lease_id,
                session_id=target.session_id,
                operator_id=target.operator,
                sources=PAGE_DEVICES,
            )
            if not target.take_lease(answer.lease_id, room):
                await room.call('ReleaseControl', self._timeout_s, lease_id=answer.lease_id)
                raise ServiceError(f'{target.operator} is not here any more')

    async def _send_away(self, session: Session, whom: str) -> None:
        target = self._sessions.get(whom)
        if target is None:
            raise ServiceError('that person is not here any more')
        if target is session:
            raise ServiceError('you cannot send yourself away: close this page')
        invitation = target.guest.invitation_id
        if invitation and invitation == session.guest.invitation_id:
            raise ServiceError(f'{target.operator} came by the same invitation as you, which would end for you too')
        self._log(f'{session.operator} (session {session.session_id}) sends {target.operator} (session {whom}) away')
        if invitation and self._invitations is not None:
            try:
                self._invitations.revoke(invitation)
            except InvitationError as error:
                self._log(f'an invitation could not be revoked: {error}')
        everybody = (
            [target]
            if not invitation
            else [one for one in self._sessions.values() if one.guest.invitation_id == invitation]
        )
        for one in everybody:
            await self._send_away_session(one, f'{session.operator} has sent you away.')
        if not invitation:
            session.notice(f'{target.operator} came without an invitation, and could open the page again', 'info')

    def _invite(self, session: Session, wish: PageMessage) -> None:
        if self._invitations is None:
            raise ServiceError('this bridge invites nobody')
        tasks = self._floor.tasks
        if wish['task'] and wish['task'] not in tasks:
            raise ServiceError(f'there is no task {wish["task"]}; there are {", ".join(tasks) or "none"}')
        try:
            token = self._invitations.issue(
                Role(wish['role']),
                wish['task'],
                wish['hours'] * 3600.0,
                wish['name'].strip(),
                invited_by=session.guest.invitation_id,
            )
        except InvitationError as error:
            raise ServiceError(str(error)) from error
        whom = wish['name'].strip() or 'somebody'
        self._log(f'{session.operator} (session {session.session_id}) invites {whom} as {wish["role"]}')
        invitation = {name: wish[name] for name in ('role', 'task', 'name', 'hours')}
        _, picture = link_elsewhere(self._places, f'invite={token}')
        session.tell({'type': 'invitation', 'token': token, 'picture': picture, **invitation})

    def _overview(self, session: Session) -> Event:
        return {
            'type': 'overview',
            'workcells': [self._workcell(room) for room in self._floor.rooms],
            'people': [self._person(one, one is session) for one in self._sessions.values()],
        }

    def _workcell(self, room: Room) -> Event:
        control, episode = room.control or ControlState(), room.episode
        return {
            'id': room.workcell_id,
            'present': self._floor.find(room.workcell_id) is not None,
            'alive': room.alive if room.visitors else None,
            'holder': control.holder if control.lease_id else '',
            'emergency_stop': control.estop,
            'emergency_stop_by': stopped_by(control, room.supervisors_stop),
            'phase': wording.PHASE.get(episode.phase, 'idle') if episode is not None else 'idle',
            'task': episode.task if episode is not None else '',
            'started_ms': episode.started.sec * 1000 if episode is not None else None,
            'viewers': sum(visitor.connected for visitor in room.visitors),
            'tasks': list(room.info.tasks),
        }

    def _person(self, session: Session, you: bool) -> Event:
        return {
            'session': session.session_id,
            'you': you,
            'name': session.operator,
            'colour': session.colour,
            'role': session.guest.role.value,
            'connected': session.connected,
            'workcell': session.room.workcell_id if session.room is not None else '',
            'place': self._usher.places.place_of(session.session_id),
            'drives': bool(session.lease_id),
            'position': self._usher.position(session),
            'link': _link(session),
        }


def _link(session: Session) -> Event | None:
    """Returns how somebody's link is, in the words of his own page; that it is lost, no page can tell."""
    report = session.report
    if report is None:
        return None
    if session.tells_nothing:
        return {'level': 'lost', 'cause': 'silent', 'rtt_ms': None, 'loss': None, 'frame_age_ms': None}
    return {
        'level': report['level'],
        'cause': report['cause'],
        'rtt_ms': _rounded(report['rtt_ms']),
        'loss': None if math.isnan(report['loss_down']) else round(report['loss_down'], 3),
        'frame_age_ms': _rounded(max((one.frame_age_ms for one in report['cameras']), default=math.nan)),
    }


def _rounded(value: float) -> int | None:
    return None if math.isnan(value) else round(value)
