"""The WebSocket of a page's connection test: who it is, as at every door, then the test."""

from aiohttp import WSCloseCode, web

from cobalt_teleop.bridge.door.arrival_pace import ArrivalPace
from cobalt_teleop.bridge.door.door import Door
from cobalt_teleop.bridge.door.limits import DoorLimits
from cobalt_teleop.bridge.door.visitor import visitor_of
from cobalt_teleop.bridge.network.connection_check import CheckError, ConnectionChecks
from cobalt_teleop.bridge.network.media_way import MediaWay
from cobalt_teleop.bridge.operators.lobby import public_session_id
from cobalt_teleop.bridge.wire.first_message import first_message
from cobalt_teleop.bridge.wire.page_messages import MAX_SIGNAL_BYTES, parse_check
from cobalt_teleop.core.errors import CobaltError


class CheckSignalling:
    """Lets pages in for a test, and nothing else.

    Args:
        door: Decides who they are.
        limits: How many, how long.
        way: What is tested.
    """

    def __init__(self, door: Door, limits: DoorLimits, way: MediaWay) -> None:
        self._door = door
        self._limits = limits
        self._pace = ArrivalPace(limits)
        self._checks = ConnectionChecks(way)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Answers a request for the WebSocket."""
        upgrade = web.WebSocketResponse(max_msg_size=MAX_SIGNAL_BYTES, compress=False)
        if not upgrade.can_prepare(request).ok:
            return web.Response(status=426, text='This address is for the WebSocket of the connection test.\n')
        await upgrade.prepare(request)
        try:
            check = await first_message(upgrade, 'check', parse_check, self._limits.hello_s)
            visitor = visitor_of(request)
            session_id = public_session_id(check['session'])
            guest = self._door.admit(
                check['token'], visitor.address, session_id=session_id, forwarded=visitor.forwarded
            )
            if not self._pace.may_come(guest, session_id, visitor.address):
                raise CheckError('many connection tests were begun here in a short time; try again in a minute')
            await self._checks.serve(upgrade)
        except CobaltError as error:
            if not upgrade.closed:
                await upgrade.send_json({'type': 'error', 'text': str(error)})
        except ConnectionError:
            pass  # the page has gone
        await upgrade.close(code=WSCloseCode.OK)
        return upgrade
