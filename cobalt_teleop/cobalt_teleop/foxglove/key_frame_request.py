"""Asks a camera's encoder for a key frame, so that a client that joins need not wait for the next one."""

from rclpy.node import Node
from std_msgs.msg import Empty

from cobalt_teleop.core import topics
from cobalt_teleop.ros.endpoints import create_publisher

_LOOK_S = 0.1
_GIVE_UP_S = 3.0


def camera_of(video: str) -> tuple[str, str] | None:
    """Returns workcell and camera of a video topic such as `/env_0/camera/front/video`; None if it is no such topic."""
    parts = video.split('/')
    if len(parts) != 5:
        return None
    _, workcell_id, _, camera, _ = parts
    videos = [topics.video(camera, codec).absolute(workcell_id) for codec in topics.VIDEO_CODECS]
    return (workcell_id, camera) if video in videos else None


class KeyFrameRequest:
    """Sends one request as soon as the encoder hears it. Belongs to the executor's thread.

    Args:
        node: Owns the publisher.
        workcell_id: The workcell.
        camera: Its camera.
    """

    def __init__(self, node: Node, workcell_id: str, camera: str) -> None:
        self._node = node
        self._publisher = create_publisher(node, topics.request_key_frame(camera), workcell_id)
        self._looks_left = int(_GIVE_UP_S / _LOOK_S)
        self._timer = node.create_timer(_LOOK_S, self._look)

    def _look(self) -> None:
        if self._looks_left > 1 and self._publisher.get_subscription_count():
            self._publisher.publish(Empty())
            self._looks_left = 2  # the next look ends it: the request is on its way until then
        self._looks_left -= 1
        if not self._looks_left:
            self._node.destroy_timer(self._timer)
            self._node.destroy_publisher(self._publisher)
