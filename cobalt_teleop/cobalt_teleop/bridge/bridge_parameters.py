"""What webrtc_bridge can be told."""

from dataclasses import dataclass

from cobalt_teleop.bridge.door.listening import address_of
from cobalt_teleop.core.parameter_table import parameter


@dataclass(frozen=True, kw_only=True)
class BridgeParameters:
    """Parameters of webrtc_bridge."""

    host: str = parameter(
        '127.0.0.1', 'address to serve on; 0.0.0.0 or :: for every network, by https and with a token alone'
    )
    port: int = parameter(8080, 'TCP port of pages and signalling', lower=1, upper=65535)
    tls_certificate: str = parameter('', 'PEM file of your own certificate; empty for one that is made at first start')
    tls_key: str = parameter('', 'PEM file of the key of tls_certificate')
    public_names: tuple[str, ...] = parameter(
        (), 'names, perhaps with a port, that a reverse proxy or a port forward gives this bridge'
    )
    messages_per_s: float = parameter(
        50.0, 'messages that a page may send over its WebSocket, on average [Hz]', lower=1.0, upper=1e6
    )
    stun_urls: tuple[str, ...] = parameter((), 'STUN servers, such as stun:stun.example.org:3478; empty to ask nobody')
    turn_urls: tuple[str, ...] = parameter(
        (), 'TURN servers, such as turn:turn.example.org:3478; their login is in the environment: COBALT_TURN_SECRET'
    )
    turn_lifetime_s: float = parameter(
        3600.0, 'how long a login made from COBALT_TURN_SECRET lets a page in [s]', lower=60.0, upper=604800.0
    )
    ice_udp_ports: str = parameter('', 'UDP ports of live media, such as 50000-50199; empty for any')
    announced_addresses: tuple[str, ...] = parameter(
        (), 'IP addresses under which a port forward, a cloud or a container host lets this machine be reached'
    )
    workcells: tuple[str, ...] = parameter((), 'names or patterns of the workcells to serve; empty for all')
    grace_s: float = parameter(10.0, 'how long a closed page keeps its control [s]', lower=0.0, upper=300.0)
    idle_s: float = parameter(
        300.0,
        'whoever does nothing for so long loses his place while others wait [s]; 0 for never',
        lower=0.0,
        upper=86400.0,
    )
    service_timeout_s: float = parameter(3.0, 'how long a host may take to answer [s]', lower=0.1, upper=60.0)
    episode_timeout_s: float = parameter(
        15.0, 'how long a reset waits for the last episode [s]', lower=1.0, upper=120.0
    )
    adaptive_video: bool = parameter(
        True, 'make video smaller and simpler while the link of whoever drives carries no more'
    )
    require_recording: bool = parameter(
        False, 'refuse episodes while no recorder is there; if false, they run unrecorded and the page says so'
    )
    state_dir: str = parameter('', 'folder of what survives a restart; empty for cobalt in the XDG state folder')

    def __post_init__(self) -> None:
        address_of(self.host)
