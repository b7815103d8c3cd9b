"""`cobalt doctor --bridge`: tells a blocked port from an untrusted certificate."""

import datetime
import http.server
import socket
import threading
from contextlib import ExitStack, contextmanager

import pytest

from cobalt_bringup import door_checks
from cobalt_bringup.doctor_checks import Status
from cobalt_bringup.door_checks import Place, PlaceError, place_of, planned_certificate, way_to
from cobalt_teleop.bridge.door.certificate import own_certificate
from cobalt_teleop.bridge.door.own_names import machine_addresses, machine_names
from cobalt_teleop.bridge.door.state_folder import StateFolder


class Bridge(http.server.BaseHTTPRequestHandler):
    status = 200

    def do_GET(self):
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(b'{"ok": true}' if self.path == '/healthz' else b'')

    def log_message(self, *_):
        pass


class Refusing(Bridge):
    status = 403


@contextmanager
def serving(handler=Bridge, certificate=None):
    class Server(http.server.ThreadingHTTPServer):
        def handle_error(self, *_):
            pass

    server = Server(('127.0.0.1', 0), handler)
    if certificate is not None:
        server.socket = certificate.context().wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    thread = threading.Thread(target=server.serve_forever, kwargs={'poll_interval': 0.02}, daemon=True)
    thread.start()
    try:
        yield Place('127.0.0.1', server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()
        thread.join(2.0)


@pytest.fixture
def folder(tmp_path):
    return StateFolder(str(tmp_path))


def found(place):
    return {finding.name: finding for finding in way_to(place)}


def test_an_unknown_certificate_is_told_apart_and_shown_with_names_end_and_fingerprint(folder):
    certificate = own_certificate(folder, ['127.0.0.1', 'lab.local'])
    with serving(certificate=certificate) as place:
        findings = found(place)
    assert findings['port'].status is Status.OK
    assert findings['certificate'].status is Status.WARN
    assert all(words in findings['certificate'].detail for words in ('not known', 'lab.local', '127.0.0.1', '20'))
    assert certificate.fingerprint in findings['certificate'].advice
    assert findings['bridge'].status is Status.OK


def test_a_certificate_that_the_machine_knows_is_trusted(folder, monkeypatch):
    certificate = own_certificate(folder, ['127.0.0.1'])
    monkeypatch.setenv('SSL_CERT_FILE', str(certificate.file))
    with serving(certificate=certificate) as place:
        findings = found(place)
    assert findings['certificate'].status is Status.OK and 'trusted' in findings['certificate'].detail


def test_a_certificate_for_other_names_is_named_with_what_to_do(folder):
    with serving(certificate=own_certificate(folder, ['lab.local'])) as place:
        findings = found(place)
    assert findings['certificate'].status is Status.FAIL
    assert 'lab.local' in findings['certificate'].detail
    assert 'public_names:=127.0.0.1' in findings['certificate'].advice


def test_an_expired_certificate_is_named(folder):
    long_ago = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=500)
    with serving(certificate=own_certificate(folder, ['127.0.0.1'], long_ago)) as place:
        findings = found(place)
    assert findings['certificate'].status is Status.FAIL and 'expired' in findings['certificate'].detail


def test_a_port_where_nothing_listens_is_no_blocked_one():
    with socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))
        (finding,) = way_to(Place('127.0.0.1', taken.getsockname()[1]))
    assert finding.status is Status.FAIL
    assert 'nothing listens' in finding.detail and 'Start the bridge' in finding.advice


def test_a_blocked_port_is_told(monkeypatch):
    monkeypatch.setattr(door_checks, '_PATIENCE_S', 0.5)
    with socket.socket() as deaf, ExitStack() as waiting:
        # Once its queue is full, the kernel drops what comes as a firewall does.
        deaf.bind(('127.0.0.1', 0))
        deaf.listen(0)
        for _ in range(4):
            caller = waiting.enter_context(socket.socket())
            caller.setblocking(False)
            caller.connect_ex(deaf.getsockname())
        (finding,) = way_to(Place('127.0.0.1', deaf.getsockname()[1]))
    assert finding.status is Status.FAIL
    assert 'blocked' in finding.detail and 'firewall' in finding.advice


def test_an_unknown_name_is_told():
    (finding,) = way_to(Place('nobody.invalid', 8080))
    assert finding.status is Status.FAIL and finding.name == 'port'


def test_plain_http_is_well_on_the_machine_itself():
    with serving() as place:
        findings = found(place)
    assert {finding.status for finding in findings.values()} == {Status.OK}


def test_a_name_that_the_bridge_refuses_is_told(folder):
    with serving(Refusing, own_certificate(folder, ['127.0.0.1'])) as place:
        findings = found(place)
    assert findings['bridge'].status is Status.FAIL and 'public_names' in findings['bridge'].advice


def test_another_program_on_the_port_is_told():
    with socket.socket() as other:
        other.bind(('127.0.0.1', 0))
        other.listen()

        def answer():
            for _ in range(4):
                try:
                    connection, _ = other.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(1000)
                    connection.sendall(b'220 mail.example ESMTP\r\n')

        threading.Thread(target=answer, daemon=True).start()
        findings = found(Place('127.0.0.1', other.getsockname()[1]))
        assert findings['bridge'].status is Status.FAIL and 'Another program' in findings['bridge'].advice


@pytest.mark.parametrize(
    ('text', 'place'),
    [
        ('192.0.2.7', ('192.0.2.7', 8080)),
        ('robot.example.org:8443', ('robot.example.org', 8443)),
        ('https://robot.example.org/?token=x', ('robot.example.org', 443)),
        ('https://[fd00::7]:8080/', ('fd00::7', 8080)),
    ],
)
def test_a_place_is_read_as_people_write_it(text, place):
    found = place_of(text, 8080)
    assert (found.host, found.port) == place


@pytest.mark.parametrize('text', ['', 'http://[', 'a:b', ':8080', 'a:99999'])
def test_what_is_no_place_is_refused(text):
    with pytest.raises(PlaceError):
        place_of(text, 8080)


def test_the_certificate_to_come_is_told(tmp_path):
    state = str(tmp_path / 'state')
    assert 'none yet' in planned_certificate(state, '', '').detail
    own_certificate(StateFolder(state), ['old.local'])
    assert 'made anew' in planned_certificate(state, '', '').detail
    certificate = own_certificate(StateFolder(state), [*machine_names(), *machine_addresses()])
    finding = planned_certificate(state, '', '')
    assert finding.status is Status.OK and '127.0.0.1' in finding.detail and 'made anew' not in finding.detail
    assert 'yours' in planned_certificate(state, str(certificate.file), str(certificate.key_file)).detail
    wrong = planned_certificate(state, str(certificate.file), '')
    assert wrong.status is Status.FAIL and 'tls_key' in wrong.detail
