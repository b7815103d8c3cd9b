"""The cameras of one workcell: rendered after a tick, only while somebody watches or records them."""

import time
from typing import Any

from rclpy.node import Node

from cobalt_interfaces.msg import FrameRef
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.video.camera_stream import CameraStream
from cobalt_teleop.video.picture_size import size_within
from cobalt_teleop.video.readable import LEAST_WIDTH_PX, readable_kbit_s
from cobalt_teleop.video.video_stream import VideoLimits
from cobalt_teleop.workcell_host.plant import CameraModel, Plant

WISHES_LAST_S = 5.0
"""A size or bit rate that was asked for lasts so long after its last viewer has gone [s]."""


class _Camera:
    def __init__(self, model: CameraModel, stream: CameraStream, control_rate_hz: float) -> None:
        self.model = model
        self.stream = stream
        self.enabled = True
        self.control_rate_hz = control_rate_hz
        self.rate_hz = model.rate_hz
        self.best = self.asked = stream.limits = VideoLimits(stream.limits.kbit_s, (model.width, model.height))
        self.newest: FrameRef | None = None
        self.watched_s = time.monotonic()
        self._credit = 1.0

    def due(self) -> bool:
        """Whether this tick takes a picture, so that on average `rate_hz` are taken."""
        self._credit = min(1.0, self._credit + self.rate_hz / self.control_rate_hz)
        if self._credit < 1.0 - 1e-9:
            return False
        self._credit -= 1.0
        return True

    def limit(self, *, full_size: bool) -> None:
        """Puts what was asked for into force: all of it, or the bit rate alone."""
        size = self.best.size_px if full_size else self.asked.size_px
        least = min(readable_kbit_s(*size, self.rate_hz), self.best.kbit_s)
        self.stream.limits = VideoLimits(max(self.asked.kbit_s, least), size)


class WorkcellCameras:
    """Takes and publishes the pictures of a plant that serves some.

    A poor link may make pictures smaller, but never those of an episode: all frames of a bag have one size, and no
    fewer bits than can be read.

    Args:
        node: Owns the endpoints.
        workcell_id: Namespace of the topics.
        plant: Takes the pictures.
        options: HostOptions: control_rate_hz, kbit_s, draw_frame_code.
    """

    def __init__(self, node: Node, workcell_id: str, plant: Plant, options: Any) -> None:
        self._plant = plant
        self._full_size = False
        self._cameras = {
            model.name: _Camera(
                model,
                CameraStream(node, workcell_id, model, options.kbit_s, draw_code=options.draw_frame_code),
                options.control_rate_hz,
            )
            for model in plant.capabilities.cameras
        }

    @property
    def enabled(self) -> list[str]:
        """Names of the cameras that are switched on."""
        return [name for name, camera in self._cameras.items() if camera.enabled]

    def frames(self) -> list[FrameRef]:
        """Returns the newest frame of each camera."""
        return [camera.newest for camera in self._cameras.values() if camera.newest is not None]

    def forget_frames(self) -> None:
        """Forgets the frames of before a reset."""
        for camera in self._cameras.values():
            camera.newest = None

    def publish(self, stamp_ns: int, *, full_size: bool) -> None:
        """Takes the pictures that are due and wanted.

        Args:
            stamp_ns: Time of the state that they show [ns].
            full_size: They may belong to a recording: their size does not follow the viewers' links.
        """
        if full_size != self._full_size:
            self._full_size = full_size
            for camera in self._cameras.values():
                camera.limit(full_size=full_size)
        for name, camera in self._cameras.items():
            if not (camera.enabled and camera.due()):
                continue
            if not camera.stream.wanted():
                self._forget_wishes(camera)
            else:
                camera.watched_s = time.monotonic()
                picture = self._plant.capture(name, camera.stream.picture_size())
                camera.newest = camera.stream.publish(picture, stamp_ns) or camera.newest

    def _forget_wishes(self, camera: _Camera) -> None:
        """Nobody is left for whom the video should be small."""
        if camera.asked != camera.best and time.monotonic() - camera.watched_s > WISHES_LAST_S:
            camera.asked = camera.best
            camera.limit(full_size=self._full_size)

    def change(self, request: Any) -> None:
        """Follows SetCamera.

        Raises:
            CobaltError: There is no such camera, or it cannot change like that.
        """
        camera = self._cameras.get(request.camera)
        if camera is None:
            raise CobaltError(f"there is no camera '{request.camera}'; there are {', '.join(self._cameras)}")
        if request.rate_hz and not 0.0 < request.rate_hz <= camera.control_rate_hz:
            raise CobaltError(f'rate_hz is {request.rate_hz:g}, but must be above 0, up to {camera.control_rate_hz:g}')
        size = _asked_size(camera, request.width, request.height)
        kbit_s = min(int(request.kbit_s), camera.best.kbit_s) or camera.asked.kbit_s
        camera.asked = VideoLimits(kbit_s, size)
        camera.rate_hz = float(request.rate_hz) or camera.rate_hz
        camera.enabled = bool(request.enabled)
        camera.limit(full_size=self._full_size)

    def close(self) -> None:
        """Ends the streams."""
        for camera in self._cameras.values():
            camera.stream.close()


def _asked_size(camera: _Camera, width: int, height: int) -> tuple[int, int]:
    """Returns the largest size of the camera's shape that fits into a width and height; 0 is as it was."""
    most_width, most_height = camera.best.size_px
    if width > most_width or height > most_height or 0 < width < LEAST_WIDTH_PX:
        raise CobaltError(
            f'the size is {width}x{height}, but camera {camera.model.name} has {most_width}x{most_height} at most, '
            f'and {LEAST_WIDTH_PX} px of width at least'
        )
    if not width and not height:
        return camera.asked.size_px
    return size_within(most_width, most_height, width or most_width, height or most_height)
