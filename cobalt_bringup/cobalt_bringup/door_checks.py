"""The checks of `cobalt doctor` for the way to a bridge: a blocked port, a certificate, and who answers."""

import datetime
import http.client
import ipaddress
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from cobalt_bringup.doctor_checks import Finding, Status
from cobalt_teleop.bridge.door.certificate import Certificate, fingerprint, kept_certificate, names_of, user_certificate
from cobalt_teleop.bridge.door.listening import is_loopback
from cobalt_teleop.bridge.door.own_names import machine_addresses, machine_names, matches
from cobalt_teleop.bridge.door.state_folder import StateFolder, default_state_dir
from cobalt_teleop.core.errors import CobaltError

_PATIENCE_S = 4.0
_SOON = datetime.timedelta(days=30)


class PlaceError(CobaltError):
    """What was named is no place of a bridge."""


@dataclass(frozen=True)
class Place:
    """Where a bridge is looked for."""

    host: str
    port: int

    def __str__(self) -> str:
        return f'[{self.host}]:{self.port}' if ':' in self.host else f'{self.host}:{self.port}'


def place_of(text: str, port: int) -> Place:
    """Returns the place that a person means by an address, with or without scheme, port and token.

    Args:
        text: Such as `192.0.2.7`, `robot.example.org:8443` or a whole link.
        port: If the text names none.

    Raises:
        PlaceError: It is no address.
    """
    try:
        parts = urlsplit(text if '://' in text else f'//{text}')
        host, named = parts.hostname, parts.port
    except ValueError:
        host, named = None, None
    if not host:
        raise PlaceError(f'{text!r} is no address of a bridge: name one such as https://192.0.2.7:8080')
    usual = {'https': 443, 'http': 80}.get(parts.scheme, port)
    return Place(host, named or usual)


def way_to(place: Place) -> list[Finding]:
    """Follows the way of a browser to a bridge, step by step, until one fails."""
    findings = [_port(place)]
    if findings[-1].status is Status.OK:
        findings.append(_served_certificate(place))
    if findings[-1].status is not Status.FAIL:
        findings.append(_answer(place))
    return findings


def planned_certificate(state_dir: str, tls_certificate: str, tls_key: str) -> Finding:
    """The certificate that a bridge on this machine will serve once it is open to the network."""
    try:
        if tls_certificate or tls_key:
            return _told(user_certificate(tls_certificate, tls_key), 'yours')
        there = Path(state_dir or default_state_dir()).is_dir()
        found = kept_certificate(StateFolder(state_dir)) if there else None
    except CobaltError as error:
        return Finding('certificate', Status.FAIL, str(error))
    if found is None:
        return Finding('certificate', Status.OK, 'none yet; one is made at the first start with host:=0.0.0.0')
    missing = [name for name in (*machine_names(), *machine_addresses()) if name not in found.names]
    told = _told(found, 'of this installation')
    if missing:
        detail = f'{told.detail}; it lacks {", ".join(missing)} and is made anew at the next start'
        return Finding('certificate', Status.OK, detail)
    return told


def _told(certificate: Certificate, whose: str) -> Finding:
    names = ', '.join(certificate.names)
    detail = f'{whose}, until {certificate.expires:%Y-%m-%d}, for {names or "no name at all"}'
    if not certificate.names:
        return Finding(
            'certificate', Status.FAIL, detail, 'Browsers want names in its SAN: have it made anew with them.'
        )
    return Finding('certificate', Status.OK, detail)


def _port(place: Place) -> Finding:
    """Whether anything takes a connection there."""
    try:
        with socket.create_connection((place.host, place.port), _PATIENCE_S):
            return Finding('port', Status.OK, f'{place} takes connections')
    except socket.gaierror:
        advice = 'Check its spelling, or use the address that the bridge printed at its start.'
        return Finding('port', Status.FAIL, f'{place.host} is a name that nobody here knows', advice)
    except ConnectionRefusedError:
        advice = (
            f'The way there is free. Start the bridge, with host:=0.0.0.0 port:={place.port}; '
            'without host it serves its own machine alone.'
        )
        return Finding('port', Status.FAIL, f'{place}: the machine is there, but nothing listens on the port', advice)
    except TimeoutError:
        advice = f'A firewall blocks TCP {place.port} on that machine or on the way, or the machine is off.'
        return Finding('port', Status.FAIL, f'{place} does not answer within {_PATIENCE_S:.0f} s: blocked', advice)
    except OSError as error:
        advice = 'There is no way from this network to that one: use the same Wi-Fi, a VPN, or another address.'
        return Finding('port', Status.FAIL, f'{place} cannot be reached: {error.strerror or error}', advice)


def _served_certificate(place: Place) -> Finding:
    """Whether a browser will trust what is served there."""
    try:
        certificate = _fetched(place)
    except ssl.SSLError:
        return _plain(place)
    except OSError as error:
        return Finding('certificate', Status.FAIL, f'the connection broke off: {error.strerror or error}')
    names = names_of(certificate)
    until = certificate.not_valid_after_utc
    detail = f'for {", ".join(names) or "no name at all"}, until {until:%Y-%m-%d}'
    if until <= datetime.datetime.now(datetime.UTC):
        return Finding('certificate', Status.FAIL, f'expired: {detail}', 'Renew it and start the bridge again.')
    if not any(matches(name, _normal(place.host)) for name in names):
        advice = (
            f'Browsers refuse it as {place.host}. Use one of its names; if {place.host} is a name of the bridge, '
            f'add public_names:={place.host}, and for a certificate of your own have it made anew.'
        )
        return Finding('certificate', Status.FAIL, f'not for {place.host}, but {detail}', advice)
    if _is_trusted(place):
        soon = until - datetime.datetime.now(datetime.UTC) < _SOON
        advice = 'It ends soon: renew it.' if soon else ''
        return Finding('certificate', Status.WARN if soon else Status.OK, f'trusted, {detail}', advice)
    shown = fingerprint(certificate.public_bytes(Encoding.DER))
    advice = (
        'The port is open; a browser warns once, and the page works when you go on. Compare what the browser shows '
        f'with what the bridge printed at its start; here the SHA-256 is {shown}'
    )
    return Finding('certificate', Status.WARN, f'not known to this machine, {detail}', advice)


def _plain(place: Place) -> Finding:
    if is_loopback(place.host):
        return Finding('certificate', Status.OK, 'none: plain HTTP, which is safe on the machine itself')
    advice = 'A bridge that is open to the network always speaks TLS. Is it another program?'
    return Finding('certificate', Status.FAIL, f'{place} does not speak TLS', advice)


def _answer(place: Place) -> Finding:
    """Whether a bridge answers, under the name that was used."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    connections: list[http.client.HTTPConnection] = [
        http.client.HTTPSConnection(place.host, place.port, timeout=_PATIENCE_S, context=context)
    ]
    if is_loopback(place.host):
        connections.append(http.client.HTTPConnection(place.host, place.port, timeout=_PATIENCE_S))
    problem = ''
    for connection in connections:
        try:
            connection.request('GET', '/healthz')
            answer = connection.getresponse()
            text = answer.read(2000).decode(errors='replace')
        except (OSError, http.client.HTTPException) as error:
            problem = str(error) or type(error).__name__
            continue
        finally:
            connection.close()
        if answer.status == 403:
            advice = f'Start the bridge with public_names:={place.host} if that name leads to it.'
            return Finding('bridge', Status.FAIL, f'it refuses the name {place.host}', advice)
        if answer.status == 200 and '"ok": true' in text:
            return Finding('bridge', Status.OK, f'Cobalt answers at {place}')
        problem = f'it answers with status {answer.status}'
    advice = 'Another program has this port. Choose another for the bridge: port:=8081'
    return Finding('bridge', Status.FAIL, f'no bridge answers at {place}: {problem}', advice)


def _fetched(place: Place) -> x509.Certificate:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with (
        socket.create_connection((place.host, place.port), _PATIENCE_S) as connection,
        context.wrap_socket(connection, server_hostname=place.host) as secured,
    ):
        content = secured.getpeercert(binary_form=True)
    assert content is not None
    return x509.load_der_x509_certificate(content)


def _is_trusted(place: Place) -> bool:
    try:
        with (
            socket.create_connection((place.host, place.port), _PATIENCE_S) as connection,
            ssl.create_default_context().wrap_socket(connection, server_hostname=place.host),
        ):
            return True
    except OSError:
        return False


def _normal(host: str) -> str:
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return host.lower()
