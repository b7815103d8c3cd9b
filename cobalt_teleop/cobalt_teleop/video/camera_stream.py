"""The topics of one camera: encoded video, raw pictures and intrinsics, each made only while somebody subscribes."""

import array
from typing import Any

from rclpy.node import Node
from sensor_msgs.msg import CameraInfo, Image

from cobalt_interfaces.msg import FrameRef
from cobalt_teleop.core import topics
from cobalt_teleop.ros.endpoints import create_publisher
from cobalt_teleop.ros.stamps import to_stamp
from cobalt_teleop.video import frame_code
from cobalt_teleop.video.picture_size import size_within
from cobalt_teleop.video.video_stream import VideoLimits, VideoStream
from cobalt_teleop.workcell_host.plant import CameraModel, Picture


class CameraStream:
    """Publishes one camera of a workcell.

    Called from worker threads, one at a time.

    Args:
        node: Owns the endpoints.
        workcell_id: Namespace of the topics.
        camera: What is published.
        kbit_s: Upper bound of the video's bit rate until `limits` says otherwise [kbit/s].
        draw_code: Draws each frame's stamp into its picture (see `frame_code`), for measurements of latency.
    """

    def __init__(
        self, node: Node, workcell_id: str, camera: CameraModel, kbit_s: int, *, draw_code: bool = False
    ) -> None:
        self._node = node
        self._camera = camera
        self._draw_code = draw_code
        self._frame_id = topics.optical_frame(workcell_id, camera.name)
        self._video = VideoStream(node, workcell_id, camera.name, camera.rate_hz, VideoLimits(kbit_s))
        self._image = create_publisher(node, topics.image_raw(camera.name), workcell_id)
        self._info = create_publisher(node, topics.camera_info(camera.name), workcell_id)
        self._sequence = 0

    def wanted(self) -> bool:
        """Returns whether somebody subscribes to the video or the raw pictures."""
        return self._video.wanted() or bool(self._image.get_subscription_count())

    @property
    def limits(self) -> VideoLimits:
        """How large and how many bits the video may be."""
        return self._video.limits

    @limits.setter
    def limits(self, limits: VideoLimits) -> None:
        self._video.limits = limits

    def picture_size(self) -> tuple[int, int]:
        """Returns the width and height in which a picture is wanted: the video's, or the camera's own if it is raw."""
        camera = self._camera
        if self._image.get_subscription_count():
            return camera.width, camera.height
        return size_within(camera.width, camera.height, *self._video.limits.size_px)

    def codecs(self) -> list[str]:
        """Returns the codecs in which pictures are encoded."""
        return self._video.codecs()

    def publish(self, picture: Picture, stamp_ns: int) -> FrameRef | None:
        """Publishes a picture to whoever subscribes.

        Args:
            picture: (height, width, 3) RGB.
            stamp_ns: Time of the state that it shows [ns].

        Returns:
            The frame's name; None if nobody was there.
        """
        raw = self._image.get_subscription_count() > 0
        if self._draw_code:
            picture = frame_code.draw(picture, frame_code.value_of_stamp(stamp_ns))
        stamp = to_stamp(stamp_ns)
        if self._info.get_subscription_count():
            # Before the encoder: who measures can tell rendering and encoding apart.
            self._info.publish(self._info_message(stamp))
        if not self._video.publish(picture, stamp_ns) and not raw:
            return None
        self._sequence += 1
        if raw:
            self._image.publish(self._image_message(picture, stamp))
        return FrameRef(camera=self._camera.name, stamp=stamp, sequence=self._sequence)

    def close(self) -> None:
        """Destroys the publishers and forgets the encoder."""
        self._video.close()
        self._node.destroy_publisher(self._image)
        self._node.destroy_publisher(self._info)

    def _image_message(self, picture: Picture, stamp: Any) -> Image:
        height, width = picture.shape[:2]
        message = Image(height=height, width=width, encoding='rgb8', is_bigendian=0, step=width * 3)
        message.header.stamp = stamp
        message.header.frame_id = self._frame_id
        message.data = array.array('B', picture.tobytes())
        return message

    def _info_message(self, stamp: Any) -> CameraInfo:
        camera = self._camera
        focal, middle_x, middle_y = camera.focal_px, camera.width / 2, camera.height / 2
        message = CameraInfo(height=camera.height, width=camera.width, distortion_model='plumb_bob', d=[0.0] * 5)
        message.header.stamp = stamp
        message.header.frame_id = self._frame_id
        message.k = [focal, 0.0, middle_x, 0.0, focal, middle_y, 0.0, 0.0, 1.0]
        message.r = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
        message.p = [focal, 0.0, middle_x, 0.0, 0.0, focal, middle_y, 0.0, 0.0, 0.0, 1.0, 0.0]
        return message
