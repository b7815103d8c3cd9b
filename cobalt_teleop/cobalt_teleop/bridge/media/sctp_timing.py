"""How long aiortc's data channels wait for an acknowledgement before they take a packet for lost.

By RFC 9260 that is at least one second; meanwhile a lost packet blocks all that the association sends. Browsers wait a
fifth of that. The constant is a private name of aiortc 1.16; `test_unit_peer.py` says so if another version has moved
it.
"""

from aiortc import rtcsctptransport

RTO_MIN_S = 0.1


def shorten() -> None:
    """Lowers the shortest wait of all associations of this process."""
    setattr(rtcsctptransport, 'SCTP_RTO_MIN', RTO_MIN_S)  # noqa: B010
