"""What a page is told: on its events channel, or on its WebSocket while that is not open."""

import asyncio
import contextlib
import json
import time
from collections.abc import Coroutine
from typing import Any

from aiohttp import web

from cobalt_teleop.bridge.media.session_media import SessionMedia
from cobalt_teleop.bridge.wire.page_events import Event
from cobalt_teleop.bridge.wire.page_messages import PageMessageError

COMPLAINTS_PERIOD_S = 0.1

FAREWELL_S = 2.0
"""A page that does not read may take so long to hear that it has to go [s]."""


class PageVoice:
    """Speaks to the page of one session, whichever that is now. Lives in the event loop.

    Args:
        media: Has the events channel.
    """

    def __init__(self, media: SessionMedia) -> None:
        self._media = media
        self._socket: web.WebSocketResponse | None = None
        self._news: dict[str, Event] = {}
        self._sending: set[asyncio.Task[Any]] = set()
        self._complained_s = 0.0

    @property
    def connected(self) -> bool:
        """A page is there."""
        return self._socket is not None and not self._socket.closed

    def take(self, socket: web.WebSocketResponse) -> None:
        """Speaks to another page from now on."""
        self._socket = socket
        self._news.clear()

    def speaks_on(self, socket: web.WebSocketResponse) -> bool:
        """Returns whether it speaks to this page."""
        return self._socket is socket

    def replace(self) -> None:
        """Tells the page, if there is one, that another takes its place; nobody waits until it has heard."""
        old, self._socket = self._socket, None
        if old is not None and not old.closed:
            self._in_background(_farewell(old, {'type': 'replaced', 'text': 'This session is open in another tab.'}))

    def drop(self, socket: web.WebSocketResponse) -> bool:
        """The connection of a page is gone; returns whether it was that of the present one."""
        if self._socket is not socket:
            return False
        self._socket = None
        return True

    async def send_away(self, text: str) -> None:
        """Tells the page why, and ends its connection; it does not come again by itself."""
        socket, self._socket = self._socket, None
        if socket is not None and not socket.closed:
            await _farewell(socket, {'type': 'refused', 'text': text})

    async def close(self) -> None:
        """Ends the connection of the page, which comes again when it can."""
        socket, self._socket = self._socket, None
        if socket is not None and not socket.closed:
            await socket.close(code=1001, message=b'the bridge ends')

    def tell(self, event: Event) -> None:
        """Sends an event."""
        text = json.dumps(event, allow_nan=False, default=str)
        if event['type'] != 'offer' and self._media.send_event(text):
            return
        self._send_soon(text)

    def tell_news(self, event: Event) -> None:
        """Sends an event unless it says what the last of its type said."""
        if self.connected and self._news.get(event['type']) != event:
            self._news[event['type']] = event
            self.tell(event)

    def notice(self, text: str, level: str = 'error') -> None:
        """Shows the person a sentence."""
        self.tell({'type': 'notice', 'level': level, 'text': text[:1].upper() + text[1:]})

    def pong(self) -> None:
        """Answers a ping on the WebSocket, by the same way."""
        self._send_soon(json.dumps({'type': 'pong'}))

    def complain(self, error: PageMessageError) -> None:
        """Tells the page what was wrong with its message, not too often."""
        if self.may_complain():
            self.tell({'type': 'error', 'text': str(error)})

    def may_complain(self) -> bool:
        """Returns whether it is time for another complaint, and counts it."""
        now_s = time.monotonic()
        if now_s - self._complained_s < COMPLAINTS_PERIOD_S:
            return False
        self._complained_s = now_s
        return True

    def _send_soon(self, text: str) -> None:
        if self._socket is not None and not self._socket.closed:
            self._in_background(_send_text(self._socket, text))

    def _in_background(self, sending: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(sending)
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)


async def _farewell(socket: web.WebSocketResponse, event: Event) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(FAREWELL_S):
            await _send_text(socket, json.dumps(event))
            await socket.close()


async def _send_text(socket: web.WebSocketResponse, text: str) -> None:
    try:
        if not socket.closed:
            await socket.send_str(text)
    except (ConnectionError, RuntimeError):
        pass
