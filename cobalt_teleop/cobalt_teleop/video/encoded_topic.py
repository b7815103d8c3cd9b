"""One topic of encoded video: encodes only while somebody subscribes, and gives key frames to who needs one."""

import array
import time
from typing import Any

from foxglove_msgs.msg import CompressedVideo
from rclpy.node import Node

from cobalt_teleop.core import topics
from cobalt_teleop.ros.endpoints import create_publisher
from cobalt_teleop.video.encoder import Encoder
from cobalt_teleop.video.h264_encoder import H264Encoder
from cobalt_teleop.video.vp8_encoder import Vp8Encoder
from cobalt_teleop.workcell_host.plant import Picture

KEY_FRAME_INTERVAL_S = 0.25
"""Key frames on request come no faster than this [s]: many viewers joining at once cost one."""

_ENCODERS: dict[str, type[H264Encoder] | type[Vp8Encoder]] = {'h264': H264Encoder, 'vp8': Vp8Encoder}

_RATE_TOLERANCE = 1.5
_RATE_PATIENCE_S = 5.0
"""An encoder whose rate is off by that factor is replaced, but not more often than this [s]."""


class EncodedTopic:
    """One camera's video in one codec.

    A key frame comes at first, after a change of size, rate or bit rate, for a new subscriber, when asked for, and
    after `GOP_FRAMES`. `publish` is called from worker threads, one at a time.

    Args:
        node: Owns the publisher.
        workcell_id: Namespace of the topic.
        camera: Its name.
        codec: h264 or vp8.
    """

    def __init__(self, node: Node, workcell_id: str, camera: str, codec: str) -> None:
        self._node = node
        self._codec = codec
        self._frame_id = topics.optical_frame(workcell_id, camera)
        self._publisher = create_publisher(node, topics.video(camera, codec), workcell_id)
        self._viewers = 0
        self._frames_since_key = 0
        self._key_frame_due = True
        self._key_frame_at = -KEY_FRAME_INTERVAL_S
        self._made_at = 0.0
        self.encoder: Encoder | None = None

    def wanted(self) -> bool:
        """Returns whether somebody subscribes; the encoder goes with the last one."""
        viewers = self._publisher.get_subscription_count()
        if not viewers:
            self._viewers = 0
            self.encoder = None
        return bool(viewers)

    def ask_key_frame(self) -> None:
        """Makes one of the next frames a key frame."""
        self._key_frame_due = True

    def publish(self, picture: Picture, stamp: Any, rate_hz: float, kbit_s: int) -> bool:
        """Encodes and publishes a picture if somebody subscribes; returns whether it did.

        Args:
            picture: (height, width, 3) RGB, of even size.
            stamp: Time of the state that it shows.
            rate_hz: Pictures a second [Hz].
            kbit_s: Upper bound of the bit rate [kbit/s].
        """
        viewers = self._publisher.get_subscription_count()
        joined, self._viewers = viewers > self._viewers, viewers
        if not viewers:
            return False
        if joined:
            self._key_frame_due = True
        now_s = time.monotonic()
        encoder = self.encoder = self._encoder_for(picture, rate_hz, kbit_s, now_s)
        asked = self._key_frame_due and now_s - self._key_frame_at >= KEY_FRAME_INTERVAL_S
        frame = encoder.encode(picture, asked or self._frames_since_key >= topics.GOP_FRAMES)
        self._frames_since_key += 1
        if frame.key_frame:
            self._frames_since_key = 1
            self._key_frame_due = False
            self._key_frame_at = now_s
        self._publisher.publish(
            CompressedVideo(
                timestamp=stamp, frame_id=self._frame_id, data=array.array('B', frame.data), format=self._codec
            )
        )
        return True

    def close(self) -> None:
        """Destroys the publisher and forgets the encoder."""
        self.encoder = None
        self._node.destroy_publisher(self._publisher)

    def _encoder_for(self, picture: Picture, rate_hz: float, kbit_s: int, now_s: float) -> Encoder:
        height, width = picture.shape[:2]
        present = self.encoder
        if present is not None and (present.width, present.height, present.kbit_s) == (width, height, kbit_s):
            off = max(rate_hz / present.rate_hz, present.rate_hz / rate_hz)
            if off < _RATE_TOLERANCE or now_s - self._made_at < _RATE_PATIENCE_S:
                return present
        self._made_at = now_s
        return _ENCODERS[self._codec](width, height, rate_hz, kbit_s)
