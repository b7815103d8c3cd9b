"""A real coturn from the distribution, with the configuration that docs/network.md shows."""

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

from namespaces import Namespace

_CONFIGURATION = Path(__file__).parents[1] / 'docs' / 'turnserver.conf'
PORT = 3478


def why_not() -> str:
    """Returns why this machine has no coturn; empty if it has."""
    return '' if shutil.which('turnserver') else 'no coturn: apt-get install coturn'


class Coturn:
    """A TURN server on a host of the small internet.

    Args:
        namespace: Where it runs.
        address: On which it listens and from which it relays.
        peers: Addresses to which it may relay.
        secret: That the bridge must know.
        folder: For its files.
    """

    def __init__(self, namespace: Namespace, address: str, peers: list[str], secret: str, folder: Path) -> None:
        text = _CONFIGURATION.read_text()
        values = {
            'EXAMPLE_LISTENING_IP': address,
            'EXAMPLE_SECRET': secret,
            'EXAMPLE_REALM': 'cobalt.test',
            'allowed-peer-ip=EXAMPLE_BRIDGE_IP': '\n'.join(f'allowed-peer-ip={peer}' for peer in peers),
        }
        for place, value in values.items():
            assert place in text, f'{_CONFIGURATION.name} has no {place}'
            text = text.replace(place, value)
        configuration = folder / 'turnserver.conf'
        configuration.write_text(f'{text}\npidfile={folder}/turnserver.pid\nuserdb={folder}/turndb\n')
        self.url = f'turn:{address}:{PORT}?transport=udp'
        self.tcp_url = f'turn:{address}:{PORT}?transport=tcp'
        self.log = folder / 'turnserver.log'
        with self.log.open('w') as output:
            self.process = namespace.popen(
                ['turnserver', '-c', str(configuration)],
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env=os.environ | {'HOME': str(folder)},
            )
        self._wait(namespace, address)

    def __enter__(self) -> 'Coturn':
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        try:
            self.process.wait(5.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def printed(self) -> str:
        """Returns its log."""
        return self.log.read_text(errors='replace')

    def _wait(self, namespace: Namespace, address: str) -> None:
        request = b'\x00\x01\x00\x00\x21\x12\xa4\x42' + os.urandom(12)  # STUN: a binding request (RFC 8489)
        end = time.monotonic() + 20.0
        with namespace.entered(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.settimeout(0.2)
            while self.process.poll() is None and time.monotonic() < end:
                try:
                    probe.sendto(request, (address, PORT))
                    if probe.recv(512)[:2] == b'\x01\x01':
                        return
                except OSError:
                    continue
        raise RuntimeError(f'coturn does not start:\n{self.printed()[-2000:]}')
