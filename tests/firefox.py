"""A real headless Firefox from the distribution's packages, driven by WebDriver BiDi, which it speaks by itself."""

import asyncio
import json
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp

_NAMES = ('firefox-esr', 'firefox')
_ADDRESS = re.compile(rb'WebDriver BiDi listening on (ws://\S+)')
_WAIT_S = 40.0

_PREFERENCES = {
    'app.update.auto': False,
    'browser.shell.checkDefaultBrowser': False,
    'datareporting.policy.dataSubmissionEnabled': False,
    'media.autoplay.default': 0,
    'media.peerconnection.ice.loopback': True,
    'media.gmp-manager.updateEnabled': False,  # no H.264 by a download: what the distribution ships is tested
    'network.captive-portal-service.enabled': False,
    'network.connectivity-service.enabled': False,
    'toolkit.telemetry.enabled': False,
}

_IN_FRONT = "() => Object.defineProperty(document, 'hasFocus', { value: () => true })"
"""A window without a screen never has the focus, and who has not drives nothing."""


def firefox_path() -> str | None:
    """Returns where Firefox is; None if it is not installed."""
    return next((path for path in map(shutil.which, _NAMES) if path is not None), None)


class FirefoxPage:
    """One page. Made by `open_page`.

    Args:
        loop: Runs the socket.
        socket: WebDriver BiDi's.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._loop = loop
        self._socket = socket
        self._commands = 0
        self._context = ''

    def evaluate(self, expression: str) -> Any:
        """Returns what an expression of JavaScript gives; a promise is awaited."""
        answer = self._ask(
            'script.evaluate',
            expression=f'Promise.resolve({expression}).then((value) => JSON.stringify(value ?? null))',
            target={'context': self._context},
            awaitPromise=True,
        )
        if answer['type'] != 'success':
            raise RuntimeError(f'{expression}: {answer["exceptionDetails"]["text"]}')
        return json.loads(answer['result']['value'])

    def wait_for(self, expression: str, timeout_s: float) -> Any:
        """Waits until an expression is true, and returns it."""
        end = time.monotonic() + timeout_s
        while not (value := self.evaluate(expression)):
            if time.monotonic() > end:
                said = self.evaluate('[cobalt.connection.text, cobalt.motion.words, cobalt.keys]')
                raise AssertionError(f'not within {timeout_s:g} s: {expression}; the page: {said}')
            time.sleep(0.05)
        return value

    def go_to(self, address: str) -> None:
        """Loads an address."""
        self._ask('session.new', capabilities={})
        self._context = self._ask('browsingContext.getTree')['contexts'][0]['context']
        self._ask('script.addPreloadScript', functionDeclaration=_IN_FRONT)
        self._ask('browsingContext.navigate', context=self._context, url=address, wait='complete')

    def press(self, key: str, seconds: float = 0.0) -> None:
        """Holds a key, such as 'e', for a while."""
        for action in ('keyDown', 'keyUp'):
            self._ask(
                'input.performActions',
                context=self._context,
                actions=[{'type': 'key', 'id': 'keyboard', 'actions': [{'type': action, 'value': key}]}],
            )
            time.sleep(seconds if action == 'keyDown' else 0.0)

    def _ask(self, method: str, **parameters: Any) -> Any:
        return self._loop.run_until_complete(asyncio.wait_for(self._exchange(method, parameters), _WAIT_S))

    async def _exchange(self, method: str, parameters: dict[str, Any]) -> Any:
        self._commands += 1
        await self._socket.send_json({'id': self._commands, 'method': method, 'params': parameters})
        while True:
            message = await self._socket.receive_json()
            if message.get('id') == self._commands:
                if message['type'] == 'error':
                    raise RuntimeError(f'{method}: {message["error"]}: {message["message"]}')
                return message['result']


@contextmanager
def open_page(address: str) -> Iterator[FirefoxPage]:
    """Opens an address in a new Firefox with a profile of its own."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        lines = [f'user_pref({json.dumps(name)}, {json.dumps(value)});' for name, value in _PREFERENCES.items()]
        (Path(folder) / 'user.js').write_text('\n'.join(lines))
        process = subprocess.Popen(
            [str(firefox_path()), '--headless', '--no-remote', '--profile', folder, '--remote-debugging-port', '0'],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        loop = asyncio.new_event_loop()
        try:
            yield from _drive(loop, _listening(process), address)
        finally:
            loop.close()
            process.terminate()
            try:
                process.communicate(timeout=10.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()


def _listening(process: 'subprocess.Popen[bytes]') -> str:
    assert process.stderr is not None
    for line in process.stderr:
        if found := _ADDRESS.search(line):
            return found.group(1).decode() + '/session'
    raise RuntimeError('Firefox ended before it could be driven')


def _drive(loop: asyncio.AbstractEventLoop, remote: str, address: str) -> Iterator[FirefoxPage]:
    client = loop.run_until_complete(_client())
    try:
        page = FirefoxPage(loop, loop.run_until_complete(client.ws_connect(remote, max_msg_size=0)))
        page.go_to(address)
        yield page
    finally:
        loop.run_until_complete(client.close())


async def _client() -> aiohttp.ClientSession:
    return aiohttp.ClientSession()
