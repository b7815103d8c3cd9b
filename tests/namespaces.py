"""A small internet of network namespaces: a client and a server on two networks, and a router with rules between them.

    client 10.201.1.2 ── 10.201.1.1 router 10.201.2.1 ── 10.201.2.2 server

Nothing of it reaches the machine's own network, and its end leaves nothing behind. It needs root, iproute2, nftables.
"""

import contextlib
import ctypes
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

CLIENT_ADDRESS = '10.201.1.2'
OTHER_CLIENT_ADDRESS = '10.201.1.77'
CLIENT_GATEWAY = '10.201.1.1'
SERVER_GATEWAY = '10.201.2.1'
SERVER_ADDRESS = '10.201.2.2'

_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


def why_not() -> str:
    """Returns why this machine can make no network namespaces; empty if it can."""
    if os.geteuid() != 0:
        return 'network namespaces need root; run the tests as root to have these'
    missing = [package for tool, package in (('ip', 'iproute2'), ('nft', 'nftables')) if shutil.which(tool) is None]
    if missing:
        return f'network namespaces need {" and ".join(missing)}: apt-get install {" ".join(missing)}'
    probe = f'cobalt-{os.getpid()}-probe'
    made = subprocess.run(['ip', 'netns', 'add', probe], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        return f'this machine allows no network namespaces: {made.stderr.strip()}'
    subprocess.run(['ip', 'netns', 'delete', probe], check=False)
    return ''


class Namespace:
    """One host of the small internet.

    Args:
        name: As `ip netns` knows it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        _run('ip', 'netns', 'add', name)
        self.run('ip', 'link', 'set', 'lo', 'up')

    def run(self, *command: str) -> str:
        """Runs a command on this host and returns what it prints."""
        return _run('ip', 'netns', 'exec', self.name, *command)

    def popen(self, command: Sequence[str], **options: object) -> 'subprocess.Popen[str]':
        """Starts a command on this host."""
        return subprocess.Popen(['ip', 'netns', 'exec', self.name, *command], text=True, **options)  # type: ignore[call-overload,no-any-return]

    def wrapper(self, program: str, folder: Path) -> str:
        """Returns a script that runs a program on this host, for what wants the path of one file."""
        script = folder / f'{Path(program).name}-{self.name}'
        script.write_text(f'#!/bin/sh\nexec ip netns exec {self.name} {program} "$@"\n')
        script.chmod(0o755)
        return str(script)

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Has this thread, and what it starts meanwhile, live on this host."""
        own = f'/proc/self/task/{threading.get_native_id()}/ns/net'
        before = os.open(own, os.O_RDONLY)
        try:
            with Path(f'/run/netns/{self.name}').open('rb') as there:
                _enter(there.fileno())
            yield
        finally:
            _enter(before)
            os.close(before)

    def delete(self) -> None:
        """Ends it."""
        subprocess.run(['ip', 'netns', 'delete', self.name], check=False)


class SmallInternet:
    """Client, router and server. The rules of the router make the network as bad as a test wants it."""

    def __init__(self) -> None:
        mark = os.getpid()
        self.client_addresses = CLIENT_ADDRESS, OTHER_CLIENT_ADDRESS
        """The one it has, and the one that it has after a change."""
        self.client = Namespace(f'cobalt-{mark}-client')
        self.router = Namespace(f'cobalt-{mark}-router')
        self.server = Namespace(f'cobalt-{mark}-server')
        try:
            self._join(self.client, 'client', CLIENT_ADDRESS, CLIENT_GATEWAY)
            self._join(self.server, 'server', SERVER_ADDRESS, SERVER_GATEWAY)
            self.router.run('sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward')
            self.open()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> 'SmallInternet':
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends it."""
        for namespace in (self.client, self.router, self.server):
            namespace.delete()

    @property
    def strangers(self) -> int:
        """How many packets of UDP went to addresses that are none of this internet: to a public server, for example.

        A browser's questions for names of its own do not count.
        """
        counted = json.loads(self.router.run('nft', '-j', 'list', 'counter', 'inet', 'strangers', 'asked'))
        return next(int(entry['counter']['packets']) for entry in counted['nftables'] if 'counter' in entry)

    def count_strangers(self) -> None:
        """Begins to count them."""
        own = '{ 10.201.1.0/24, 10.201.2.0/24, 224.0.0.0/4 }'
        self._nft(
            f"""table inet strangers {{
  counter asked {{ }}
  chain seen {{
    type filter hook prerouting priority -300; policy accept;
    ip saddr {SERVER_ADDRESS} meta l4proto udp ip daddr != {own} counter name asked
    ip saddr != {SERVER_ADDRESS} udp dport != 53 ip daddr != {own} counter name asked
  }}
}}
"""
        )

    def open(self) -> None:
        """Lets everything through."""
        self._rules()

    def lose(self, percent: int) -> None:
        """Drops so many of a hundred packets, each way."""
        self._rules(f'numgen random mod 100 < {percent} drop')

    def narrow(self, kbytes_s: int) -> None:
        """Drops what the server sends beyond a rate [kB/s], as a router does that holds no queue."""
        burst = f'burst {max(10, kbytes_s // 4)} kbytes'
        self._rules(f'ip saddr {SERVER_ADDRESS} limit rate over {kbytes_s} kbytes/second {burst} drop')

    def cut(self) -> None:
        """Lets nothing through, and tells nobody."""
        self._rules('drop')

    def block_udp(self) -> None:
        """Lets no UDP through between client and server, as many firewalls do; a relay on the router still serves."""
        self._rules('meta l4proto udp drop')

    def block_udp_of_client(self) -> None:
        """Lets no UDP of the client through to anybody, the relay included."""
        self._rules('meta l4proto udp drop', arriving='iifname "to-client" meta l4proto udp drop')

    def block_udp_but(self, first: int, last: int) -> None:
        """Lets UDP through to and from these ports of the server alone, as a firewall does that was told of them."""
        ports = f'{first}-{last}'
        to_server = f'ip daddr {SERVER_ADDRESS} udp dport {ports} accept'
        from_server = f'ip saddr {SERVER_ADDRESS} udp sport {ports} accept'
        self._rules(to_server, from_server, 'meta l4proto udp drop')

    def forward_ports(self, tcp: int, first_udp: int, last_udp: int) -> None:
        """Hides the server behind the router's address, at which these ports lead to it: a home router, or a cloud."""
        udp = f'{first_udp}-{last_udp}'
        self._rules(f'ct direction original ct original ip daddr {SERVER_ADDRESS} drop')
        self._nft(
            f"""table ip forward {{
  chain inwards {{
    type nat hook prerouting priority -100;
    ip daddr {CLIENT_GATEWAY} tcp dport {tcp} dnat to {SERVER_ADDRESS}
    ip daddr {CLIENT_GATEWAY} udp dport {udp} dnat to {SERVER_ADDRESS}
  }}
  chain outwards {{
    type nat hook postrouting priority 100;
    ip saddr {SERVER_ADDRESS} oifname "to-client" masquerade
  }}
}}
"""
        )

    def change_address(self) -> str:
        """Gives the client its other address, as a change between Wi-Fi and a mobile network does, and returns it."""
        old, new = self.client_addresses
        self.client_addresses = new, old
        self.client.run('ip', 'address', 'delete', f'{old}/24', 'dev', 'client')
        self.client.run('ip', 'address', 'add', f'{new}/24', 'dev', 'client')
        self.client.run('ip', 'route', 'replace', 'default', 'via', CLIENT_GATEWAY)
        return new

    def _rules(self, *rules: str, arriving: str = '') -> None:
        lines = '\n    '.join(rules)
        text = f"""table inet cobalt
delete table inet cobalt
table inet cobalt {{
  chain way {{
    type filter hook forward priority 0; policy accept;
    {lines}
  }}
  chain arriving {{
    type filter hook prerouting priority -200; policy accept;
    {arriving}
  }}
}}
"""
        self._nft(text)

    def _nft(self, text: str) -> None:
        command = ['ip', 'netns', 'exec', self.router.name, 'nft', '-f', '-']
        done = subprocess.run(command, input=text, text=True, check=False, capture_output=True)
        if done.returncode != 0:
            raise RuntimeError(f'nft: {done.stderr.strip()}')

    def _join(self, namespace: Namespace, device: str, address: str, gateway: str) -> None:
        _run(
            'ip', 'link', 'add', device, 'netns', namespace.name,
            'type', 'veth', 'peer', 'name', f'to-{device}', 'netns', self.router.name,
        )  # fmt: skip
        namespace.run('ip', 'address', 'add', f'{address}/24', 'dev', device)
        namespace.run('ip', 'link', 'set', device, 'up')
        self.router.run('ip', 'address', 'add', f'{gateway}/24', 'dev', f'to-{device}')
        self.router.run('ip', 'link', 'set', f'to-{device}', 'up')
        namespace.run('ip', 'route', 'add', 'default', 'via', gateway)


def _enter(descriptor: int) -> None:
    if _libc.setns(descriptor, _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), 'setns failed')


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f'{" ".join(command)}: {done.stderr.strip() or done.returncode}')
    return done.stdout
