"""The gate before the server: who may open a connection, and how much it may send.

The SDK's server answers to anybody, and a browser lets every page that a person visits open a WebSocket to this
machine. So that server listens on a loopback address and port drawn by chance, which no page can know, and the port
that is told leads through this gate. It reads the head of each connection, and passes the rest on as it is.
"""

import asyncio
import secrets
import socket
import threading
import time
from collections.abc import Callable, Sequence
from typing import cast

from cobalt_teleop.bridge.door.door import EntryRefusedError
from cobalt_teleop.bridge.door.entrance import Entrance
from cobalt_teleop.foxglove.knock import Knock, KnockError, knock_of

MAX_HEAD_BYTES = 16 * 1024

MAX_BYTES_PER_S = 1_000_000
"""What one client may send; it asks and calls, but sends no data [bytes/s]."""

_PIECE_BYTES = 64 * 1024


def hidden_address() -> str:
    """Returns a loopback address drawn by chance."""
    return f'127.{secrets.randbelow(254) + 1}.{secrets.randbelow(256)}.{secrets.randbelow(254) + 1}'


class Gate:
    """Passes connections on to the server, from an event loop in a thread of its own.

    Args:
        entrance: Takes the connections in.
        server: Address and port of the server behind.
        origins: Pages that may connect, such as `https://app.foxglove.dev`. A program that is no browser sends none.
        max_clients: Connections at the same time.
        log: Hears who was refused, once a second at most.
    """

    def __init__(
        self,
        entrance: Entrance,
        server: tuple[str, int],
        *,
        origins: Sequence[str],
        max_clients: int,
        log: Callable[[str], object],
    ) -> None:
        self._entrance = entrance
        self._server = server
        self._origins = tuple(origins)
        self._max_clients = max_clients
        self._log = log
        self._clients = 0
        self._logged_s = float('-inf')
        self._unlogged = 0
        self._loop = asyncio.new_event_loop()
        self._ended = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name='gate', daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends all connections."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._ended.set)
            self._thread.join(timeout=2.0)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        async with self._entrance.opened(self._make_protocol):
            await self._ended.wait()

    def _make_protocol(self) -> asyncio.StreamReaderProtocol:
        return asyncio.StreamReaderProtocol(
            asyncio.StreamReader(limit=MAX_HEAD_BYTES, loop=self._loop), self._on_connection, loop=self._loop
        )

    async def _on_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            knock = knock_of(await reader.readuntil(b'\r\n\r\n'))
            self._check(knock, address=cast(str, writer.get_extra_info('peername')[0]))
            self._clients += 1
            try:
                await self._pass_on(knock.head, reader, writer)
            finally:
                self._clients -= 1
        except (KnockError, EntryRefusedError) as refusal:
            self._tell(str(refusal))
            await _refuse(writer, str(refusal))
        except (OSError, EOFError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass  # it left, says nothing that a client says, or the gate is closed
        finally:
            writer.close()

    def _check(self, knock: Knock, address: str) -> None:
        knock.check(self._entrance.names.is_own_host, self._origins)
        guest = self._entrance.door.admit(knock.token, address, forwarded=knock.forwarded)
        if guest.invitation_id:
            raise KnockError("this door takes the owner's token alone, and no invitation")
        if self._clients >= self._max_clients:
            raise KnockError(f'{self._max_clients} clients are connected already')

    async def _pass_on(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection(*self._server)
        flows: list[asyncio.Task[None]] = []
        try:
            to_server.write(head)
            flows = [
                asyncio.create_task(_limited_flow(reader, to_server)),
                asyncio.create_task(_prompt_flow(from_server, to_server.get_extra_info('socket'), writer)),
            ]
            await asyncio.wait(flows, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for flow in flows:
                flow.cancel()
            await asyncio.gather(*flows, return_exceptions=True)
            to_server.close()

    def _tell(self, reason: str) -> None:
        now_s = time.monotonic()
        if now_s - self._logged_s < 1.0:
            self._unlogged += 1
            return
        more = f' (and {self._unlogged} more before)' if self._unlogged else ''
        self._logged_s, self._unlogged = now_s, 0
        self._log(f'refused a client: {reason}{more}')


async def _limited_flow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(_PIECE_BYTES):
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(len(piece) / MAX_BYTES_PER_S)


async def _prompt_flow(reader: asyncio.StreamReader, connection: socket.socket, writer: asyncio.StreamWriter) -> None:
    while True:
        # The SDK leaves Nagle's algorithm on: what it sends next would wait 40 ms for a delayed acknowledgement.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        if not (piece := await reader.read(_PIECE_BYTES)):
            return
        writer.write(piece)
        await writer.drain()


async def _refuse(writer: asyncio.StreamWriter, reason: str) -> None:
    body = f'Refused: {reason}\n'.encode()
    writer.write(
        b'HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n'
        b'X-Content-Type-Options: nosniff\r\nContent-Length: %d\r\n\r\n%s' % (len(body), body)
    )
    try:
        await writer.drain()
    except OSError:
        pass
