"""What foxglove_server can be told."""

from dataclasses import dataclass

from cobalt_teleop.bridge.door.listening import address_of
from cobalt_teleop.core import topics
from cobalt_teleop.core.parameter_table import parameter

OFFERED_SERVICES = tuple(topics.service_name('*', service) for service in topics.SERVICES)


@dataclass(frozen=True, kw_only=True)
class FoxgloveParameters:
    """Parameters of foxglove_server."""

    host: str = parameter(
        '127.0.0.1', 'address to serve on; 0.0.0.0 or :: for every network, by TLS and with a token alone'
    )
    port: int = parameter(8765, 'TCP port that Foxglove connects to', lower=1, upper=65535)
    tls_certificate: str = parameter('', 'PEM file of your own certificate; empty for one that is made at first start')
    tls_key: str = parameter('', 'PEM file of the key of tls_certificate')
    topics: tuple[str, ...] = parameter(('*',), 'topics to serve: full names, or patterns such as /env_0/*')
    services: tuple[str, ...] = parameter(OFFERED_SERVICES, 'services to offer: full names, or patterns')
    origins: tuple[str, ...] = parameter(
        ('https://app.foxglove.dev', 'file://'), 'pages that may connect; the desktop application is file://'
    )
    max_clients: int = parameter(16, 'clients at the same time', lower=1, upper=256)
    backlog: int = parameter(
        256, 'messages that wait for a slow client before the oldest are dropped', lower=64, upper=4096
    )
    service_timeout_s: float = parameter(3.0, 'how long a service may take to answer [s]', lower=0.1, upper=60.0)
    state_dir: str = parameter('', 'folder of what survives a restart; empty for cobalt in the XDG state folder')

    def __post_init__(self) -> None:
        address_of(self.host)
