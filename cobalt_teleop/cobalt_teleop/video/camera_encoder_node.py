"""camera_encoder: makes video of cameras that publish raw pictures."""

import sys
import threading
from dataclasses import dataclass
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Image

from cobalt_teleop.core import topics
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.ros.parameters import parameter, read_parameters
from cobalt_teleop.ros.process import Stop, run_node
from cobalt_teleop.ros.stamps import now_ns, to_nanoseconds
from cobalt_teleop.video.image_message import to_picture
from cobalt_teleop.video.video_stream import VideoStream

_LOOK_PERIOD_S = 0.5


@dataclass(frozen=True, kw_only=True)
class CameraEncoderParameters:
    """Parameters of camera_encoder."""

    workcell: str = parameter('env_0', 'workcell in whose namespace the video is published')
    cameras: tuple[str, ...] = parameter(
        ('front',), 'names, each with =TOPIC if its pictures are not on /WORKCELL/camera/NAME/image_raw'
    )
    rate_hz: float = parameter(30.0, 'pictures a second that the cameras publish [Hz]', lower=1.0, upper=240.0)
    kbit_s: int = parameter(2500, 'upper bound of the bit rate of each video [kbit/s]', lower=50, upper=100_000)


class _Camera:
    """Subscribes to a camera's pictures while its video is wanted, and encodes the newest in a thread of its own."""

    def __init__(self, node: Node, values: CameraEncoderParameters, name: str, image_topic: str) -> None:
        self._node = node
        self._name = name
        self._image_topic = image_topic
        self._stream = VideoStream(node, values.workcell, name, values.rate_hz, values.kbit_s)
        self._subscription: Any = None
        self._newest: Image | None = None
        self._arrived = threading.Condition()
        self._closing = False
        self._complaint = ''
        self._worker = threading.Thread(target=self._work, name=f'encoder-{name}', daemon=True)
        self._worker.start()

    def look(self) -> None:
        """Subscribes or unsubscribes as the video's viewers come and go."""
        if self._stream.wanted() and self._subscription is None:
            newest_only = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
            self._subscription = self._node.create_subscription(Image, self._image_topic, self._on_image, newest_only)
        elif not self._stream.wanted() and self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
            self._subscription = None

    def close(self) -> None:
        with self._arrived:
            self._closing = True
            self._arrived.notify()
        self._worker.join(timeout=2.0)
        self._stream.close()

    def _on_image(self, message: Image) -> None:
        with self._arrived:
            self._newest = message
            self._arrived.notify()

    def _work(self) -> None:
        while True:
            with self._arrived:
                self._arrived.wait_for(lambda: self._closing or self._newest is not None)
                if self._closing:
                    return
                message, self._newest = self._newest, None
            assert message is not None
            try:
                self._stream.publish(to_picture(message), to_nanoseconds(message.header.stamp) or now_ns())
            except CobaltError as error:
                if str(error) != self._complaint:
                    self._complaint = str(error)
                    self._node.get_logger().error(f'camera {self._name}, {self._image_topic}: {error}')


class CameraEncoder(Node):
    """Publishes H.264 video of raw camera topics while somebody watches it."""

    def __init__(self) -> None:
        super().__init__('camera_encoder')
        values = read_parameters(self, CameraEncoderParameters)
        if not values.cameras:
            raise CobaltError("parameter 'cameras' is empty; give at least one camera, such as front")
        self._cameras = []
        for text in values.cameras:
            name, _, topic = text.partition('=')
            image_topic = topic or topics.image_raw(name).absolute(values.workcell)
            self._cameras.append(_Camera(self, values, name, image_topic))
        self.create_timer(_LOOK_PERIOD_S, self._look)

    def close(self) -> None:
        """Ends the encoders."""
        for camera in self._cameras:
            camera.close()

    def _look(self) -> None:
        for camera in self._cameras:
            camera.look()


def _build(stop: Stop) -> Node:
    return CameraEncoder()


def main() -> int:
    """Entry point."""
    return run_node(
        'camera_encoder', 'Makes H.264 video of cameras that publish raw pictures.', CameraEncoderParameters, _build
    )


if __name__ == '__main__':
    sys.exit(main())
