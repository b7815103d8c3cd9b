"""The cameras of one workcell: rendered after a tick, only while somebody watches or records them."""

import time
from typing import Any

from rclpy.node import Node

from cobalt_interfaces.msg import FrameRef
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.video.camera_stream import CameraStream
from cobalt_teleop.video.video_stream import VideoLimits
from cobalt_teleop.video.video_wishes import VideoWishes
from cobalt_teleop.workcell_host.plant import CameraModel, Plant


class _Camera:
    def __init__(self, model: CameraModel, stream: CameraStream, control_rate_hz: float) -> None:
        self.model = model
        self.stream = stream
        self.enabled = True
        self.control_rate_hz = control_rate_hz
        self.rate_hz = model.rate_hz
        best = VideoLimits(stream.limits.kbit_s, (model.width, model.height))
        self.wishes = VideoWishes(model.name, best, time.monotonic())
        self.newest: FrameRef | None = None
        self._credit = 1.0

    def due(self) -> bool:
        """Whether this tick takes a picture, so that on average `rate_hz` are taken."""
        self._credit = min(1.0, self._credit + self.rate_hz / self.control_rate_hz)
        if self._credit < 1.0 - 1e-9:
            return False
        self._credit -= 1.0
        return True


class WorkcellCameras:
    """Takes and publishes the pictures of a plant that serves some.

    Args:
        node: Owns the endpoints.
        workcell_id: Namespace of the topics.
        plant: Takes the pictures.
        options: HostOptions: control_rate_hz, kbit_s, draw_frame_code.
    """

    def __init__(self, node: Node, workcell_id: str, plant: Plant, options: Any) -> None:
        self._plant = plant
        self._filmed_by_others = {model.name for model in plant.capabilities.other_cameras}
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
        now_s = time.monotonic()
        for name, camera in self._cameras.items():
            if not (camera.enabled and camera.due()):
                continue
            wanted = camera.stream.wanted()
            camera.wishes.forget_unless_watched(wanted, now_s)
            if wanted:
                camera.stream.limits = camera.wishes.granted(camera.rate_hz, full_size=full_size)
                picture = self._plant.capture(name, camera.stream.picture_size())
                camera.newest = camera.stream.publish(picture, stamp_ns) or camera.newest

    def change(self, request: Any) -> None:
        """Follows SetCamera.

        Raises:
            CobaltError: There is no such camera, or it cannot change like that.
        """
        camera = self._cameras.get(request.camera)
        if request.camera in self._filmed_by_others:
            raise CobaltError(f"'{request.camera}' is filmed by another node: ask /camera_encoder/set_camera")
        if camera is None:
            raise CobaltError(f"there is no camera '{request.camera}'; there are {', '.join(self._cameras)}")
        if request.rate_hz and not 0.0 < request.rate_hz <= camera.control_rate_hz:
            raise CobaltError(f'rate_hz is {request.rate_hz:g}, but must be above 0, up to {camera.control_rate_hz:g}')
        camera.wishes.ask(request)
        camera.rate_hz = float(request.rate_hz) or camera.rate_hz
        camera.enabled = bool(request.enabled)

    def close(self) -> None:
        """Ends the streams."""
        for camera in self._cameras.values():
            camera.stream.close()
