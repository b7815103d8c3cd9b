"""Quality of service as rosbag2 writes it into bags since version 9 of its metadata."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from cobalt_recorder.yaml_text import parse_yaml

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

    @classmethod
    def from_rosbag2(cls, profile: Mapping[str, Any]) -> 'OfferedQos':
        """Returns what a mapping of rosbag2 tells; what it lacks, or tells by number, is as by default."""
        texts = ('history', 'reliability', 'durability', 'liveliness')
        known: dict[str, Any] = {name: profile[name] for name in texts if isinstance(profile.get(name), str)}
        if isinstance(profile.get('depth'), int):
            known['depth'] = profile['depth']
        durations = {'deadline': 'deadline_ns', 'lifespan': 'lifespan_ns', 'liveliness_lease_duration': 'lease_ns'}
        for name, field in durations.items():
            told = profile.get(name)
            if isinstance(told, Mapping) and isinstance(told.get('sec'), int) and isinstance(told.get('nsec'), int):
                known[field] = told['sec'] * 1_000_000_000 + told['nsec']
        return cls(**known)


def _duration(nanoseconds: int) -> dict[str, int]:
    return {'sec': nanoseconds // 1_000_000_000, 'nsec': nanoseconds % 1_000_000_000}


def as_yaml_list(profiles: tuple[OfferedQos, ...]) -> str:
    """Returns the channel metadata `offered_qos_profiles`."""
    return yaml.safe_dump([profile.as_rosbag2() for profile in profiles], sort_keys=False) if profiles else ''


def from_yaml_list(text: str) -> tuple[OfferedQos, ...]:
    """Returns the profiles that the channel metadata `offered_qos_profiles` holds; none if it cannot be read."""
    try:
        profiles = parse_yaml(text)
    except (yaml.YAMLError, RecursionError):
        return ()
    if not isinstance(profiles, list):
        return ()
    return tuple(OfferedQos.from_rosbag2(profile) for profile in profiles if isinstance(profile, Mapping))
