#!/usr/bin/env python3
"""Attacks every input of a bridge with hostile messages: HTTP, signalling and data channels. It must shrug them off."""

import argparse
import asyncio
import os
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import asynccontextmanager
from pathlib import Path

import harness

harness.enter_workspace()
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'cobalt_teleop' / 'test'))

import aiohttp  # noqa: E402
import psutil  # noqa: E402
import rclpy  # noqa: E402
from bridge_process import RUN_BRIDGE, free_port, running_host  # noqa: E402
from hostile_messages import HostileMessages  # noqa: E402
from page_client import PageClient  # noqa: E402
from running_stack import free_domain  # noqa: E402

MESSAGES = 100_000
SHARES = {
    'tcp': 0.02,
    'http': 0.06,
    'hello': 0.04,
    'check': 0.02,
    'signals': 0.46,
    'samples': 0.25,
    'events': 0.10,
    'unit_requests': 0.05,
}
"""How messages are shared among the inputs."""

_TOKEN = 'the-owner-while-it-is-attacked'
_HELLO = {
    'type': 'hello',
    'session': '',
    'workcell': '',
    'operator': 'Eve',
    'codecs': ['h264'],
    'road': 'track',
    'live': [0, 0],
    'token': _TOKEN,
}
_TRACE = re.compile(r'Traceback|File \\?"|line \d+, in |never (retrieved|awaited)|Segmentation')
_ANSWER_S = 3.0
_MAX_BUFFERED = 200_000
_STRANGER = ('127.0.0.9', 0)
"""Wrong tokens come from another address than the pages that are let in: it will have to wait."""
_LATE = (OSError, EOFError, TimeoutError, aiohttp.ClientError, asyncio.LimitOverrunError)
"""What a client sees of a connection that the bridge has ended."""


class AttackedBridge:
    """A bridge on all addresses, whose output is kept in a file.

    Args:
        folder: For its state and output.
    """

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.log = folder / 'bridge.log'
        self._certificate = folder / 'state' / 'certificate.pem'
        values = {
            'port': self.port,
            'host': '0.0.0.0',
            'state_dir': folder / 'state',
            'messages_per_s': 1e6,
            'grace_s': 1.0,
        }
        options = [part for name, value in values.items() for part in ('-p', f'{name}:={value}')]
        with self.log.open('wb') as output:
            self.process = psutil.Popen(
                [sys.executable, '-c', RUN_BRIDGE, '--ros-args', *options],
                stdout=output,
                stderr=subprocess.STDOUT,
                env=os.environ | {'PYTHONUNBUFFERED': '1', 'COBALT_TOKEN': _TOKEN},
            )

    def __enter__(self) -> 'AttackedBridge':
        end_s = time.monotonic() + 20.0
        while 'Open' not in self.printed():
            if self.process.poll() is not None or time.monotonic() > end_s:
                raise RuntimeError(f'the bridge does not serve: {self.printed()}')
            time.sleep(0.05)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> int:
        """Ends it; returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(8.0)
            except psutil.TimeoutExpired:
                self.process.kill()
        return int(self.process.wait(5.0))

    def printed(self) -> str:
        """Returns what it has written."""
        return self.log.read_text(errors='replace')

    def context(self) -> ssl.SSLContext:
        """Returns what a client needs to trust it."""
        return ssl.create_default_context(cafile=str(self._certificate))

    def rss_mb(self) -> float:
        """Returns its memory [MB]."""
        return float(self.process.memory_info().rss) / 1e6

    def page(self, **values: object) -> PageClient:
        """Returns a page of its owner."""
        return PageClient(self.port, token=_TOKEN, tls=self.context(), **values)


class Attack:
    """Hostile clients of one bridge, and what they have seen.

    Args:
        bridge: That is attacked.
        messages: How many, in all.
        seed: Of the messages.
    """

    def __init__(self, bridge: AttackedBridge, messages: int, seed: int) -> None:
        self._bridge = bridge
        self._hostile = HostileMessages(seed)
        self._left = {where: round(messages * share) for where, share in SHARES.items()}
        self._messages = messages
        self._context = bridge.context()
        self.sent: Counter[str] = Counter()
        self.refused = 0
        self.traces: list[str] = []
        self.rss_mb: list[float] = []

    @property
    def done(self) -> float:
        """Share that has been sent, 0 to 1."""
        return self.sent.total() / sum(round(self._messages * share) for share in SHARES.values())

    async def run(self) -> None:
        """Sends everything, from many clients at once."""
        watching = asyncio.ensure_future(self._watch())
        clients = [
            *(self._raw('tcp', None) for _ in range(2)),
            *(self._raw('http', self._context) for _ in range(3)),
            *(self._first_words('hello', '/ws', 'signals') for _ in range(3)),
            *(self._first_words('check', '/ws/check', 'checks') for _ in range(2)),
            *(self._converse() for _ in range(3)),
            self._channel('samples', 'control'),
            self._channel('samples', 'control'),
            self._channel('events', 'control'),
            self._channel('unit_requests', 'video'),
        ]
        try:
            await asyncio.gather(*clients)
        finally:
            watching.cancel()

    def _take(self, where: str) -> bool:
        if self._left[where] <= 0:
            return False
        self._left[where] -= 1
        self.sent[where] += 1
        return True

    def _look_at(self, content: str | bytes) -> None:
        text = content.decode(errors='replace') if isinstance(content, bytes) else content
        if _TRACE.search(text):
            self.traces.append(text[:500])

    async def _watch(self) -> None:
        told = 0
        while True:
            self.rss_mb.append(self._bridge.rss_mb())
            if int(10 * self.done) > told:
                told = int(10 * self.done)
                harness.say(f'{self.sent.total()} sent; the bridge has {self.rss_mb[-1]:.0f} MB')
            await asyncio.sleep(0.5)

    async def _raw(self, where: str, context: ssl.SSLContext | None) -> None:
        """Bytes on a socket: on the TLS port without TLS, or inside it."""
        while self._take(where):
            try:
                reader, writer = await asyncio.open_connection(
                    '127.0.0.1', self._bridge.port, ssl=context, local_addr=_STRANGER
                )
                try:
                    writer.write(self._hostile.request())
                    if writer.can_write_eof():
                        writer.write_eof()
                    async with asyncio.timeout(0.3):
                        self._look_at(await reader.read(3000))
                finally:
                    writer.transport.abort()
            except _LATE:
                continue

    async def _first_words(self, where: str, path: str, table: str) -> None:
        """What comes instead of a hello."""
        while self._take(where):
            try:
                async with self._socket(path, _STRANGER) as socket:
                    await _send(socket, self._hostile.message(table))
                    self._look_at(str((await socket.receive(timeout=0.2)).data))
            except _LATE:
                continue

    async def _converse(self) -> None:
        """A page that was let in, and then says what none would."""
        while self._left['signals'] > 0:
            try:
                async with self._socket('/ws') as socket:
                    await socket.send_json(_HELLO)
                    listening = asyncio.ensure_future(self._listen(socket))
                    for _ in range(300):
                        if listening.done() or not self._take('signals'):
                            break
                        await _send(socket, self._hostile.message('signals'))
                        await asyncio.sleep(0)
                    listening.cancel()
            except _LATE:
                continue

    async def _listen(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        async for message in socket:
            self._look_at(str(message.data))
            self.refused += '"type": "refused"' in str(message.data)

    async def _channel(self, where: str, connection: str) -> None:
        """A page whose data channels say what none would."""
        table = 'signals' if where == 'events' else where
        while self._left[where] > 0:
            try:
                async with self._bridge.page(road='units' if connection == 'video' else 'track') as page:
                    find = _channel_of(page, where, connection)
                    await page.until(find, f'the channel for {where}')
                    while self._take(where):
                        channel = find()
                        if channel is None or page.socket.closed:
                            break  # a message has ended it, as messages may
                        channel.send(self._hostile.message(table, _answer_of(page, connection)))
                        while channel.bufferedAmount > _MAX_BUFFERED and channel.readyState == 'open':
                            await asyncio.sleep(0.01)
                        await asyncio.sleep(0)
                    for event in page.events:
                        self._look_at(str(event))
            except (AssertionError, *_LATE):
                continue

    @asynccontextmanager
    async def _socket(self, path: str, source: tuple[str, int] | None = None):
        async with (
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(local_addr=source)) as client,
            client.ws_connect(
                f'https://127.0.0.1:{self._bridge.port}{path}',
                ssl=self._context,
                timeout=aiohttp.ClientWSTimeout(ws_close=0.2),
            ) as socket,
        ):
            yield socket


async def _send(socket: aiohttp.ClientWebSocketResponse, message: str | bytes) -> None:
    if isinstance(message, bytes):
        await socket.send_bytes(message)
    else:
        # A lone surrogate has no UTF-8: such a message can only be sent as JSON escapes it.
        await socket.send_str(message.encode(errors='replace').decode())


def _channel_of(page: PageClient, where: str, connection: str):
    def find():
        for (kind, label), channel in page.channels.items():
            wanted = kind == 'video' if connection == 'video' else label == where
            if wanted and channel.readyState == 'open':
                return channel
        return None

    return find


def _answer_of(page: PageClient, connection: str) -> str:
    peer = page.connections.get(connection)
    return peer.localDescription.sdp if peer is not None and peer.localDescription is not None else ''


async def still_serves(bridge: AttackedBridge) -> bool:
    """Returns whether a page that behaves gets all that it needs."""
    async with bridge.page(operator='Ada') as page:
        await page.until_event('step', timeout_s=30.0)
        await page.until_live()
        await page.say('acquire', ask=False)
        await page.until(lambda: page.newest('done') or page.newest('notice'), 'an answer')
    return True


def attack(messages: int, seed: int, log: Path | None = None) -> harness.Figures:
    """Attacks a bridge.

    Args:
        messages: How many.
        seed: Of the messages.
        log: Where a copy of the bridge's log goes.

    Raises:
        AssertionError: It did not shrug it off.
    """
    os.environ['ROS_DOMAIN_ID'] = str(free_domain())
    rclpy.init()
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            running_host('env_0', 'env_1'),
            AttackedBridge(Path(folder)) as bridge,
        ):
            asyncio.run(still_serves(bridge))
            attackers = Attack(bridge, messages, seed)
            started_s = time.monotonic()
            asyncio.run(attackers.run())
            took_s = time.monotonic() - started_s
            assert bridge.process.poll() is None, f'the bridge ended:\n{bridge.printed()[-3000:]}'
            assert asyncio.run(still_serves(bridge))
            after_mb = bridge.rss_mb()
            code = bridge.stop()
            printed = bridge.printed()
            if log is not None:
                log.write_text(printed)
    finally:
        rclpy.try_shutdown()
    traces = attackers.traces + [line for line in printed.splitlines() if _TRACE.search(line)]
    assert not traces, '\n'.join(traces[:5])
    assert not attackers.refused, f'{attackers.refused} pages were not let in, and their messages not read'
    assert code == 0, f'exit code {code}:\n{printed[-3000:]}'
    quarters = [attackers.rss_mb[round(share * (len(attackers.rss_mb) - 1))] for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    return {
        'messages': float(attackers.sent.total()),
        **{f'messages.{where}': float(count) for where, count in attackers.sent.items()},
        'messages_per_s': attackers.sent.total() / took_s,
        **{f'rss_after_{25 * index}_percent_mb': value for index, value in enumerate(quarters)},
        'rss_highest_mb': max(attackers.rss_mb),
        'rss_at_the_end_mb': after_mb,
        'tracebacks': 0.0,
        'log_lines': float(len(printed.splitlines())),
    }


def measure(arguments: argparse.Namespace) -> harness.Figures:
    """Attacks with as many messages as were asked for."""
    messages = arguments.messages or (MESSAGES // 20 if arguments.quick else MESSAGES)
    harness.say(f'{messages} hostile messages ...')
    return attack(messages, arguments.seed, arguments.log)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds --messages and --seed."""
    parser.add_argument('--messages', type=int, metavar='N', help=f'how many ({MESSAGES})')
    parser.add_argument('--log', metavar='FILE', type=Path, help="keep the bridge's log")
    parser.add_argument('--seed', type=int, default=1, help='of the messages (1)')


if __name__ == '__main__':
    sys.exit(harness.run('fuzz_bridge', __doc__, measure, add_arguments))
