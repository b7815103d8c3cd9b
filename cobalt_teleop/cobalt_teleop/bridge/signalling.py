"""The WebSocket of a page: who it is, then what it says, until it goes or is sent away."""

import asyncio
from collections.abc import AsyncIterator, Callable

from aiohttp import WSCloseCode, WSMsgType, web

from cobalt_teleop.bridge.door.arrival_pace import TOO_OFTEN, ArrivalPace
from cobalt_teleop.bridge.door.door import Door
from cobalt_teleop.bridge.door.guest import Guest
from cobalt_teleop.bridge.door.limits import DoorLimits, Places
from cobalt_teleop.bridge.door.visitor import visitor_of
from cobalt_teleop.bridge.operators.companion import Companion
from cobalt_teleop.bridge.operators.lobby import Lobby, NotYetError, public_session_id
from cobalt_teleop.bridge.operators.session import Session
from cobalt_teleop.bridge.wire.first_message import first_message
from cobalt_teleop.bridge.wire.page_messages import MAX_SIGNAL_BYTES, PageMessage, PageMessageError, parse_signal
from cobalt_teleop.core.errors import CobaltError

HEARTBEAT_S = 5.0
WATCH_PERIOD_S = 1.0
MAX_REMEMBERED = 1000

MAX_UNREAD_BYTES = 2_000_000
"""What a page leaves unread on its WebSocket; one that reads nothing, but says that it lives, would cost ever more."""

REVOKED = 'Your invitation was taken back. Ask whoever runs this robot for a new link.'
FULL = 'Too many pages are open here. Close some, or try again later.'


class Signalling:
    """Takes pages in and passes on what they say. Lives in the event loop.

    Args:
        lobby: Where they go.
        door: Decides who they are.
        limits: How many, how fast, how long.
        log: Writes a line to the log of whoever runs the bridge.
    """

    def __init__(self, lobby: Lobby, door: Door, limits: DoorLimits, log: Callable[[str], None]) -> None:
        self._lobby = lobby
        self._door = door
        self._limits = limits
        self._log = log
        self._pace = ArrivalPace(limits)
        self._places = Places(limits.pages, limits.pages_of_address)
        self._came_from: dict[str, str] = {}
        self._pages: dict[web.WebSocketResponse, tuple[Guest, asyncio.Transport | None]] = {}

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Answers a request for the WebSocket."""
        upgrade = web.WebSocketResponse(heartbeat=HEARTBEAT_S, max_msg_size=MAX_SIGNAL_BYTES, compress=False)
        if not upgrade.can_prepare(request).ok:
            return web.Response(status=426, text='This address is for the WebSocket of the page.\n')
        address = visitor_of(request).address
        if not self._places.take(address):
            self._lobby.metrics.note_refusal('full')
            return web.Response(status=503, text=f'{FULL}\n')
        try:
            await upgrade.prepare(request)
            await self._converse(request, upgrade)
        finally:
            self._places.give_back(address)
        return upgrade

    async def watch(self, app: web.Application) -> AsyncIterator[None]:
        """Looks after open pages while the server runs; for `app.cleanup_ctx`."""
        watching = asyncio.get_running_loop().create_task(self._watch())
        yield
        watching.cancel()

    async def _converse(self, request: web.Request, upgrade: web.WebSocketResponse) -> None:
        try:
            hello = await first_message(upgrade, 'hello', parse_signal, self._limits.hello_s)
            visitor, page_id = visitor_of(request), public_session_id(hello['session'])
            main = self._lobby.paired_with(hello['token'], page_id)
            if main is not None:
                guest = main.guest
            else:
                guest = self._door.admit(
                    hello['token'], visitor.address, session_id=page_id, forwarded=visitor.forwarded
                )
            if not self._pace.may_come(guest, page_id, visitor.address):
                self._lobby.metrics.note_refusal('often')
                await asyncio.sleep(self._limits.too_often_s)
                await _end(upgrade, 'notice', TOO_OFTEN, level='error')
                return
            page = await self._admit(upgrade, hello, guest, visitor.address, main)
        except NotYetError as error:
            await asyncio.sleep(self._limits.too_often_s)
            await _end(upgrade, 'notice', str(error), level='info')
            return
        except PageMessageError as error:
            self._lobby.metrics.note_refusal('message')
            await _end(upgrade, 'error', str(error))
            return
        except CobaltError as refusal:
            self._lobby.metrics.note_refusal('door')
            await _end(upgrade, 'refused', str(refusal))
            return
        self._pages[upgrade] = guest, request.transport
        try:
            await self._listen(upgrade, page)
        finally:
            del self._pages[upgrade]
            await self._lobby.dismiss(page, upgrade)

    async def _admit(
        self, upgrade: web.WebSocketResponse, hello: PageMessage, guest: Guest, address: str, main: Session | None
    ) -> Session | Companion:
        """Takes a page in: as one more of a session, such as a phone beside a laptop, or as a session's own."""
        if main is not None:
            return await self._lobby.admit_companion(upgrade, hello, main, public_session_id(hello['session']))
        session = await self._lobby.admit(upgrade, hello, guest, address)
        self._note_arrival(session, guest, address)
        return session

    def _note_arrival(self, session: Session, guest: Guest, address: str) -> None:
        """Logs who has come from where; not each time that a page comes back."""
        if not self._door.needs_token and not guest.invitation_id:
            return
        if self._came_from.pop(session.session_id, '') != address:
            by = f'invitation {guest.invitation_id}' if guest.invitation_id else "the owner's link"
            self._log(f'{session.operator} (session {session.session_id}) comes as {guest.role} by {by} from {address}')
        self._came_from[session.session_id] = address
        if len(self._came_from) > MAX_REMEMBERED:
            del self._came_from[next(iter(self._came_from))]

    async def _listen(self, upgrade: web.WebSocketResponse, page: Session | Companion) -> None:
        async for message in upgrade:
            if message.type != WSMsgType.TEXT:
                await upgrade.close(code=WSCloseCode.UNSUPPORTED_DATA, message=b'text alone')
            elif page.is_open_on(upgrade):  # the page of another tab may not have heard yet that it is replaced
                page.on_signal(message.data)

    async def _watch(self) -> None:
        """Sends away those whose invitation is revoked, and cuts off those who do not read."""
        while True:
            await asyncio.sleep(WATCH_PERIOD_S)
            await self._send_revoked_away()
            for upgrade, (guest, transport) in tuple(self._pages.items()):
                if transport is not None and transport.get_write_buffer_size() > MAX_UNREAD_BYTES:
                    self._log(f'{guest.name or "a page"} does not read what it is told, and is cut off')
                    transport.abort()
                elif transport is not None and not upgrade.closed and not self._door.is_still_welcome(guest):
                    transport.abort()  # it was told to go

    async def _send_revoked_away(self) -> None:
        """Ends sessions, also of those whose page is away: control is free at once."""
        revoked = [session for session in self._lobby.sessions if not self._door.is_still_welcome(session.guest)]
        for session in revoked:
            self._log(f'invitation {session.guest.invitation_id} is revoked: {session.operator} is sent away')
        leaving = (self._lobby.send_away(session, REVOKED) for session in revoked)
        for error in await asyncio.gather(*leaving, return_exceptions=True):
            if isinstance(error, Exception):
                self._log(f'somebody was not sent away as usual: {error!r}')


async def _end(upgrade: web.WebSocketResponse, kind: str, text: str, **fields: str) -> None:
    """Tells a page why, and closes its connection."""
    if upgrade.closed:
        return
    try:
        async with asyncio.timeout(2.0):
            await upgrade.send_json({'type': kind, 'text': text, **fields})
            await upgrade.close(code=WSCloseCode.POLICY_VIOLATION)
    except (ConnectionError, RuntimeError, TimeoutError):
        pass  # it has gone already
