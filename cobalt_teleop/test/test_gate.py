"""The gate before Foxglove's server, with a bare TCP server behind it."""

import socket
import threading
from contextlib import ExitStack

import pytest
from bridge_process import free_port

from cobalt_teleop.bridge.door.entrance import open_entrance
from cobalt_teleop.bridge.door.limits import DoorLimits
from cobalt_teleop.bridge.door.state_folder import StateFolder
from cobalt_teleop.foxglove import gate
from cobalt_teleop.foxglove.gate import Gate, hidden_address
from cobalt_teleop.foxglove.graph_mirror import chosen

HEAD = b'GET / HTTP/1.1\r\nHost: 127.0.0.1:8765\r\nUpgrade: websocket\r\n\r\n'


@pytest.fixture
def opened(tmp_path):
    """A gate before a server that sends back what it gets; yields a function that connects to it."""
    behind = socket.create_server(('127.0.0.1', 0))

    def echo(connection):
        with connection:
            while piece := connection.recv(65536):
                connection.sendall(piece)

    def serve():
        while True:
            try:
                connection, _ = behind.accept()
            except OSError:
                return
            threading.Thread(target=echo, args=(connection,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    port = free_port()
    entrance = open_entrance(
        host='127.0.0.1',
        port=port,
        tls_certificate='',
        tls_key='',
        public_names=(),
        limits=DoorLimits(handshake_s=0.5, sockets=8, sockets_of_address=4),
        folder=StateFolder(str(tmp_path)),
        log=lambda line: None,
        for_pages=False,
    )
    made = Gate(entrance, behind.getsockname(), origins=(), max_clients=2, log=lambda line: None)
    yield lambda: socket.create_connection(('127.0.0.1', port), timeout=10.0)
    made.close()
    behind.close()


def test_what_is_passed_on_comes_as_it_was_sent(opened):
    with opened() as client:
        sent = HEAD + bytes(range(256)) * 1000
        threading.Thread(target=client.sendall, args=(sent,)).start()
        got = b''
        while len(got) < len(sent):
            got += client.recv(65536)
        assert got == sent


def test_a_client_may_send_only_so_much(opened, monkeypatch):
    monkeypatch.setattr(gate, 'MAX_BYTES_PER_S', 100)
    with opened() as client:
        client.sendall(HEAD)
        assert client.recv(65536) == HEAD
        client.sendall(bytes(60_000))
        assert client.recv(65536)
        client.settimeout(0.3)
        client.sendall(b'more')
        with pytest.raises(TimeoutError):
            while b'more' not in client.recv(65536):
                pass


def is_dropped(client):
    try:
        return client.recv(100) == b''
    except ConnectionError:
        return True


def test_who_sends_no_request_in_time_or_one_without_end_is_dropped(opened):
    with opened() as slow, opened() as endless:
        slow.sendall(b'GET')
        endless.sendall(bytes(100_000))
        assert is_dropped(endless)
        assert is_dropped(slow)


def test_silent_sockets_keep_no_client_out(opened):
    with ExitStack() as silent:
        for _ in range(40):
            silent.enter_context(opened())
        with opened() as client:
            client.sendall(HEAD)
            assert client.recv(65536) == HEAD


def test_one_too_many_is_told_so_and_has_room_when_another_leaves(opened):
    with opened() as first, opened() as second:
        for client in (first, second):
            client.sendall(HEAD)
            assert client.recv(65536) == HEAD
        with opened() as third:
            third.sendall(HEAD)
            assert b'2 clients are connected already' in third.recv(65536)
    for _ in range(100):
        with opened() as later:
            later.sendall(HEAD)
            if later.recv(65536) == HEAD:
                return
    raise AssertionError('the gate stays full')


def test_hidden_addresses_are_loopback_and_differ():
    addresses = {hidden_address() for _ in range(20)}
    assert len(addresses) > 15
    assert all(address.startswith('127.') for address in addresses)


def test_patterns_choose_from_the_graph_but_never_what_is_hidden():
    graph = {'/env_0/episode': 'a', '/env_1/episode': 'a', '/rosout': 'b', '/x/_action/status': 'c'}
    assert chosen(graph, ['*']) == {'/env_0/episode': 'a', '/env_1/episode': 'a', '/rosout': 'b'}
    assert chosen(graph, ['/env_*/episode', '/none']) == {'/env_0/episode': 'a', '/env_1/episode': 'a'}
    assert chosen(graph, []) == {}
