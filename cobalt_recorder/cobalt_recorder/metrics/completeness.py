"""What the bag lacks: rows, messages, frames. Source: the file itself, against what its rows and its recorder say."""

import numpy as np

from cobalt_recorder.metrics.quantity import Quantity, known, unknown
from cobalt_recorder.metrics.record import EpisodeRecord


def success(episode: EpisodeRecord) -> Quantity:
    """1 if the outcome is success, 0 if it is another."""
    if episode.outcome == 'UNKNOWN':
        return unknown('nobody judged the outcome')
    return known(float(episode.outcome == 'SUCCESS'))


def success_seen(episode: EpisodeRecord) -> Quantity:
    """1 if the task's own test saw the success that the episode is called, 0 if it never did."""
    if episode.outcome != 'SUCCESS' or not episode.judged_by_task:
        return unknown('it is no success, or its task has no test')
    return known(float(bool(episode.steps.ticks['success'].any())))


def control_rate(episode: EpisodeRecord) -> Quantity:
    """The rate that the host declared [Hz]."""
    return known(episode.control_rate_hz) if episode.control_rate_hz > 0 else unknown('the bag does not say')


def rows(episode: EpisodeRecord) -> Quantity:
    """Rows of the episode."""
    return known(float(len(episode.steps)))


def rows_missing(episode: EpisodeRecord) -> Quantity:
    """Ticks from first to last, as the host counts them, of which there is no row."""
    held = np.unique(episode.steps.ticks['step'])
    if episode.last_step >= episode.first_step > 0:
        expected = episode.last_step - episode.first_step + 1
    else:
        expected = int(held[-1]) - int(held[0]) + 1 if held.size else 0
    return known(float(max(0, expected - held.size)))


def dropped(episode: EpisodeRecord, topic: str) -> Quantity:
    """Messages of a topic that are known to be missing."""
    return known(float(episode.dropped[topic]))


def _referenced(episode: EpisodeRecord, camera: str) -> set[int]:
    return {frames[camera] for frames in episode.steps.frames if frames.get(camera)}


def frames(episode: EpisodeRecord, camera: str) -> Quantity:
    """Frames of a camera."""
    return known(float(len(episode.cameras[camera].stamps_ns)))


def frames_referenced(episode: EpisodeRecord, camera: str) -> Quantity:
    """Different frames of a camera to which rows refer."""
    return known(float(len(_referenced(episode, camera))))


def frames_missing(episode: EpisodeRecord, camera: str) -> Quantity:
    """Frames of a camera to which rows refer, but which are not there."""
    return known(float(len(_referenced(episode, camera) - set(episode.cameras[camera].stamps_ns))))


def frames_undecodable(episode: EpisodeRecord, camera: str) -> Quantity:
    """Frames of a camera that no decoder turns into a picture."""
    camera_record = episode.cameras[camera]
    return known(float(len(camera_record.stamps_ns) - camera_record.decoded))
