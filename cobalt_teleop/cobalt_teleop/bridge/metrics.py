"""What Prometheus may ask: how many are here, how their links are, and how the workcells keep up.

A scrape reads what is; only what happens between two scrapes is counted as it happens. Every label has a bounded set of
values: roles, roads and codecs by their nature, workcells and cameras by a limit.
"""

import math
from collections import Counter as Tally
from collections.abc import Iterable, Iterator
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from cobalt_teleop.bridge.door.guest import Role
from cobalt_teleop.bridge.operators.room import Room
from cobalt_teleop.bridge.operators.sample_gate import LinkCounts
from cobalt_teleop.bridge.wire.page_messages import PageMessage

MAX_WORKCELLS = 200
"""More than these share the label value `others`."""

OTHERS = 'others'

REASONS = ('door', 'full', 'message', 'often')
"""Why a page was not let in: its token, too many pages, a first message that was none, or too many in a short time."""

_AGE_BUCKETS_S = (0.01, 0.02, 0.03, 0.04, 0.05, 0.065, 0.085, 0.11, 0.15, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0)


class Person(Protocol):
    """A session, as far as it is counted."""

    @property
    def connected(self) -> bool:
        """A page is there."""

    @property
    def lease_id(self) -> str:
        """The lease that it holds, or empty."""

    @property
    def role(self) -> Role:
        """What it may do."""

    @property
    def video(self) -> tuple[str, str]:
        """Road and codec of its video; empty without."""

    @property
    def report(self) -> PageMessage | None:
        """How the link is, as its page last told."""


class Here(Protocol):
    """The lobby, as far as it is counted."""

    @property
    def sessions(self) -> Iterable[Person]:
        """Everybody."""

    @property
    def line(self) -> tuple[str, ...]:
        """Who waits."""

    @property
    def rooms(self) -> list[Room]:
        """All workcells that have existed since the start."""


class Metrics:
    """Counts, and shows what it counted in the text format of Prometheus. Lives in the event loop."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._refused = Counter(
            'cobalt_sessions_refused', 'Pages that were not let in', ['reason'], registry=self._registry
        )
        self._frame_age = Histogram(
            'cobalt_frame_age_seconds',
            'Age of the picture on a screen, as its page tells once a second',
            ['road'],
            buckets=_AGE_BUCKETS_S,
            registry=self._registry,
        )
        self._round_trip = Histogram(
            'cobalt_round_trip_seconds',
            'Page to bridge and back, as the page tells once a second',
            buckets=_AGE_BUCKETS_S,
            registry=self._registry,
        )
        self._to_bridge = Histogram(
            'cobalt_capture_to_bridge_seconds',
            'From the state that a picture shows to its arrival here: rendering, encoding and the way together',
            buckets=_AGE_BUCKETS_S,
            registry=self._registry,
        )
        self._dropped = Counter(
            'cobalt_video_frames_dropped', 'Frames that pages lost or did not show', ['road'], registry=self._registry
        )
        self._freezes = Counter(
            'cobalt_video_freezes', 'Pictures that stood still for over 200 ms', ['road'], registry=self._registry
        )
        self._samples = Counter(
            'cobalt_device_samples', 'Samples of operators’ devices', ['fate'], registry=self._registry
        )
        ProcessCollector(registry=self._registry)

    def read_from(self, here: Here) -> None:
        """Reads, at each scrape, who is here."""
        self._registry.register(_WhoIsHere(here))

    def text(self) -> bytes:
        """Returns all metrics, in the text format of Prometheus."""
        return generate_latest(self._registry)

    def note_refusal(self, reason: str) -> None:
        """A page was not let in; `reason` is one of `REASONS`."""
        self._refused.labels(reason).inc()

    def note_frame(self, age_s: float) -> None:
        """A frame has come from a host."""
        self._to_bridge.observe(age_s)

    def note_samples(self, counts: LinkCounts) -> None:
        """Samples have come from a page, or have not."""
        self._samples.labels('received').inc(counts.received)
        self._samples.labels('lost').inc(counts.lost)

    def note_report(self, road: str, before: PageMessage | None, report: PageMessage) -> None:
        """A page has told how its link is.

        Args:
            road: How pictures reach its screen.
            before: What the same page told before; None for a new one.
            report: What it tells now.
        """
        if not math.isnan(report['rtt_ms']):
            self._round_trip.observe(report['rtt_ms'] / 1e3)
        known = {} if before is None else {camera.name: camera for camera in before['cameras']}
        for camera in report['cameras']:
            if not math.isnan(camera.frame_age_ms):
                self._frame_age.labels(road).observe(max(0.0, camera.frame_age_ms) / 1e3)
            last = known.get(camera.name)
            if last is not None:
                self._dropped.labels(road).inc(max(0, camera.dropped - last.dropped))
                self._freezes.labels(road).inc(max(0, camera.freezes - last.freezes))


class _WhoIsHere(Collector):
    def __init__(self, here: Here) -> None:
        self._here = here

    def collect(self) -> Iterator[Metric]:
        here = [person for person in self._here.sessions if person.connected]
        yield from self._people(here)
        yield from self._video(here)
        yield from self._workcells()

    def _people(self, here: list[Person]) -> Iterator[Metric]:
        people = GaugeMetricFamily('cobalt_people', 'Open pages, by what they may do', labels=['role'])
        roles = Tally(person.role for person in here)
        for role in Role:
            people.add_metric([role.value], roles[role])
        yield people
        drivers = sum(bool(person.lease_id) for person in here)
        yield GaugeMetricFamily('cobalt_drivers', 'Open pages that have control of a workcell', value=drivers)
        yield GaugeMetricFamily('cobalt_waiting', 'People in line for a workcell', value=len(self._here.line))

    def _video(self, here: list[Person]) -> Iterator[Metric]:
        viewers = GaugeMetricFamily('cobalt_viewers', 'Open pages with video', labels=['road', 'codec'])
        for (road, codec), count in sorted(Tally(person.video for person in here if person.video[0]).items()):
            viewers.add_metric([road, codec], count)
        yield viewers
        rate = GaugeMetricFamily('cobalt_video_bits_per_second', 'Video that arrives at all pages', labels=['road'])
        bits: Tally[str] = Tally()
        for person in here:
            if person.report is not None and person.video[0]:
                bits[person.video[0]] += round(1e3 * sum(camera.kbit_s for camera in person.report['cameras']))
        for road, total in sorted(bits.items()):
            rate.add_metric([road], total)
        yield rate

    def _workcells(self) -> Iterator[Metric]:
        rooms = self._here.rooms
        yield GaugeMetricFamily('cobalt_workcells', 'Workcells that have been seen', value=len(rooms))
        missed = CounterMetricFamily(
            'cobalt_ticks_missed',
            'Ticks missed since the host started; of workcells that somebody watched',
            labels=['workcell'],
        )
        tick = GaugeMetricFamily('cobalt_tick_seconds', 'Last tick, from its start to its message', labels=['workcell'])
        frames = CounterMetricFamily('cobalt_frames_received', 'Frames that came from hosts', labels=['workcell'])
        misses: Tally[str] = Tally()
        received: Tally[str] = Tally()
        longest: dict[str, float] = {}
        for number, room in enumerate(rooms):
            name = room.workcell_id if number < MAX_WORKCELLS else OTHERS
            received[name] += sum(room.frames_received.values())
            if room.last_tick is not None:
                misses[name] += room.last_tick.missed
                longest[name] = max(longest.get(name, 0.0), room.last_tick.duration_s)
        for name in received:
            frames.add_metric([name], received[name])
        for name in longest:
            missed.add_metric([name], misses[name])
            tick.add_metric([name], longest[name])
        yield from (missed, tick, frames)
