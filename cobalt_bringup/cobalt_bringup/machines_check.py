"""Looks whether the machines of a network profile find each other."""

import errno
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from cobalt_bringup.machines_profile import PORTS_OF_DOMAIN, first_port, machines_profile

LIMIT_S = 8.0
_PROBE_S = 1.0
_FIRST_PARTICIPANT = 60
"""Beyond the processes that other machines look for by themselves: who answers was asked by this check."""

_LISTEN = """
import sys, time
import rclpy
rclpy.init()
node = rclpy.create_node(sys.argv[1])
end = time.monotonic() + float(sys.argv[2])
names = []
while not names and time.monotonic() < end:
    time.sleep(0.1)
    names = sorted(name for name in node.get_node_names() if not name.startswith(sys.argv[1][:14]))
print(' '.join(names))
node.destroy_node()
rclpy.shutdown()
"""


def own_addresses(addresses: Sequence[str]) -> list[str]:
    """Returns those addresses that this machine has."""
    own = []
    for address in addresses:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as trial:
            try:
                trial.bind((address, 0))
            except OSError:
                continue
        own.append(address)
    return own


def nodes_at(addresses: Sequence[str], peer: str, *, participant: int, limit_s: float) -> list[str]:
    """Returns the names of nodes that answer from another machine; empty if none does in time.

    Args:
        addresses: Of all machines.
        peer: Of the machine that is asked.
        participant: Number of the asking process on this machine.
        limit_s: How long it is waited for [s].
    """
    with tempfile.NamedTemporaryFile('w', suffix='.xml') as profile:
        profile.write(machines_profile(addresses, peers=[peer], participant=participant))
        profile.flush()
        environment = os.environ | {'FASTDDS_DEFAULT_PROFILES_FILE': profile.name}
        name = f'cobalt_doctor_{os.getpid()}_{participant}'
        answer = subprocess.run(
            [sys.executable, '-c', _LISTEN, name, str(limit_s)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=limit_s + 30.0,
            check=False,
        )
    return answer.stdout.split()


def why_silent(peer: str, domain: int) -> str:
    """Returns why a machine may not have answered, and what to do."""
    first = first_port(domain)
    ports = f'UDP {first} to {first + PORTS_OF_DOMAIN - 1}'
    try:
        # ROS 2 has no TCP port: a machine that is reachable says so. (It says it of UDP too, but only once a second.)
        socket.create_connection((peer, first), _PROBE_S).close()
    except ConnectionRefusedError:
        pass
    except TimeoutError:
        return f'nothing comes back from it: check the address, and let {ports} through its firewall'
    except OSError as error:
        known = {errno.EHOSTUNREACH: 'nobody has this address', errno.ENETUNREACH: 'no network leads there'}
        return f'{known.get(error.errno or 0, str(error))}: check the address and the network'
    return (
        f'it is reachable, but no ROS 2 answers: start Cobalt there, with ROS_DOMAIN_ID={domain} and this profile. '
        f'If it runs, let {ports} through its firewall. If no firewall is in the way, both machines may be copies with '
        'the same /etc/machine-id, and look for each other in shared memory: systemd-machine-id-setup makes a new one'
    )


def ask_machines(
    addresses: Sequence[str], domain: int, *, limit_s: float = LIMIT_S
) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Asks all other machines at the same time.

    Args:
        addresses: Of all machines.
        domain: ROS_DOMAIN_ID.
        limit_s: How long it is waited for an answer [s].

    Returns:
        Nodes of each machine that answered, and why each of the others may not have.
    """
    others = [address for address in addresses if address not in own_addresses(addresses)]
    with ThreadPoolExecutor(max_workers=max(1, len(others))) as pool:
        found = pool.map(
            lambda asked: nodes_at(addresses, asked[1], participant=_FIRST_PARTICIPANT + asked[0], limit_s=limit_s),
            enumerate(others),
        )
        heard = dict(zip(others, found, strict=True))
    return (
        {peer: nodes for peer, nodes in heard.items() if nodes},
        {peer: why_silent(peer, domain) for peer, nodes in heard.items() if not nodes},
    )
