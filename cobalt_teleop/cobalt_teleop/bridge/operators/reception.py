"""What a session knows of the lobby that it came by, and what all sessions keep."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cobalt_teleop.bridge.metrics import Metrics
from cobalt_teleop.bridge.network.media_way import MediaWay
from cobalt_teleop.bridge.wire.page_messages import PageMessage

if TYPE_CHECKING:
    from cobalt_teleop.bridge.operators.session import Session


@dataclass(frozen=True, kw_only=True)
class SessionRules:
    """What all sessions keep.

    Attributes:
        service_timeout_s: How long a host may take to answer [s].
        episode_timeout_s: How long an episode may take to end before a reset gives up [s].
        require_recording: Refuse to start an episode that nobody records.
        adaptive_video: Video follows the viewers' links.
        way: How media finds its way.
        messages_per_s: A page may send, on average.
    """

    service_timeout_s: float
    episode_timeout_s: float
    require_recording: bool
    adaptive_video: bool
    way: MediaWay
    messages_per_s: float


class Reception(Protocol):
    """The lobby, as its sessions see it."""

    @property
    def metrics(self) -> Metrics:
        """Counts how links are."""

    def objection(self, session: 'Session') -> str:
        """Returns why a session may not take control where it is; empty if it may."""

    def took_control(self, session: 'Session') -> None:
        """A session has control."""

    def gave_control(self, session: 'Session') -> None:
        """A person has given control back, or handed it over."""

    async def serve(self, session: 'Session', message: PageMessage) -> None:
        """Does what a person asks of the lobby, or raises ServiceError with the reason."""

    async def send_away(self, session: 'Session', text: str) -> None:
        """Ends a session, and tells its page why."""
