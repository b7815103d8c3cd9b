"""Records what a browser paints: frames of the DevTools screencast, each with the time at which it was on screen."""

import asyncio
import base64
import json
import threading
import urllib.request
from typing import Any

import aiohttp


class Screencast:
    """A DevTools client of its own, in a thread of its own, so that each frame is acknowledged at once.

    Args:
        port: The browser's remote debugging port.
        address: Beginning of the page's address.
    """

    def __init__(self, port: int, address: str) -> None:
        with urllib.request.urlopen(f'http://127.0.0.1:{port}/json', timeout=5.0) as answer:
            pages = [page for page in json.load(answer) if page['type'] == 'page' and page['url'].startswith(address)]
        self._socket_address = pages[0]['webSocketDebuggerUrl']
        self.frames: list[tuple[float, bytes]] = []
        """Times [ms since 1970] and JPEG files."""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._record()), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends the recording."""
        self._stop.set()
        self._thread.join(5.0)

    async def _record(self) -> None:
        async with (
            aiohttp.ClientSession() as http,
            http.ws_connect(self._socket_address, max_msg_size=0) as socket,
        ):
            settings = {'format': 'jpeg', 'quality': 50, 'everyNthFrame': 1}
            await socket.send_json({'id': 1, 'method': 'Page.startScreencast', 'params': settings})
            number = 1
            while not self._stop.is_set():
                try:
                    event: dict[str, Any] = await socket.receive_json(timeout=0.5)
                except TimeoutError:
                    continue
                if event.get('method') != 'Page.screencastFrame':
                    continue
                number += 1
                frame = event['params']
                acknowledged = {'sessionId': frame['sessionId']}
                await socket.send_json({'id': number, 'method': 'Page.screencastFrameAck', 'params': acknowledged})
                self.frames.append((frame['metadata']['timestamp'] * 1e3, base64.b64decode(frame['data'])))
