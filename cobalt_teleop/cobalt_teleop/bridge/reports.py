"""Health and metrics over HTTP: that the bridge runs is no secret, who is here is."""

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST

from cobalt_teleop.bridge.door.door import Door, EntryRefusedError
from cobalt_teleop.bridge.door.guest import Role
from cobalt_teleop.bridge.door.visitor import visitor_of
from cobalt_teleop.bridge.operators.lobby import Lobby

_FOR_SUPERVISORS = (
    'Metrics are for whoever runs this bridge. As it serves the network, they need the header '
    "'Authorization: Bearer TOKEN' on its own machine too; TOKEN is in the file owner_token of its state folder.\n"
)


class Reports:
    """Answers `/healthz` and `/metrics`.

    Args:
        lobby: Of which they tell.
        door: Knows who may read all.
    """

    def __init__(self, lobby: Lobby, door: Door) -> None:
        self._lobby = lobby
        self._door = door

    async def health(self, request: web.Request) -> web.Response:
        """Tells that the bridge runs; to supervisors, what it does too."""
        return web.json_response(self._lobby.health() if self._may_read_all(request) else {'ok': True})

    async def metrics(self, request: web.Request) -> web.Response:
        """Tells all metrics, in the text format of Prometheus."""
        if not self._may_read_all(request):
            return web.Response(status=401, text=_FOR_SUPERVISORS, headers={'WWW-Authenticate': 'Bearer'})
        return web.Response(body=self._lobby.metrics.text(), headers={'Content-Type': CONTENT_TYPE_LATEST})

    def _may_read_all(self, request: web.Request) -> bool:
        visitor = visitor_of(request)
        try:
            guest = self._door.admit(visitor.token, visitor.address, forwarded=visitor.forwarded)
        except EntryRefusedError:
            return False
        return guest.role.includes(Role.SUPERVISOR)
