"""Quality of service as rosbag2 writes it into bags since version 9 of its metadata."""

from dataclasses import dataclass
from typing import Any

import yaml

INFINITE_NS = 2**63 - 1


@dataclass(frozen=True, kw_only=True)
class OfferedQos:
    """What a publisher offers.

    Attributes:
        history: keep_last, keep_all or unknown.
        depth: Of the history; 0 if the middleware doesn't tell.
        reliability: reliable or best_effort.
        durability: volatile or transient_local.
        liveliness: automatic or manual_by_topic.
        deadline_ns: [ns].
        lifespan_ns: [ns].
        lease_ns: Of the liveliness [ns].
    """

    history: str = 'unknown'
    depth: int = 0
    reliability: str = 'reliable'
    durability: str = 'volatile'
    liveliness: str = 'automatic'
    deadline_ns: int = INFINITE_NS
    lifespan_ns: int = INFINITE_NS
    lease_ns: int = INFINITE_NS

    def as_rosbag2(self) -> dict[str, Any]:
        """Returns the mapping that rosbag2 reads."""
        return {
            'history': self.history,
            'depth': self.depth,
            'reliability': self.reliability,
            'durability': self.durability,
            'deadline': _duration(self.deadline_ns),
            'lifespan': _duration(self.lifespan_ns),
            'liveliness': self.liveliness,
            'liveliness_lease_duration': _duration(self.lease_ns),
            'avoid_ros_namespace_conventions': False,
        }


def _duration(nanoseconds: int) -> dict[str, int]:
    return {'sec': nanoseconds // 1_000_000_000, 'nsec': nanoseconds % 1_000_000_000}


def as_yaml_list(profiles: tuple[OfferedQos, ...]) -> str:
    """Returns the channel metadata `offered_qos_profiles`."""
    return yaml.safe_dump([profile.as_rosbag2() for profile in profiles], sort_keys=False) if profiles else ''
