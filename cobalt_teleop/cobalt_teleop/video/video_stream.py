"""The video topic of one camera: encodes only while somebody subscribes, and gives key frames to who needs one."""

import array
import time

from foxglove_msgs.msg import CompressedVideo
from rclpy.node import Node

from cobalt_teleop.core import topics
from cobalt_teleop.ros.endpoints import TakenSubscription, create_publisher
from cobalt_teleop.ros.stamps import to_stamp
from cobalt_teleop.video.h264_encoder import H264Encoder
from cobalt_teleop.workcell_host.plant import Picture

KEY_FRAME_INTERVAL_S = 0.25
"""Key frames on request come no faster than this [s]: many viewers joining at once cost one."""


class VideoStream:
    """Encodes pictures and publishes them as CompressedVideo.

    A key frame comes at first, after a change of size, for a new subscriber, on request, and after `GOP_FRAMES`.
    Called from worker threads, one at a time.

    Args:
        node: Owns the endpoints.
        workcell_id: Namespace of the topics.
        camera: Its name.
        rate_hz: Pictures a second, for the encoder's rate control [Hz].
        kbit_s: Upper bound of the bit rate [kbit/s].
    """

    def __init__(self, node: Node, workcell_id: str, camera: str, rate_hz: float, kbit_s: int) -> None:
        self._node = node
        self._rate_hz = rate_hz
        self._kbit_s = kbit_s
        self._frame_id = topics.optical_frame(workcell_id, camera)
        self._publisher = create_publisher(node, topics.video(camera), workcell_id)
        self._requests = TakenSubscription(node, topics.request_key_frame(camera), workcell_id)
        self._encoder: H264Encoder | None = None
        self._viewers = 0
        self._frames_since_key = 0
        self._key_frame_due = True
        self._key_frame_at = -KEY_FRAME_INTERVAL_S

    def wanted(self) -> bool:
        """Returns whether somebody subscribes."""
        viewers = self._publisher.get_subscription_count()
        if not viewers:
            # Nobody calls `publish` now: whoever comes next has joined.
            self._viewers = 0
        return bool(viewers)

    def publish(self, picture: Picture, stamp_ns: int) -> bool:
        """Encodes and publishes a picture if somebody subscribes.

        Args:
            picture: (height, width, 3) RGB.
            stamp_ns: Time of the state that it shows [ns].

        Returns:
            Whether it was published.
        """
        viewers = self._publisher.get_subscription_count()
        joined, self._viewers = viewers > self._viewers, viewers
        if not viewers:
            return False
        data = self._encode(picture, joined)
        self._publisher.publish(
            CompressedVideo(
                timestamp=to_stamp(stamp_ns), frame_id=self._frame_id, data=array.array('B', data), format='h264'
            )
        )
        return True

    def close(self) -> None:
        """Destroys the publisher and forgets the encoder."""
        self._encoder = None
        self._node.destroy_publisher(self._publisher)

    def _encode(self, picture: Picture, joined: bool) -> bytes:
        height, width = picture.shape[:2]
        if self._encoder is None or (self._encoder.width, self._encoder.height) != (width, height):
            self._encoder = H264Encoder(width, height, self._rate_hz, self._kbit_s)
        if self._requests.take() is not None or joined:
            self._key_frame_due = True
        now = time.monotonic()
        asked = self._key_frame_due and now - self._key_frame_at >= KEY_FRAME_INTERVAL_S
        frame = self._encoder.encode(picture, asked or self._frames_since_key >= topics.GOP_FRAMES)
        self._frames_since_key += 1
        if frame.key_frame:
            self._frames_since_key = 1
            self._key_frame_due = False
            self._key_frame_at = now
        return frame.data
