"""How often pages may come in: each costs two media connections, also one that goes again at once."""

import time
from collections import OrderedDict
from collections.abc import Callable

from cobalt_teleop.bridge.door.guest import Guest
from cobalt_teleop.bridge.door.limits import Bucket, DoorLimits, network_of

TOO_OFTEN = 'This page came in too often in a short time. It tries again in a moment.'


class ArrivalPace:
    """Counts who comes in, by session, invitation and address.

    An address is not that of whoever runs the bridge alone: others there do not keep him out.

    Args:
        limits: How often.
        clock: Returns monotonic time [s].
        remembered: So many of each kind are remembered; the one longest unheard of is forgotten first.
    """

    def __init__(self, limits: DoorLimits, clock: Callable[[], float] = time.monotonic, remembered: int = 4096) -> None:
        self._limits = limits
        self._clock = clock
        self._remembered = remembered
        self._buckets: dict[str, OrderedDict[str, Bucket]] = {}

    def may_come(self, guest: Guest, session_id: str, address: str) -> bool:
        """Counts an arrival; returns False, and counts nothing, if it is one too many."""
        limits, network = self._limits, network_of(address)
        if guest.invitation_id:
            keys = [
                ('session', session_id, limits.arrivals_of_session),
                ('invitation', guest.invitation_id, limits.arrivals_of_invitation),
                ('address', network, limits.arrivals_of_address),
            ]
        else:
            keys = [('session', session_id, limits.arrivals_of_session), ('owner', network, limits.arrivals_of_owner)]
        now_s = self._clock()
        buckets = [(kind, name, self._bucket(kind, name, *pace)) for kind, name, pace in keys]
        if any(bucket.level(now_s) < 1.0 for _, _, bucket in buckets):
            return False
        for kind, name, bucket in buckets:
            bucket.take(now_s)
            self._remember(kind, name, bucket)
        return True

    def _bucket(self, kind: str, name: str, burst: float, rate_per_s: float) -> Bucket:
        known = self._buckets.setdefault(kind, OrderedDict()).get(name)
        return known if known is not None else Bucket(rate_per_s, burst)

    def _remember(self, kind: str, name: str, bucket: Bucket) -> None:
        kept = self._buckets[kind]
        kept[name] = bucket
        kept.move_to_end(name)
        if len(kept) > self._remembered:
            kept.popitem(last=False)
