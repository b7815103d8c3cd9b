"""Quality of service of a subscription that hears every publisher of a topic, and asks no more than they offer."""

from collections.abc import Sequence

from cobalt_teleop.core.topics import Qos

KEPT = 50
"""Reliable messages that wait for a busy process."""

KEPT_BEST_EFFORT = 10
"""Of a topic where the newest counts, fewer are kept."""


def subscription_qos(offered: Sequence[Qos]) -> Qos:
    """Returns the strongest quality of service that all publishers offer.

    Args:
        offered: Of each publisher; its depth is 0 where the middleware doesn't tell.
    """
    reliable = bool(offered) and all(qos.reliable for qos in offered)
    latched = bool(offered) and all(qos.latched for qos in offered)
    depth = max((qos.depth for qos in offered), default=0)
    return Qos(reliable=reliable, latched=latched, depth=max(depth, KEPT if reliable else KEPT_BEST_EFFORT))
