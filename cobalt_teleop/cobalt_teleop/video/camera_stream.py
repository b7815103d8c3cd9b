"""The topics of one camera: encoded video, raw pictures and intrinsics, each made only while somebody subscribes."""

import array
import time

from foxglove_msgs.msg import CompressedVideo
from rclpy.node import Node
from sensor_msgs.msg import CameraInfo, Image

from cobalt_interfaces.msg import FrameRef
from cobalt_teleop.core import topics
from cobalt_teleop.ros.endpoints import TakenSubscription, create_publisher
from cobalt_teleop.ros.stamps import to_stamp
from cobalt_teleop.video import frame_code
from cobalt_teleop.video.h264_encoder import H264Encoder
from cobalt_teleop.workcell_host.plant import CameraModel, Picture

KEY_FRAME_INTERVAL_S = 0.25
"""Key frames on request come no faster than this [s]: many viewers joining at once cost one."""


class CameraStream:
    """Publishes one camera of a workcell.

    Called from worker threads, one at a time.

    Args:
        node: Owns the endpoints.
        workcell_id: Namespace of the topics.
        camera: What is published.
        kbit_s: Upper bound of the video's bit rate [kbit/s].
        draw_code: Draws each frame's stamp into its picture (see `frame_code`), for measurements of latency.
    """

    def __init__(
        self, node: Node, workcell_id: str, camera: CameraModel, kbit_s: int, *, draw_code: bool = False
    ) -> None:
        self._node = node
        self._camera = camera
        self._kbit_s = kbit_s
        self._draw_code = draw_code
        self._frame_id = topics.optical_frame(workcell_id, camera.name)
        self._video = create_publisher(node, topics.video(camera.name), workcell_id)
        self._image = create_publisher(node, topics.image_raw(camera.name), workcell_id)
        self._info = create_publisher(node, topics.camera_info(camera.name), workcell_id)
        self._requests = TakenSubscription(node, topics.request_key_frame(camera.name), workcell_id)
        self._encoder: H264Encoder | None = None
        self._sequence = 0
        self._viewers = 0
        self._frames_since_key = 0
        self._key_frame_due = True
        self._key_frame_at = -KEY_FRAME_INTERVAL_S

    def wanted(self) -> bool:
        """Returns whether somebody subscribes to the video or the raw pictures."""
        return bool(self._video.get_subscription_count() or self._image.get_subscription_count())

    def publish(self, picture: Picture, stamp_ns: int) -> FrameRef | None:
        """Publishes a picture to whoever subscribes.

        Args:
            picture: (height, width, 3) RGB.
            stamp_ns: Time of the state that it shows [ns].

        Returns:
            The frame's name; None if nobody was there.
        """
        viewers = self._video.get_subscription_count()
        raw = self._image.get_subscription_count() > 0
        joined, self._viewers = viewers > self._viewers, viewers
        if not viewers and not raw:
            return None
        if self._draw_code:
            picture = frame_code.draw(picture, frame_code.value_of_stamp(stamp_ns))
        self._sequence += 1
        stamp = to_stamp(stamp_ns)
        if viewers:
            frame = self._encode(picture, joined)
            self._video.publish(
                CompressedVideo(timestamp=stamp, frame_id=self._frame_id, data=array.array('B', frame), format='h264')
            )
        if raw:
            height, width = picture.shape[:2]
            message = Image(height=height, width=width, encoding='rgb8', is_bigendian=0, step=width * 3)
            message.header.stamp = stamp
            message.header.frame_id = self._frame_id
            message.data = array.array('B', picture.tobytes())
            self._image.publish(message)
        if self._info.get_subscription_count():
            self._info.publish(self._camera_info(stamp))
        return FrameRef(camera=self._camera.name, stamp=stamp, sequence=self._sequence)

    def close(self) -> None:
        """Destroys the endpoints' publishers and forgets the encoder."""
        self._encoder = None
        for publisher in (self._video, self._image, self._info):
            self._node.destroy_publisher(publisher)

    def _encode(self, picture: Picture, joined: bool) -> bytes:
        height, width = picture.shape[:2]
        if self._encoder is None or (self._encoder.width, self._encoder.height) != (width, height):
            self._encoder = H264Encoder(width, height, self._camera.rate_hz, self._kbit_s)
            self._frames_since_key = topics.GOP_FRAMES
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

    def _camera_info(self, stamp: object) -> CameraInfo:
        camera = self._camera
        focal, middle_x, middle_y = camera.focal_px, camera.width / 2, camera.height / 2
        message = CameraInfo(height=camera.height, width=camera.width, distortion_model='plumb_bob', d=[0.0] * 5)
        message.header.stamp = stamp
        message.header.frame_id = self._frame_id
        message.k = [focal, 0.0, middle_x, 0.0, focal, middle_y, 0.0, 0.0, 1.0]
        message.r = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
        message.p = [focal, 0.0, middle_x, 0.0, 0.0, focal, middle_y, 0.0, 0.0, 0.0, 1.0, 0.0]
        return message
