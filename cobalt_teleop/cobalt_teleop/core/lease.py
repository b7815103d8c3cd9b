"""Who may drive a workcell: at most one holder, whose lease is renewed by use."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from cobalt_teleop.core.command import HoldReason
from cobalt_teleop.core.errors import CobaltError

TAKING_CONTROL_S = 1.5
"""By so much a press that asks for control may be older than the control that it gets [s]."""


class LeaseRefusedError(CobaltError):
    """Control was not given; the message says who holds it."""


@dataclass(kw_only=True)
class Lease:
    """One holder's right to drive.

    Attributes:
        lease_id: An identifier, not a secret.
        holder: Operator's name.
        session: His session, which may have several devices.
        expires_s: Monotonic time at which it ends unless it is used [s].
        sources: Devices that may drive under it, one at a time; empty for the first that is heard on a topic.
        publishers: For each command topic, the publisher that a source is bound to: the first whose command came under
            this lease.
    """

    lease_id: str
    holder: str
    session: str
    expires_s: float
    sources: tuple[str, ...] = ()
    publishers: dict[str, dict[str, bytes]] = field(default_factory=dict)


class LeaseDesk:
    """The lease of one workcell.

    Args:
        duration_s: How long a lease lasts without use [s].
    """

    def __init__(self, duration_s: float = 15.0) -> None:
        self._duration_s = duration_s
        self._lease: Lease | None = None
        self._requested_by = ''

    def current(self, now_s: float) -> Lease | None:
        """Returns the lease in force at monotonic time `now_s`."""
        if self._lease is not None and now_s >= self._lease.expires_s:
            self._lease = None
            self._requested_by = ''
        return self._lease

    @property
    def requested_by(self) -> str:
        """Operator who asks for a hand-over."""
        return self._requested_by

    def acquire(
        self,
        *,
        session: str,
        operator: str,
        takeover: bool,
        lease_id: str,
        now_s: float,
        sources: Sequence[str] = (),
    ) -> Lease:
        """Gives control if nobody else has it.

        Args:
            session: Who asks; the holder's own session gets its lease again.
            operator: Name shown to others; the holder's own session may bring a new one.
            takeover: Leave a request with the holder if there is one.
            lease_id: For a new lease.
            now_s: Monotonic time [s].
            sources: Devices that may drive; empty for the first that is heard.

        Raises:
            LeaseRefusedError: Somebody else holds control, or the session has no name.
        """
        if not session:
            raise LeaseRefusedError('control needs a session: session_id is empty')
        lease = self.current(now_s)
        if lease is not None and lease.session == session:
            lease.expires_s = now_s + self._duration_s
            lease.sources = tuple(sources)
            lease.holder = operator or lease.holder
            return lease
        if lease is not None:
            if takeover:
                self._requested_by = operator or session
            asked = ' They have been asked to hand over.' if takeover else ''
            raise LeaseRefusedError(f'{lease.holder} holds control.{asked}')
        return self._give(session, operator, lease_id, now_s, sources)

    def transfer(
        self, *, held: str, session: str, operator: str, lease_id: str, now_s: float, sources: Sequence[str] = ()
    ) -> Lease:
        """Hands control from the holder of the lease `held` to another session.

        Raises:
            LeaseRefusedError: `held` is not the lease in force, or the next session has no name.
        """
        self.require(held, now_s)
        if not session:
            raise LeaseRefusedError('control needs a session: session_id is empty')
        return self._give(session, operator, lease_id, now_s, sources)

    def release(self, lease_id: str, now_s: float) -> None:
        """Gives control back.

        Raises:
            LeaseRefusedError: It is not the lease in force.
        """
        self.require(lease_id, now_s)
        self._lease = None
        self._requested_by = ''

    def require(self, lease_id: str, now_s: float) -> Lease:
        """Returns the lease in force if it is `lease_id`, and renews it.

        Raises:
            LeaseRefusedError: It is not.
        """
        lease = self.current(now_s)
        if lease is None:
            raise LeaseRefusedError('nobody holds control: take control first')
        if lease.lease_id != lease_id:
            raise LeaseRefusedError(f'{lease.holder} holds control')
        lease.expires_s = now_s + self._duration_s
        return lease

    def admit(
        self, stream: str, lease_id: str, source: str, publisher: bytes | None, now_s: float, *, of_person: bool = True
    ) -> HoldReason:
        """Tells whether a command may drive.

        Args:
            stream: Topic that it came on.
            lease_id: Under which it came.
            source: Name of the device or policy; each is bound to one publisher.
            publisher: Its publisher's gid; None where the middleware does not tell, and the name must do.
            now_s: Monotonic time [s].
            of_person: It comes from a device of the holder, and shows that he is there.
        """
        lease = self.current(now_s)
        if lease is None:
            return HoldReason.NO_LEASE
        if lease.lease_id != lease_id:
            return HoldReason.FOREIGN_LEASE
        bound = lease.publishers.setdefault(stream, {})
        if source not in bound:
            sources = lease.sources if of_person else ()
            if source not in sources if sources else bound:
                return HoldReason.FOREIGN_PUBLISHER
            bound[source] = publisher or b''
        if bound[source] != (publisher or b''):
            return HoldReason.FOREIGN_PUBLISHER
        if of_person:
            lease.expires_s = now_s + self._duration_s
        return HoldReason.NONE

    def _give(self, session: str, operator: str, lease_id: str, now_s: float, sources: Sequence[str]) -> Lease:
        self._requested_by = ''
        self._lease = Lease(
            lease_id=lease_id,
            holder=operator or session,
            session=session,
            expires_s=now_s + self._duration_s,
            sources=tuple(sources),
        )
        return self._lease
