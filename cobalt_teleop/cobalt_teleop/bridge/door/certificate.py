"""The certificate of the pages: one of this installation that is made when it is needed, or the user's own.

Ours is signed by itself, and no authority: whoever trusts it trusts this server, and nothing that its key might sign.
Its key stays when it is made anew for a changed name or for its age.
"""

import datetime
import hashlib
import ipaddress
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from cobalt_teleop.bridge.door.state_folder import StateFolder
from cobalt_teleop.core.errors import CobaltError

LIFETIME = datetime.timedelta(days=397)
"""Some browsers take no longer one."""

MAX_NAMES = 60

RENEW_BEFORE = datetime.timedelta(days=30)
CERTIFICATE_FILE = 'certificate.pem'
KEY_FILE = 'certificate_key.pem'


class CertificateError(CobaltError):
    """A certificate or its key cannot be used."""


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """A certificate that is ready to be served.

    Attributes:
        file: PEM file of the certificate and those above it.
        key_file: PEM file of its private key.
        names: Names and addresses that it is for.
        expires: End of its time.
        fingerprint: SHA-256 of it, as browsers show it.
    """

    file: Path
    key_file: Path
    names: tuple[str, ...]
    expires: datetime.datetime
    fingerprint: str

    def context(self) -> ssl.SSLContext:
        """Returns what a server needs to speak TLS 1.2 or newer under it.

        Raises:
            CertificateError: Certificate and key do not fit.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(['http/1.1'])
        try:
            # A callback instead of the prompt for a pass phrase, which nobody would answer.
            context.load_cert_chain(self.file, self.key_file, password=lambda: '')
        except (ssl.SSLError, OSError) as error:
            raise CertificateError(
                f"the key in {str(self.key_file)!r} (parameter 'tls_key') does not belong to the certificate in "
                f"{str(self.file)!r} (parameter 'tls_certificate'), or has a pass phrase, which it must not have"
            ) from error
        return context


def own_certificate(folder: StateFolder, names: Sequence[str], now: datetime.datetime | None = None) -> Certificate:
    """Returns this installation's certificate; made, or made anew, if a name is missing in it or its time runs out.

    Args:
        folder: Keeps certificate and key.
        names: Host names and addresses that it must be for.
        now: Time, with its zone.

    Raises:
        CertificateError: What the folder holds is damaged.
    """
    now = now or datetime.datetime.now(datetime.UTC)
    with folder.locked(CERTIFICATE_FILE):
        key = _own_key(folder)
        kept = folder.read(CERTIFICATE_FILE)
        if kept is not None:
            found = _described(kept, folder.file(CERTIFICATE_FILE), folder.file(KEY_FILE))
            if set(names) <= set(found.names) and found.expires - now > RENEW_BEFORE:
                return found
            # Names of before stay: a laptop that goes to and fro between networks is trusted in both.
            names = list(dict.fromkeys([*names, *found.names]))[:MAX_NAMES]
        folder.write(CERTIFICATE_FILE, _self_signed(key, names, now))
        return _described(folder.read(CERTIFICATE_FILE) or b'', folder.file(CERTIFICATE_FILE), folder.file(KEY_FILE))


def user_certificate(file: str, key_file: str, now: datetime.datetime | None = None) -> Certificate:
    """Returns a certificate that the user has.

    Raises:
        CertificateError: A file is missing or unreadable, holds something else, does not fit, or its time is over.
    """
    now = now or datetime.datetime.now(datetime.UTC)
    if not file or not key_file:
        given, missing = ('tls_certificate', 'tls_key') if file else ('tls_key', 'tls_certificate')
        raise CertificateError(f"parameter '{given}' is set and '{missing}' is not: both are needed, or neither")
    content = _file_content('tls_certificate', file)
    _file_content('tls_key', key_file)
    certificate = _described(content, Path(file), Path(key_file))
    if certificate.expires <= now:
        raise CertificateError(
            f"the certificate in {file!r} (parameter 'tls_certificate') has expired on {certificate.expires:%Y-%m-%d}: "
            'renew it, or leave both parameters empty, and one is made'
        )
    certificate.context()
    return certificate


def kept_certificate(folder: StateFolder) -> Certificate | None:
    """Returns this installation's certificate if one was made."""
    content = folder.read(CERTIFICATE_FILE)
    return None if content is None else _described(content, folder.file(CERTIFICATE_FILE), folder.file(KEY_FILE))


def names_of(certificate: x509.Certificate) -> tuple[str, ...]:
    """Returns the names and addresses in a certificate's SAN."""
    try:
        san = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return ()
    return (
        *(str(name).lower() for name in san.get_values_for_type(x509.DNSName)),
        *(str(address) for address in san.get_values_for_type(x509.IPAddress)),
    )


def fingerprint(der: bytes) -> str:
    """Returns the SHA-256 of a certificate as browsers show it: pairs of hexadecimal digits."""
    return hashlib.sha256(der).digest().hex(':').upper()


def _file_content(parameter: str, file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise CertificateError(
            f"parameter '{parameter}' is {file!r}, which cannot be read: {error.strerror}"
        ) from error


def _described(content: bytes, file: Path, key_file: Path) -> Certificate:
    try:
        certificate = x509.load_pem_x509_certificates(content)[0]
        names = names_of(certificate)
    except ValueError as error:
        raise CertificateError(f'{str(file)!r} holds no certificate in PEM form: name another, or remove it') from error
    return Certificate(
        file=file,
        key_file=key_file,
        names=names,
        expires=certificate.not_valid_after_utc,
        fingerprint=fingerprint(certificate.public_bytes(serialization.Encoding.DER)),
    )


def _own_key(folder: StateFolder) -> ec.EllipticCurvePrivateKey:
    new = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    try:
        key = serialization.load_pem_private_key(folder.made_once(KEY_FILE, new), password=None)
    except (ValueError, TypeError) as error:
        raise CertificateError(f'{folder.file(KEY_FILE)} holds no key: remove it, and a new one is made') from error
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise CertificateError(f'{folder.file(KEY_FILE)} holds another kind of key: remove it, and a new one is made')
    return key


def _self_signed(key: ec.EllipticCurvePrivateKey, names: Sequence[str], now: datetime.datetime) -> bytes:
    # Some systems tell certificates of the same subject apart by nothing else than their common name.
    subject = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, 'Cobalt'),
            x509.NameAttribute(NameOID.COMMON_NAME, names[0][:64]),
        ]
    )
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + LIFETIME)
        .add_extension(x509.SubjectAlternativeName([_general_name(name) for name in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
