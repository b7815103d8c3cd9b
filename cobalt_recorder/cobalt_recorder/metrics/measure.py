"""Computes the metrics of an episode, whole or while it runs."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cobalt_recorder.metrics import catalogue
from cobalt_recorder.metrics.quantity import Quantity
from cobalt_recorder.metrics.record import EpisodeRecord

AnyMetric = catalogue.PartMetric | catalogue.EpisodeMetric | catalogue.NamedMetric


@dataclass(frozen=True)
class Measurement:
    """One metric before it is judged.

    Attributes:
        name: Such as rate or frames_missing/front.
        value: NaN if it could not be computed.
        unit: Empty for a count.
        subject: One of catalogue.SUBJECTS.
        part: Whose it is; empty if it belongs to no part.
        reason: Why there is no value, in words.
    """

    name: str
    value: float
    unit: str = ''
    subject: str = 'DATA'
    part: str = ''
    reason: str = ''


def measure(episode: EpisodeRecord) -> list[Measurement]:
    """Returns every metric of an episode that has ended."""
    with np.errstate(all='ignore'):
        found = [_measurement(metric, metric.of(episode)) for metric in catalogue.FINAL_METRICS]
        found += _running(episode)
        found += _named(episode, catalogue.TOPIC_METRICS, sorted(episode.dropped))
        found += _named(episode, catalogue.CAMERA_METRICS, sorted(episode.cameras))
    return found


def measure_running(episode: EpisodeRecord) -> list[Measurement]:
    """Returns the metrics that can be told of an episode while it runs."""
    with np.errstate(all='ignore'):
        return list(_running(episode))


def _running(episode: EpisodeRecord) -> Iterator[Measurement]:
    for running in catalogue.RUNNING_METRICS:
        yield _measurement(running, running.of(episode))
    for name, part in sorted(episode.parts.items()):
        for metric in catalogue.PART_METRICS:
            yield _measurement(metric, metric.of(part), part=name)
    cameras = sorted({camera for link in episode.links for camera in link.cameras})
    yield from _named(episode, catalogue.LINK_CAMERA_METRICS, cameras)


def _named(
    episode: EpisodeRecord, metrics: tuple[catalogue.NamedMetric, ...], names: list[str]
) -> Iterator[Measurement]:
    for name in names:
        for metric in metrics:
            yield _measurement(metric, metric.of(episode, name), suffix=f'/{name}')


def _measurement(metric: AnyMetric, found: Quantity, *, part: str = '', suffix: str = '') -> Measurement:
    return Measurement(metric.name + suffix, found.value, metric.unit, metric.subject, part, found.reason)
