"""How the holder's link was, by the bridge's own reports (LinkStats, once a second)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cobalt_recorder.metrics.quantity import Quantity, known, percentile, unknown

_NO_REPORT = 'nobody reported on the link of who held control'


@dataclass(frozen=True)
class CameraSample:
    """A CameraLink: one camera as its viewer receives it; fields as there."""

    fps: float
    frame_age_ms: float
    dropped: int
    freezes: int


@dataclass(frozen=True)
class LinkSample:
    """A LinkStats of the holder of control; fields as there."""

    rtt_ms: float
    jitter_ms: float
    loss_up: float
    loss_down: float
    sample_rate_hz: float
    cameras: Mapping[str, CameraSample]


def link_sample(stats: Any) -> LinkSample | None:
    """Returns what the metrics need of a LinkStats; None if its session holds no control."""
    if not stats.lease_id:
        return None
    cameras = {
        camera.name: CameraSample(
            float(camera.fps), float(camera.frame_age_ms), int(camera.dropped), int(camera.freezes)
        )
        for camera in stats.cameras
    }
    return LinkSample(
        float(stats.rtt_ms),
        float(stats.jitter_ms),
        float(stats.loss_up),
        float(stats.loss_down),
        float(stats.sample_rate_hz),
        cameras,
    )


def _median(links: Sequence[LinkSample], value: Callable[[LinkSample], float]) -> Quantity:
    return percentile([value(link) for link in links], 50.0, _NO_REPORT)


def _mean(links: Sequence[LinkSample], value: Callable[[LinkSample], float]) -> Quantity:
    numbers = np.array([value(link) for link in links], dtype=float)
    finite = numbers[np.isfinite(numbers)]
    return known(float(finite.mean())) if finite.size else unknown(_NO_REPORT)


def round_trip(links: Sequence[LinkSample]) -> Quantity:
    """Median round trip between page and bridge [ms]."""
    return _median(links, lambda link: link.rtt_ms)


def network_jitter(links: Sequence[LinkSample]) -> Quantity:
    """Median jitter of the samples' arrival, as the bridge measures it each second [ms]."""
    return _median(links, lambda link: link.jitter_ms)


def samples_lost(links: Sequence[LinkSample]) -> Quantity:
    """Mean share of the device's samples that were lost on the way up, 0 to 1."""
    return _mean(links, lambda link: link.loss_up)


def video_lost(links: Sequence[LinkSample]) -> Quantity:
    """Mean share of the video's packets that were lost on the way down, 0 to 1."""
    return _mean(links, lambda link: link.loss_down)


def sample_rate(links: Sequence[LinkSample]) -> Quantity:
    """Mean rate of the device's samples [Hz]."""
    return _mean(links, lambda link: link.sample_rate_hz)


def _of_camera(links: Sequence[LinkSample], camera: str) -> list[CameraSample]:
    return [link.cameras[camera] for link in links if camera in link.cameras]


def frame_rate(links: Sequence[LinkSample], camera: str) -> Quantity:
    """Mean rate of the frames that were shown [Hz]."""
    shown = [sample.fps for sample in _of_camera(links, camera) if np.isfinite(sample.fps)]
    return known(float(np.mean(shown))) if shown else unknown(_NO_REPORT)


def _counted(values: Sequence[int]) -> Quantity:
    """Returns how far a counter rose. One that fell belongs to a new connection, which counts from zero."""
    if not values:
        return unknown(_NO_REPORT)
    counts = np.array(values, dtype=np.int64)
    steps = np.diff(counts)
    return known(float(np.where(steps >= 0, steps, counts[1:]).sum()))


def frames_unshown(links: Sequence[LinkSample], camera: str) -> Quantity:
    """Frames that were lost on the way to the operator, or came too late to be shown."""
    return _counted([sample.dropped for sample in _of_camera(links, camera)])


def freezes(links: Sequence[LinkSample], camera: str) -> Quantity:
    """How often the picture stood still for more than 200 ms."""
    return _counted([sample.freezes for sample in _of_camera(links, camera)])
