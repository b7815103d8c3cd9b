"""Takes control of a workcell, keeps it, hands it over and gives it back; stops the arm and lets it go again."""

import time
from collections.abc import Callable
from typing import Any, Protocol

from cobalt_interfaces.msg import ControlState
from cobalt_teleop.bridge.door.guest import Role
from cobalt_teleop.bridge.host_services import RefusedError, ServiceError
from cobalt_teleop.bridge.operators.episode_requests import CallService
from cobalt_teleop.bridge.operators.room import Room
from cobalt_teleop.core.topics import PAGE_DEVICES
from cobalt_teleop.ros.stamps import now_ns, to_nanoseconds

RENEW_PERIOD_S = 5.0

HOMING_SPEED = 0.3
"""Share of the joints' speed limits on the way home."""


class Person(Protocol):
    """A session, as far as its control goes."""

    session_id: str
    operator: str
    room: Room | None

    @property
    def role(self) -> Role:
        """What it may do."""

    @property
    def can_see(self) -> bool:
        """Its page can show the workcell's cameras."""

    def notice(self, text: str, level: str = 'error') -> None:
        """Shows the person a sentence."""

    def objection(self) -> str:
        """Returns why it may not take control where it is; empty if it may."""

    def on_taken(self) -> None:
        """Control is the session's."""

    def on_given(self) -> None:
        """The person has given control back, or handed it over."""


class ControlRequests:
    """The lease of one session. Lives in the event loop.

    Args:
        person: Whose it is.
        call: Calls the host of the person's workcell.
        log: Writes a line to the node's log.
    """

    def __init__(self, person: Person, call: CallService, log: Callable[[str], None]) -> None:
        self._person = person
        self._call = call
        self._log = log
        self._lease_id = ''
        self._lease_since_ns = 0
        self._given_ns = 0
        self._asks = False
        self._renewed_s = 0.0
        self._doubts = 0  # calls under way that may end a lease

    @property
    def lease_id(self) -> str:
        """The lease that the session holds, or empty."""
        return self._lease_id

    @property
    def asks(self) -> bool:
        """It has asked the holder for control and waits."""
        return self._asks

    async def acquire(self, ask: bool) -> None:
        """Takes control if nobody has it.

        Args:
            ask: Ask the holder for it, if there is one, and wait.

        Raises:
            ServiceError: With the reason.
        """
        if not self._person.can_see:
            raise ServiceError('this browser shows no video, so it cannot drive')
        room = self._person.room
        held = room is not None and not room.free
        objection = '' if self._lease_id or (ask and held) else self._person.objection()
        if objection:
            self._asks = False
            raise ServiceError(objection)
        self._asks = ask
        try:
            answer = await self._acquire(takeover=ask)
        except RefusedError as refusal:
            if ask and refusal.answer.holder:
                return
            raise
        finally:
            self._tell_room()
        # It has become free while this one asked its holder: what is free goes by the line.
        objection = '' if self._lease_id else self._person.objection()
        if objection:
            self._lease_id = answer.lease_id
            await self.release()
            raise ServiceError(objection)
        self.take(answer.lease_id)

    def take(self, lease_id: str) -> None:
        """Notes that control is this session's."""
        if lease_id != self._lease_id:
            self._log(f'{self._name} has control of {self._workcell_id}')
        self._asks = False
        self._lease_id = lease_id
        self._lease_since_ns = now_ns()
        self._renewed_s = time.monotonic()
        self._tell_room()
        self._person.on_taken()

    async def require(self) -> Room:
        """Returns the workcell under control, which is taken if nobody has it.

        Raises:
            ServiceError: With the reason.
        """
        if not self._lease_id:
            await self.acquire(False)
        if self._person.room is None:
            raise ServiceError('there is no workcell yet')
        return self._person.room

    async def release(self) -> None:
        """Gives control back, if the session has it.

        Raises:
            ServiceError: With the reason.
        """
        self._asks = False
        lease_id, self._lease_id = self._lease_id, ''
        if lease_id:
            await self._give(lease_id)
            self._log(f'{self._name} gave up control of {self._workcell_id}')

    async def give_back(self) -> None:
        """The person gives control back, and with it the place.

        Raises:
            ServiceError: With the reason.
        """
        await self.release()
        self._person.on_given()

    async def release_quietly(self) -> None:
        """Gives control back; a host that does not answer ends the lease by itself."""
        try:
            await self.release()
        except ServiceError:
            pass

    def release_at_exit(self) -> None:
        """Gives control back as the bridge ends, without waiting."""
        lease_id, self._lease_id = self._lease_id, ''
        room = self._person.room
        if lease_id and room is not None:
            room.release_at_exit(lease_id)

    def ask_no_more(self) -> None:
        """Its page is gone, or another person's: nobody hands it control."""
        self._asks = False

    async def hand_over(self) -> None:
        """Hands control to who asks for it, is there and may drive; gives it back if nobody does.

        Raises:
            ServiceError: With the reason.
        """
        room = self._person.room
        if room is None or not self._lease_id:
            raise ServiceError('you do not have control')
        next_holder = next((visitor for visitor in room.visitors if visitor.asks and visitor.may_drive), None)
        if next_holder is None:
            await self.give_back()
            return
        answer = await self._call(
            'TransferControl',
            lease_id=self._lease_id,
            session_id=next_holder.session_id,
            operator_id=next_holder.operator,
            sources=PAGE_DEVICES,
        )
        self._lease_id = ''
        self._given_ns = now_ns()
        self._person.on_given()
        if not next_holder.take_lease(answer.lease_id, room):
            await self._call('ReleaseControl', lease_id=answer.lease_id)

    async def emergency_stop(self) -> None:
        """Stops the arm.

        Raises:
            ServiceError: With the reason.
        """
        if self._person.room is None:
            raise ServiceError('there is no workcell yet')
        await self._person.room.stop(self._person, self._call)

    async def clear_emergency_stop(self) -> None:
        """Lets a stopped arm move again, with a fresh press.

        Raises:
            ServiceError: With the reason.
        """
        objection = self.release_objection()
        if objection:
            raise ServiceError(objection)
        await self._call('ClearEmergencyStop', who=self._person.operator, confirm=True)

    def release_objection(self) -> str:
        """Returns why this person may not release the emergency stop, and who may; empty if he may.

        A supervisor's stop is released by supervisors alone. Any other is released by the operator who has control or
        has pressed it, by each operator while nobody has control, and by supervisors: in the panel, if another has it.
        """
        role, room = self._person.role, self._person.room
        if room is None:
            return 'there is no workcell yet'
        if room.supervisors_stop and not role.includes(Role.SUPERVISOR):
            return 'a supervisor has to release it'
        operates = role.includes(Role.OPERATOR)
        if operates and (room.free or self._lease_id or room.was_stopped_by(self._person.session_id)):
            return ''
        if room.free:
            return 'an operator or a supervisor releases it'
        if role.includes(Role.SUPERVISOR):
            return 'another drives here: release it in the panel'
        return 'whoever has control releases it, or the operator who pressed it, or a supervisor'

    async def home(self) -> None:
        """Drives the arm to its home posture, gently.

        Raises:
            ServiceError: With the reason.
        """
        await self.require()
        await self._call('Home', lease_id=self._lease_id, speed_scale=HOMING_SPEED)

    async def each_second(self) -> None:
        """Keeps the lease while the page is there, or takes it back from an earlier run of the bridge."""
        if self._lease_id:
            if time.monotonic() - self._renewed_s > RENEW_PERIOD_S:
                await self._renew()
        elif self._is_mine(self._person.room.control if self._person.room is not None else None):
            answer = await self._acquire_quietly()
            if answer is not None:
                self.take(answer.lease_id)

    def renew_soon(self) -> None:
        """The host is told the person's name again."""
        self._renewed_s = 0.0

    def on_control(self, state: ControlState) -> bool:
        """The host says who has control; returns whether the session should take it now."""
        stamp_ns = to_nanoseconds(state.header.stamp)
        if self._lease_id and state.lease_id != self._lease_id and stamp_ns > self._lease_since_ns:
            self._lease_id = ''
            if not state.lease_id:  # else the page tells to whom it went
                self._person.notice('your control has ended', 'info')
        return self._is_mine(state) or (self._asks and not state.lease_id)

    def _is_mine(self, state: ControlState | None) -> bool:
        """An earlier run of the bridge took control for this session."""
        if self._lease_id or self._doubts or state is None or self._person.session_id not in state.sessions:
            return False
        return to_nanoseconds(state.header.stamp) > self._given_ns  # not what it has just given back

    async def _renew(self) -> None:
        """Keeps the lease. A host that has begun anew knows nothing of it, and would give one without a press."""
        held, self._renewed_s = self._lease_id, time.monotonic()
        self._doubts += 1
        try:
            answer = await self._acquire_quietly()
            if answer is not None and answer.lease_id not in (held, self._lease_id):
                await self._give(answer.lease_id)
        except ServiceError:
            pass  # it ends by itself
        finally:
            self._doubts -= 1

    async def _give(self, lease_id: str) -> None:
        """Gives a lease back. Until the host has answered, it may tell of it as held: that is no reason to take it."""
        self._doubts += 1
        try:
            await self._call('ReleaseControl', lease_id=lease_id)
        finally:
            self._given_ns = now_ns()
            self._doubts -= 1

    async def _acquire_quietly(self) -> Any:
        try:
            return await self._acquire(takeover=False)
        except ServiceError:
            return None

    async def _acquire(self, *, takeover: bool) -> Any:
        person = self._person
        return await self._call(
            'AcquireControl',
            session_id=person.session_id,
            operator_id=person.operator,
            parts=[],
            takeover=takeover,
            sources=PAGE_DEVICES,
        )

    def _tell_room(self) -> None:
        if self._person.room is not None:
            self._person.room.tell_control()

    @property
    def _name(self) -> str:
        return f'{self._person.operator} (session {self._person.session_id})'

    @property
    def _workcell_id(self) -> str:
        return self._person.room.workcell_id if self._person.room is not None else ''
