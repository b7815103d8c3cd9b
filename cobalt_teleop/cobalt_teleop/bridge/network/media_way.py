"""How media finds its way between a page and this machine: servers to ask, ports to use, addresses to tell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from aiortc import RTCConfiguration

from cobalt_teleop.bridge.network.announced import announce, announced_addresses
from cobalt_teleop.bridge.network.ice import IceServers, login_from
from cobalt_teleop.bridge.network.udp_ports import PortRange, port_range


@dataclass(frozen=True, kw_only=True)
class MediaWay:
    """What every connection of an installation has in common. By default it asks nobody and uses any port.

    Attributes:
        servers: STUN and TURN.
        ports: UDP ports of this machine; None for any.
        announced: Addresses under which a port forward lets this machine be reached.
    """

    servers: IceServers = field(default_factory=IceServers)
    ports: PortRange | None = None
    announced: tuple[str, ...] = ()

    def configuration(self) -> RTCConfiguration:
        """Returns the configuration of a connection's end on this machine."""
        return self.servers.configuration()

    def offered(self, offer: Mapping[str, object], name: str) -> dict[str, object]:
        """Returns an offer with all that a page needs to find its way.

        Args:
            offer: Its `sdp` has this machine's candidates.
            name: Of the session that it is for.
        """
        return {
            **offer,
            'sdp': announce(str(offer['sdp']), self.announced),
            'ice_servers': self.servers.for_page(name),
        }


def media_way(
    *,
    stun_urls: Sequence[str],
    turn_urls: Sequence[str],
    turn_lifetime_s: float,
    ice_udp_ports: str,
    announced: Sequence[str],
    environment: Mapping[str, str],
) -> MediaWay:
    """Returns the way that parameters and environment describe.

    Raises:
        CobaltError: One of them cannot be used; the message names it and the fix.
    """
    return MediaWay(
        servers=IceServers(stun_urls, turn_urls, login_from(environment, turn_lifetime_s)),
        ports=port_range(ice_udp_ports),
        announced=announced_addresses(announced),
    )
