"""Ports of media stay within the range that the firewall opens."""

import asyncio

import pytest
from aiortc import RTCPeerConnection

from cobalt_teleop.bridge.network.ice import IceServers
from cobalt_teleop.bridge.network.udp_ports import PortRange, PortRangeError, PortRangeLoop, port_range


def test_the_parameter():
    assert port_range('') is None
    assert port_range('50000-50199') == PortRange(50000, 50199)
    assert str(port_range('50000-50199')) == '50000-50199'


@pytest.mark.parametrize('text', ['50000', '50000-', '50199-50000', '80-200', '65000-70000', '50000-50003', 'a-b'])
def test_a_range_that_is_none_is_refused_with_an_example(text):
    with pytest.raises(PortRangeError, match='50000-50199'):
        port_range(text)


def run_in(ports, work, on_full=print):
    loop = PortRangeLoop(ports, on_full)
    try:
        return loop.run_until_complete(asyncio.wait_for(work(), 20.0))
    finally:
        loop.close()


def test_candidates_of_a_connection_have_ports_of_the_range():
    ports = PortRange(50510, 50549)

    async def candidates():
        connection = RTCPeerConnection(IceServers().configuration())
        connection.createDataChannel('samples')
        await connection.setLocalDescription(await connection.createOffer())
        lines = [line for line in connection.localDescription.sdp.splitlines() if line.startswith('a=candidate')]
        await connection.close()
        return [int(line.split()[5]) for line in lines]

    found = run_in(ports, candidates)
    assert found
    assert all(ports.first <= port <= ports.last for port in found)


def test_a_port_that_somebody_asks_for_by_number_is_left_alone():
    async def port_of():
        transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
            asyncio.DatagramProtocol, local_addr=('127.0.0.1', 50560)
        )
        port = transport.get_extra_info('sockname')[1]
        transport.close()
        return port

    assert run_in(PortRange(50570, 50579), port_of) == 50560


def test_a_full_range_is_told_once_in_words():
    told = []

    async def fill():
        loop = asyncio.get_running_loop()
        opened = [
            await loop.create_datagram_endpoint(asyncio.DatagramProtocol, local_addr=('127.0.0.1', 0)) for _ in range(8)
        ]
        for _ in range(2):
            with pytest.raises(OSError, match='taken'):
                await loop.create_datagram_endpoint(asyncio.DatagramProtocol, local_addr=('127.0.0.1', 0))
        for transport, _ in opened:
            transport.close()

    run_in(PortRange(50580, 50587), fill, told.append)
    assert len(told) == 1
    assert '50580-50587' in told[0]
