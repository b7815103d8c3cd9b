"""camera_encoder: makes video of real cameras, whatever their drivers publish."""

import sys
import threading
import time
from dataclasses import dataclass
from typing import Any

from rclpy.node import Node
from sensor_msgs.msg import CompressedImage

from cobalt_interfaces.msg import EpisodeState
from cobalt_interfaces.srv import SetCamera
from cobalt_teleop.core import topics
from cobalt_teleop.core.episode import GOING_ON
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.parameter_table import parameter
from cobalt_teleop.ros.endpoints import create_subscription
from cobalt_teleop.ros.parameters import read_parameters
from cobalt_teleop.ros.process import Stop, run_node
from cobalt_teleop.ros.stamps import to_nanoseconds
from cobalt_teleop.video.camera_list import named_cameras
from cobalt_teleop.video.capture_time import CaptureTime
from cobalt_teleop.video.compressed_image import CompressedImageReader
from cobalt_teleop.video.image_message import ImageReader
from cobalt_teleop.video.picture_faults import PictureFaults
from cobalt_teleop.video.picture_rate import RateLimit
from cobalt_teleop.video.picture_topic import PictureTopic
from cobalt_teleop.video.video_stream import VideoLimits, VideoStream
from cobalt_teleop.video.video_wishes import VideoWishes

_LOOK_PERIOD_S = 0.5


@dataclass(frozen=True, kw_only=True)
class CameraEncoderParameters:
    """Parameters of camera_encoder."""

    workcell: str = parameter('env_0', 'workcell in whose namespace the video is published')
    cameras: tuple[str, ...] = parameter(
        ('front',),
        'names (none for none), each with =TOPIC if its pictures are not on /WORKCELL/camera/NAME/image_raw '
        '(or /compressed below it); Image and CompressedImage (JPEG, PNG) are told apart by themselves',
    )
    rate_hz: float = parameter(30.0, 'pictures a second of each camera, at most [Hz]', lower=0.5, upper=240.0)
    max_width: int = parameter(1280, 'larger pictures are scaled down to this width [px]', lower=32, upper=3840)
    max_height: int = parameter(960, 'larger pictures are scaled down to this height [px]', lower=32, upper=2160)
    kbit_s: int = parameter(2500, 'upper bound of the bit rate of each video [kbit/s]', lower=50, upper=100_000)


class _Camera:
    """Subscribes to a camera's pictures while its video is wanted, and encodes the newest in a thread of its own."""

    def __init__(self, node: Node, values: CameraEncoderParameters, name: str, names: tuple[str, ...]) -> None:
        self._node = node
        self._name = name
        self._pictures = PictureTopic(node, names, RateLimit(values.rate_hz).passes)
        self._readers = ImageReader(), CompressedImageReader()
        best = VideoLimits(values.kbit_s, (values.max_width, values.max_height))
        self._rate_hz = values.rate_hz
        self._wishes = VideoWishes(name, best, time.monotonic())
        self._stream = VideoStream(node, values.workcell, name, values.rate_hz, best)
        self._absent = False
        self._faults = PictureFaults(self._tell)
        self._capture_time = CaptureTime(lambda text: self._tell(text, False))
        self._worker = threading.Thread(target=self._work, name=f'encoder-{name}', daemon=True)
        self._worker.start()

    def change(self, request: Any) -> None:
        """Follows SetCamera.

        Raises:
            CobaltError: It cannot change like that.
        """
        if not request.enabled or request.rate_hz:
            raise CobaltError(
                'a real camera is switched off, and its rate is set, at its driver (or by rate_hz at start)'
            )
        self._wishes.ask(request)

    def look(self, *, full_size: bool) -> None:
        """Subscribes or unsubscribes as the video's viewers come and go, and follows what they ask for."""
        wanted = self._stream.wanted()
        self._wishes.forget_unless_watched(wanted, time.monotonic())
        self._stream.limits = self._wishes.granted(self._rate_hz, full_size=full_size)
        if not wanted:
            self._pictures.close()
            self._look_for_driver(self._pictures.absent())
        elif trouble := self._pictures.open():
            self._faults.wrong(trouble, time.monotonic())
        else:
            self._look_for_driver('')

    def _look_for_driver(self, trouble: str) -> None:
        """Says that no driver is there, also before somebody wants its pictures, and that one came."""
        if trouble:
            self._absent = True
            self._faults.wrong(trouble, time.monotonic())
        elif self._absent:
            self._absent = False
            self._faults.over('a camera publishes there now')

    def close(self) -> None:
        self._pictures.end()
        self._worker.join(timeout=2.0)
        self._stream.close()

    def _work(self) -> None:
        while (taken := self._pictures.take()) is not None:
            message, arrival_ns = taken
            try:
                picture = self._readers[isinstance(message, CompressedImage)].read(message)
                stamp_ns = self._capture_time.of(to_nanoseconds(message.header.stamp), arrival_ns)
                self._stream.publish(picture, stamp_ns)
            except CobaltError as error:
                self._faults.wrong(str(error), time.monotonic())
            except Exception as error:
                # No picture, whatever it is made of, ends the video of the next ones.
                self._faults.wrong(f'a picture failed: {type(error).__name__}: {error}', time.monotonic())
            else:
                self._faults.good(time.monotonic())

    def _tell(self, text: str, good: bool) -> None:
        line = f'camera {self._name}, {self._pictures.name}: {text}'
        if good:
            self._node.get_logger().info(line)
        else:
            self._node.get_logger().warning(line)


class CameraEncoder(Node):
    """Publishes video of real cameras while somebody watches it."""

    def __init__(self) -> None:
        super().__init__('camera_encoder')
        values = read_parameters(self, CameraEncoderParameters)
        if not values.cameras:
            raise CobaltError("parameter 'cameras' is empty; give at least one camera, such as front, or none")
        self._cameras: dict[str, _Camera] = {}
        self._full_size = False
        for name, topic in named_cameras(values.cameras).items():
            usual = topics.image_raw(name), topics.image_compressed(name)
            names = (topic,) if topic else tuple(one.absolute(values.workcell) for one in usual)
            self._cameras[name] = _Camera(self, values, name, names)
            self.get_logger().info(
                f'ready: video of {name} on {topics.video(name).absolute(values.workcell)}, from {" or ".join(names)}, '
                'while somebody watches or records it'
            )
        self.create_timer(_LOOK_PERIOD_S, self._look)
        self._episodes = create_subscription(self, topics.EPISODE, values.workcell, self._on_episode)
        self.create_service(SetCamera, topics.service_name(self.get_name(), 'SetCamera'), self._on_set_camera)

    def close(self) -> None:
        """Ends the encoders."""
        for camera in self._cameras.values():
            camera.close()

    def _look(self) -> None:
        for camera in self._cameras.values():
            camera.look(full_size=self._full_size)

    def _on_episode(self, state: EpisodeState) -> None:
        self._full_size = state.phase in GOING_ON
        self._look()

    def _on_set_camera(self, request: Any, response: Any) -> Any:
        camera = self._cameras.get(request.camera)
        try:
            if camera is None:
                raise CobaltError(f"there is no camera '{request.camera}'; there are {', '.join(self._cameras)}")
            camera.change(request)
        except CobaltError as error:
            response.ok, response.reason = False, str(error)
        else:
            response.ok = True
            self._look()
        return response


def _build(stop: Stop) -> Node:
    return CameraEncoder()


def main() -> int:
    """Entry point."""
    return run_node(
        'camera_encoder', 'Makes video of real cameras, for pages and bags.', CameraEncoderParameters, _build
    )


if __name__ == '__main__':
    sys.exit(main())
