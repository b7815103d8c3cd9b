"""How much one stranger, and all of them together, may ask of the bridge."""

import ipaddress
from collections import Counter, OrderedDict
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class DoorLimits:
    """What the door grants.

    A page needs one WebSocket and, while it loads, up to six sockets more; a whole laboratory may have one address.

    Attributes:
        sockets: Open at once.
        sockets_of_address: Open at once from one address.
        pages: Open WebSockets.
        pages_of_address: Open WebSockets from one address.
        handshake_s: From an accepted socket to the end of its first request's head [s].
        hello_s: From an open WebSocket to its first message [s].
        arrivals_of_session: Pages of one session that may come in at once, and then in each second.
        arrivals_of_invitation: The same for one invitation.
        arrivals_of_address: The same for all invitations at one address.
        arrivals_of_owner: The same for whoever runs the bridge, at one address.
        too_often_s: Whoever comes too often waits so long for his answer [s].
        failed_tokens: An address may try so many in a row ...
        failed_token_period_s: ... and gets one more after each of these [s].
    """

    sockets: int = 512
    sockets_of_address: int = 160
    pages: int = 96
    pages_of_address: int = 48
    handshake_s: float = 10.0
    hello_s: float = 5.0
    arrivals_of_session: tuple[float, float] = (10.0, 1.0)
    arrivals_of_invitation: tuple[float, float] = (20.0, 2.0)
    arrivals_of_address: tuple[float, float] = (40.0, 4.0)
    arrivals_of_owner: tuple[float, float] = (64.0, 8.0)
    too_often_s: float = 1.0
    failed_tokens: int = 10
    failed_token_period_s: float = 6.0


class Bucket:
    """A token bucket: `burst` at once, `rate_per_s` on average.

    Args:
        rate_per_s: Tokens that come in each second.
        burst: Tokens that it holds.
    """

    def __init__(self, rate_per_s: float, burst: float) -> None:
        self._rate_per_s = rate_per_s
        self._burst = burst
        self._level = burst
        self._filled_s = float('-inf')

    def level(self, now_s: float) -> float:
        """Returns how many tokens there are."""
        return min(self._burst, self._level + max(0.0, now_s - self._filled_s) * self._rate_per_s)

    def take(self, now_s: float, cost: float = 1.0) -> bool:
        """Takes tokens; returns False, and takes none, if there are not so many."""
        level = self.level(now_s)
        self._filled_s = now_s
        self._level = level - cost if level >= cost else level
        return level >= cost


class FailedTokens:
    """Counts failed tokens of each address, so that nobody can try many.

    Args:
        limits: How many.
        addresses: So many are remembered; the one longest unheard of is forgotten first.
    """

    def __init__(self, limits: DoorLimits, addresses: int = 4096) -> None:
        self._limits = limits
        self._addresses = addresses
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def may_try(self, address: str, now_s: float) -> bool:
        """Returns whether an address has a try left."""
        bucket = self._buckets.get(network_of(address))
        return bucket is None or bucket.level(now_s) >= 1.0

    @property
    def remembered(self) -> int:
        """How many addresses have failed."""
        return len(self._buckets)

    def note(self, address: str, now_s: float) -> int:
        """Notes a failure; returns how many tries the address has left for now."""
        network = network_of(address)
        bucket = self._buckets.pop(network, None)
        if bucket is None:
            bucket = Bucket(1.0 / self._limits.failed_token_period_s, self._limits.failed_tokens)
        bucket.take(now_s)
        self._buckets[network] = bucket
        if len(self._buckets) > self._addresses:
            self._buckets.popitem(last=False)
        return int(bucket.level(now_s))


class Places:
    """Counts what is open at once, in all and for each address.

    Args:
        total: In all.
        of_address: From one address.
    """

    def __init__(self, total: int, of_address: int) -> None:
        self._total = total
        self._of_address = of_address
        self._taken: Counter[str] = Counter()

    @property
    def taken(self) -> int:
        """How many are open."""
        return self._taken.total()

    def take(self, address: str) -> bool:
        """Takes a place; returns False if there is none."""
        network = network_of(address)
        if self.taken >= self._total or self._taken[network] >= self._of_address:
            return False
        self._taken[network] += 1
        return True

    def give_back(self, address: str) -> None:
        """Gives a place back."""
        network = network_of(address)
        self._taken[network] -= 1
        if not self._taken[network]:
            del self._taken[network]


def network_of(address: str) -> str:
    """Returns whom an address stands for: itself, and in IPv6 its /64, as one household has all of that."""
    try:
        parsed = ipaddress.ip_address(address.partition('%')[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed)
