"""Takes connections in: so many and no more, with TLS where it must be, and only from those who come to the point."""

import asyncio
import contextlib
import errno
import re
import socket
import ssl
from collections.abc import Callable

from cobalt_teleop.bridge.door.limits import DoorLimits, Places, network_of

_TLS_HANDSHAKE = 0x16
_HEAD_END = b'\r\n\r\n'
_HOST = re.compile(rb'\r\nhost:[ \t]*([a-z0-9.:\[\]-]{1,255})[ \t]*\r\n', re.IGNORECASE)
_OUT_OF_FILES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_MAX_TOLD = 1000


class Doorman:
    """The accept loop of the web server. Lives in the event loop.

    Args:
        listener: Listens.
        make_protocol: Makes what speaks HTTP on one connection.
        context: For TLS; None for plain HTTP.
        is_own_host: Tells this server's names from foreign ones.
        limits: How many, and for how long.
        log: Writes a line to the log of whoever runs the bridge.
    """

    def __init__(
        self,
        listener: socket.socket,
        make_protocol: Callable[[], asyncio.Protocol],
        *,
        context: ssl.SSLContext | None,
        is_own_host: Callable[[str], bool],
        limits: DoorLimits,
        log: Callable[[str], None],
    ) -> None:
        self._listener = listener
        self._make_protocol = make_protocol
        self._context = context
        self._is_own_host = is_own_host
        self._limits = limits
        self._log = log
        self._places = Places(limits.sockets, limits.sockets_of_address)
        self._newcomers: dict[_Newcomer, None] = {}
        self._told: set[tuple[str, str]] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self) -> None:
        """Takes connections until it is cancelled; the listener is closed then."""
        loop = asyncio.get_running_loop()
        try:
            while True:
                try:
                    connection, peer = await loop.sock_accept(self._listener)
                except OSError as error:
                    if error.errno in _OUT_OF_FILES:
                        self._tell_once('', 'this process may open no more files: no further connection is taken')
                        await asyncio.sleep(0.2)
                    continue
                if not self._places.take(peer[0]) and not self._take_place_of_a_silent_one(peer[0]):
                    self._tell_once(peer[0], f'{peer[0]} has no connection more: too many are open')
                    connection.close()
                    continue
                newcomer = _Newcomer(connection, peer[0])
                self._newcomers[newcomer] = None
                task = newcomer.task = loop.create_task(self._receive(newcomer))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        finally:
            self._listener.close()
            for task in self._tasks:
                task.cancel()

    def _take_place_of_a_silent_one(self, address: str) -> bool:
        """Cuts off who has been there for longest without a request, of those who come from the same address."""
        network = network_of(address)
        silent = next((one for one in self._newcomers if network_of(one.address) == network), None)
        if silent is None:
            return False
        self._on_end(silent)
        silent.cut()
        return self._places.take(address)

    def _on_end(self, newcomer: '_Newcomer') -> None:
        self._newcomers.pop(newcomer, None)
        if newcomer.has_place:
            newcomer.has_place = False
            self._places.give_back(newcomer.address)

    async def _receive(self, newcomer: '_Newcomer') -> None:
        connection = newcomer.connection
        try:
            connection.setblocking(False)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            async with asyncio.timeout(self._limits.handshake_s):
                first = _TLS_HANDSHAKE if self._context is None else await _first_byte(connection)
                if first != _TLS_HANDSHAKE:
                    if first is not None:
                        await self._answer_plain_http(connection)
                    return
            guarded = _GuardedConnection(
                self._make_protocol(),
                self._limits.handshake_s,
                on_head=lambda: self._newcomers.pop(newcomer, None),
                on_lost=lambda error: self._on_lost(newcomer, error),
            )
            tls = {} if self._context is None else {'ssl_handshake_timeout': self._limits.handshake_s}
            newcomer.guarded = guarded
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: guarded, connection, ssl=self._context, **tls
            )
        except OSError as error:
            if newcomer.guarded is not None and not newcomer.guarded.made:
                self._on_lost(newcomer, error)
        finally:
            if newcomer.guarded is None:
                connection.close()
                self._on_end(newcomer)

    def _on_lost(self, newcomer: '_Newcomer', error: Exception | None) -> None:
        self._on_end(newcomer)
        address = newcomer.address
        if isinstance(error, ssl.SSLError) and 'ALERT' in (error.reason or ''):
            self._tell_once(
                address,
                f'a browser or program at {address} does not trust the certificate yet '
                f'({(error.reason or "").lower().replace("_", " ")})',
            )

    async def _answer_plain_http(self, connection: socket.socket) -> None:
        """Leads a browser that was given http:// to https://, without its token: that has been read on the way."""
        loop = asyncio.get_running_loop()
        found = _HOST.search(await loop.sock_recv(connection, 4096))
        host = found.group(1).decode() if found else ''
        if host and self._is_own_host(host):
            status, text, more = '307 Temporary Redirect', f'Use https://{host}/', f'Location: https://{host}/\r\n'
        else:
            status, text, more = '400 Bad Request', 'This port speaks https: write https:// before the address', ''
        answer = (
            f'HTTP/1.1 {status}\r\n{more}Content-Type: text/plain\r\nContent-Length: {len(text) + 1}\r\n'
            f'Connection: close\r\n\r\n{text}\n'
        )
        await loop.sock_sendall(connection, answer.encode())
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_WR)
            await loop.sock_recv(connection, 4096)  # what is still unread would reset the answer

    def _tell_once(self, address: str, text: str) -> None:
        key = (network_of(address), text.partition(' ')[0])
        if key not in self._told and len(self._told) < _MAX_TOLD:
            self._told.add(key)
            self._log(text)


class _Newcomer:
    """A connection, and how it is cut off while it has asked for nothing."""

    def __init__(self, connection: socket.socket, address: str) -> None:
        self.connection = connection
        self.address = address
        self.has_place = True
        self.task: asyncio.Task[None] | None = None
        self.guarded: _GuardedConnection | None = None

    def cut(self) -> None:
        """Ends it, however far it has come."""
        if self.guarded is not None and self.guarded.made:
            self.guarded.abort()
        elif self.task is not None:
            self.task.cancel()
            if self.guarded is None:
                self.task.add_done_callback(lambda _: self.connection.close())  # it may not have begun


class _GuardedConnection(asyncio.Protocol):
    """One connection; it is cut off if no head of a request has come in time.

    Args:
        inner: Speaks HTTP.
        head_s: From the start to the end of the first head [s].
        on_head: Called when that has come.
        on_lost: Told of its end.
    """

    def __init__(
        self,
        inner: asyncio.Protocol,
        head_s: float,
        *,
        on_head: Callable[[], object],
        on_lost: Callable[[Exception | None], None],
    ) -> None:
        self.made = False
        self._inner = inner
        self._head_s = head_s
        self._on_head = on_head
        self._on_lost = on_lost
        self._transport: asyncio.Transport | None = None
        self._tail = b''
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.made = True
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._deadline = asyncio.get_running_loop().call_later(self._head_s, transport.abort)
        self._inner.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        if self._deadline is not None:
            seen = self._tail + data
            if _HEAD_END in seen:
                self._end_deadline()
                self._on_head()
            self._tail = seen[-len(_HEAD_END) + 1 :]
        self._inner.data_received(data)

    def abort(self) -> None:
        """Cuts it off."""
        if self._transport is not None:
            self._transport.abort()

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_deadline()
        self._on_lost(exc)
        self._inner.connection_lost(exc)

    def _end_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


async def _first_byte(connection: socket.socket) -> int | None:
    """Returns the first byte that comes, and leaves it to be read again; None at the end of the connection."""
    loop = asyncio.get_running_loop()
    found: asyncio.Future[int | None] = loop.create_future()

    def look() -> None:
        if found.done():
            return
        try:
            data = connection.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return
        except OSError as error:
            found.set_exception(error)
        else:
            found.set_result(data[0] if data else None)

    loop.add_reader(connection, look)
    try:
        return await found
    finally:
        loop.remove_reader(connection)
