"""All of the door that a bridge has, made from its parameters."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from cobalt_teleop.bridge.door.certificate import Certificate, own_certificate, user_certificate
from cobalt_teleop.bridge.door.door import Door, owner_token
from cobalt_teleop.bridge.door.doorman import Doorman
from cobalt_teleop.bridge.door.invitations import Invitations
from cobalt_teleop.bridge.door.limits import DoorLimits
from cobalt_teleop.bridge.door.listening import is_loopback, listen
from cobalt_teleop.bridge.door.own_names import OwnNames, host_of_public_name, machine_addresses, machine_names
from cobalt_teleop.bridge.door.state_folder import StateFolder, default_state_dir
from cobalt_teleop.bridge.door.welcome import keep_origins, origins, shows_on_terminal, welcome


@dataclass(frozen=True, kw_only=True)
class Entrance:
    """Where a bridge is entered.

    Attributes:
        listener: Listens.
        certificate: That is served; None for plain HTTP.
        names: Tells own names and origins from foreign ones.
        door: Decides who comes in.
        limits: How many, how fast, how long.
        text: To be printed once it serves.
        places: Where pages are found, the likeliest first.
        log: Writes a line to the log of whoever runs the bridge.
    """

    listener: socket.socket
    certificate: Certificate | None
    names: OwnNames
    door: Door
    limits: DoorLimits
    text: str
    places: Sequence[str]
    log: Callable[[str], None]

    @property
    def secure(self) -> bool:
        """Pages come by https from this process itself."""
        return self.certificate is not None

    @contextlib.asynccontextmanager
    async def opened(self, make_protocol: Callable[[], asyncio.Protocol]) -> AsyncIterator[None]:
        """Takes connections in while it is open.

        Args:
            make_protocol: Makes what speaks HTTP on one connection.
        """
        doorman = Doorman(
            self.listener,
            make_protocol,
            context=None if self.certificate is None else self.certificate.context(),
            is_own_host=self.names.is_own_host,
            limits=self.limits,
            log=self.log,
        )
        serving = asyncio.get_running_loop().create_task(doorman.serve())
        try:
            yield
        finally:
            serving.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await serving


def open_entrance(
    *,
    host: str,
    port: int,
    tls_certificate: str,
    tls_key: str,
    public_names: Sequence[str],
    limits: DoorLimits,
    folder: StateFolder,
    log: Callable[[str], None],
    for_pages: bool = True,
) -> Entrance:
    """Returns the entrance that parameters describe: beyond loopback it has TLS and needs a token, always.

    Args:
        host: Address to listen on.
        port: TCP port to listen on.
        tls_certificate: PEM file of a certificate that the user has; empty for one of this installation.
        tls_key: PEM file of its key.
        public_names: Names, perhaps with a port, under which a proxy or a port forward makes the bridge known.
        limits: How many, how fast, how long.
        folder: Keeps secrets.
        log: Writes a line to the log of whoever runs the bridge.
        for_pages: Operators' pages are found there: links that are made later lead to it.

    Raises:
        CobaltError: A parameter cannot be used; the message names it.
    """
    off_loopback = not is_loopback(host)
    own_names = [host_of_public_name(name) for name in public_names]
    own = not (tls_certificate or tls_key)
    certificate = None
    if not own:
        certificate = user_certificate(tls_certificate, tls_key)
    elif off_loopback:
        certificate = own_certificate(folder, list(dict.fromkeys([*own_names, *machine_names(), *machine_addresses()])))
    known_names = own_names if own or certificate is None else [*own_names, *certificate.names]
    needs_token = off_loopback or bool(public_names)
    token = owner_token(folder)
    told_names = [*public_names, *_names_to_tell(known_names, own_names, port)] if off_loopback else public_names
    places = origins(host, port, secure=certificate is not None, public_names=told_names)
    listener = listen(host, port)
    if for_pages:
        keep_origins(folder, places)
    return Entrance(
        listener=listener,
        certificate=certificate,
        names=OwnNames(known_names, off_loopback=off_loopback, secure=certificate is not None),
        door=Door(token, Invitations(folder), limits, needs_token=needs_token, log=log),
        limits=limits,
        text=welcome(
            places,
            token if needs_token else '',
            certificate,
            own=own,
            terminal=shows_on_terminal(),
            state_dir=str(folder.path) if str(folder.path) != default_state_dir() else '',
        ),
        places=places,
        log=log,
    )


def _names_to_tell(known: Sequence[str], told: Sequence[str], port: int) -> list[str]:
    """Returns the names of the user's certificate under which a browser will trust it."""
    names = [name for name in known if name not in told and not name.startswith('*.') and not is_loopback(name)]
    return [f'[{name}]:{port}' if ':' in name else f'{name}:{port}' for name in names]
