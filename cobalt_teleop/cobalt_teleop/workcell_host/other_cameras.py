"""The frames of cameras that other nodes film, so that rows can name them: heard only while an episode goes on."""

from collections import deque
from collections.abc import Sequence

from rclpy.node import Node

from cobalt_interfaces.msg import FrameRef
from cobalt_teleop.core import topics
from cobalt_teleop.ros.endpoints import TakenSubscription
from cobalt_teleop.ros.stamps import to_nanoseconds
from cobalt_teleop.workcell_host.plant import CameraModel

_KEPT_FRAMES = 8


class OtherCameras:
    """Knows the newest frames of cameras whose video another node publishes.

    Args:
        node: Owns the subscriptions.
        workcell_id: Namespace of the topics.
        cameras: That others film.
    """

    def __init__(self, node: Node, workcell_id: str, cameras: Sequence[CameraModel]) -> None:
        self._node = node
        self._workcell_id = workcell_id
        self._cameras = [camera.name for camera in cameras]
        self._videos: dict[str, TakenSubscription] = {}
        self._frames: dict[str, deque[FrameRef]] = {name: deque(maxlen=_KEPT_FRAMES) for name in self._cameras}
        self._sequences = dict.fromkeys(self._cameras, 0)

    def listen(self, wanted: bool) -> None:
        """Begins to hear the videos, or stops: who hears them makes them be encoded."""
        if wanted and not self._videos:
            self._videos = {
                name: TakenSubscription(self._node, topics.video(name), self._workcell_id) for name in self._cameras
            }
        elif self._videos and not wanted:
            self.close()

    def frames(self, stamp_ns: int) -> list[FrameRef]:
        """Returns the newest frame of each camera that shows the state of a time [ns], or an earlier one."""
        for name, video in self._videos.items():
            for message, _ in video.take_all():
                self._sequences[name] += 1
                self._frames[name].append(
                    FrameRef(camera=name, stamp=message.timestamp, sequence=self._sequences[name])
                )
        shown = (
            next((frame for frame in reversed(kept) if to_nanoseconds(frame.stamp) <= stamp_ns), None)
            for kept in self._frames.values()
        )
        return [frame for frame in shown if frame is not None]

    def close(self) -> None:
        """Ends the subscriptions and forgets the frames."""
        for video in self._videos.values():
            video.close()
        self._videos.clear()
        for kept in self._frames.values():
            kept.clear()
