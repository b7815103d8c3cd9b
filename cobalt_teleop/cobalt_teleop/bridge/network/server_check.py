"""Asks the STUN and TURN servers from this machine whether they serve it, and says in words if they do not."""

import asyncio
from dataclasses import dataclass

from aioice import Connection, stun, turn
from aiortc import RTCIceServer
from aiortc.rtcicetransport import connection_kwargs

from cobalt_teleop.bridge.network.ice import (
    OWN_NAME,
    PASSWORD_VARIABLE,
    SECRET_VARIABLE,
    IceServers,
)

TIMEOUT_S = 6.0


@dataclass(frozen=True)
class ServerFinding:
    """What came of asking a server.

    Attributes:
        url: Of the server.
        problem: In words; empty if it serves this machine.
    """

    url: str
    problem: str


async def check_servers(servers: IceServers) -> list[ServerFinding]:
    """Asks every server, all at once."""
    asked = [_ask_stun(url) for url in servers.stun_urls]
    for server in servers.for_page(OWN_NAME):
        if 'username' in server:
            user, password = str(server['username']), str(server['credential'])
            asked += [_ask_turn(url, user, password) for url in servers.turn_urls]
    return list(await asyncio.gather(*asked))


async def _ask_stun(url: str) -> ServerFinding:
    connection = Connection(ice_controlling=True, use_ipv6=False, **connection_kwargs([RTCIceServer(url)]))
    try:
        await connection.gather_candidates()
        answered = any(candidate.type == 'srflx' for candidate in connection.local_candidates)
        return ServerFinding(url, '' if answered else 'it does not answer: look at its address, and at firewalls (UDP)')
    finally:
        await connection.close()


async def _ask_turn(url: str, user: str, password: str) -> ServerFinding:
    server = connection_kwargs([RTCIceServer(url, username=user, credential=password)])
    if not server:
        return ServerFinding(url, 'the bridge speaks TURN over UDP, TCP and TLS over TCP alone; pages may still use it')
    try:
        transport, _ = await asyncio.wait_for(
            turn.create_turn_endpoint(
                asyncio.DatagramProtocol,
                server_addr=server['turn_server'],
                username=user,
                password=password,
                ssl=server['turn_ssl'],
                transport=server['turn_transport'],
            ),
            TIMEOUT_S,
        )
    except stun.TransactionFailed as failed:
        return ServerFinding(url, _refusal(failed))
    except (stun.TransactionTimeout, TimeoutError):
        return ServerFinding(url, 'it does not answer: look at its address, and at firewalls')
    except (OSError, ConnectionError) as error:
        return ServerFinding(url, f'it cannot be reached: {error.strerror or error}')
    transport.close()
    return ServerFinding(url, '')


def _refusal(failed: stun.TransactionFailed) -> str:
    code, reason = failed.response.attributes.get('ERROR-CODE', (0, 'no reason given'))
    if code == 401:
        return (
            f'it refused the login: {SECRET_VARIABLE} must be its static-auth-secret '
            f"(or {PASSWORD_VARIABLE} its user's password), and both clocks must be right"
        )
    return f'it refused: {reason} (error {code})'
