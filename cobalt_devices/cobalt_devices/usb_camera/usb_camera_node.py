"""`usb_camera`: pictures of a camera on USB, by OpenCV's V4L2, as JPEG where the camera makes it."""

import array
import sys
import threading
import time
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import CameraInfo, CompressedImage

from cobalt_devices.usb_camera.calibration_file import read_calibration
from cobalt_devices.usb_camera.usb_camera_parameters import UsbCameraParameters
from cobalt_teleop.core import topics
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.ros.endpoints import create_publisher
from cobalt_teleop.ros.parameters import read_parameters
from cobalt_teleop.ros.process import Stop, run_node
from cobalt_teleop.ros.stamps import now_ns, to_stamp

_SUMMARY = 'Publishes the pictures of a camera on USB (or of a video file), for camera_encoder to make video of them.'

_OPEN_AGAIN_S = 1.0
_JPEG_QUALITY = 90


class UsbCamera(Node):
    """Reads a camera in a thread of its own, and opens it anew when it was pulled out."""

    def __init__(self, stop: Stop) -> None:
        super().__init__('usb_camera')
        self._parameters = parameters = read_parameters(self, UsbCameraParameters)
        if not parameters.name.isidentifier():
            raise CobaltError(f"the camera '{parameters.name}' must have a name of letters, digits and underscores")
        self._info = read_calibration(Path(parameters.calibration)) if parameters.calibration else None
        self._pictures = create_publisher(self, topics.image_compressed(parameters.name), parameters.workcell)
        self._infos = create_publisher(self, topics.camera_info(parameters.name), parameters.workcell)
        self._frame = topics.optical_frame(parameters.workcell, parameters.name)
        self._is_file = Path(parameters.device).is_file()
        capture = self._opened()
        if capture is None:
            raise CobaltError(
                f'{parameters.device} cannot be opened: is it there (ls /dev/video*), is it in use, '
                'and are you in the group video?'
            )
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(capture,), name='usb_camera', daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends the thread."""
        self._ending.set()
        self._thread.join(timeout=2.0)

    def _opened(self) -> Any:
        """Returns an open cv2.VideoCapture that gives JPEG where it can, or None."""
        parameters = self._parameters
        capture = cv2.VideoCapture(parameters.device, cv2.CAP_ANY if self._is_file else cv2.CAP_V4L2)
        if not capture.isOpened():
            return None
        if not self._is_file:
            capture.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*'MJPG'))
            capture.set(cv2.CAP_PROP_FRAME_WIDTH, parameters.width)
            capture.set(cv2.CAP_PROP_FRAME_HEIGHT, parameters.height)
            capture.set(cv2.CAP_PROP_FPS, parameters.rate_hz)
            capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)
            capture.set(cv2.CAP_PROP_CONVERT_RGB, 0)
        width, height = (int(capture.get(side)) for side in (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT))
        self.get_logger().info(
            f'ready: {parameters.device}, {width} x {height}, {capture.get(cv2.CAP_PROP_FPS):g} a second, '
            f'on {self._pictures.topic_name}'
        )
        if not self._is_file and (width, height) != (parameters.width, parameters.height):
            self.get_logger().warning(f'the camera does not make {parameters.width} x {parameters.height}')
        if self._info is not None and (self._info.width, self._info.height) != (width, height):
            self.get_logger().warning(
                f'the calibration is of {self._info.width} x {self._info.height}, so it is not published'
            )
            self._info = None
        return capture

    def _run(self, capture: Any) -> None:
        while not self._ending.is_set():
            good, picture = capture.read()
            if good:
                self._publish(picture)
                if self._is_file:
                    time.sleep(1.0 / self._parameters.rate_hz)
            elif self._is_file:
                capture.set(cv2.CAP_PROP_POS_FRAMES, 0)
            else:
                capture = self._opened_again(capture)
        capture.release()

    def _opened_again(self, capture: Any) -> Any:
        self.get_logger().warning(f'{self._parameters.device} gives no pictures any more: was it pulled out?')
        capture.release()
        while not self._ending.wait(_OPEN_AGAIN_S):
            again = self._opened()
            if again is not None:
                return again
        return capture

    def _publish(self, picture: Any) -> None:
        stamp = to_stamp(now_ns())
        if self._info is not None and self._infos.get_subscription_count():
            info: CameraInfo = self._info
            info.header.stamp, info.header.frame_id = stamp, self._frame
            self._infos.publish(info)
        if not self._pictures.get_subscription_count():
            return
        message = CompressedImage(format='jpeg', data=array.array('B', _jpeg(picture)))
        message.header.stamp, message.header.frame_id = stamp, self._frame
        self._pictures.publish(message)


def _jpeg(picture: Any) -> bytes:
    """Returns a picture as JPEG: as the camera made it, or encoded here of BGR."""
    if picture.ndim == 2 and picture.shape[0] == 1 and bytes(picture[0, :2]) == b'\xff\xd8':
        return bytes(np.ascontiguousarray(picture))
    if picture.ndim == 2 or picture.shape[2] == 2:
        picture = cv2.cvtColor(picture.reshape(*picture.shape[:2], 2), cv2.COLOR_YUV2BGR_YUY2)
    _, data = cv2.imencode('.jpg', picture, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
    return data.tobytes()


def main() -> int:
    """Entry point of `usb_camera`."""
    return run_node('usb_camera', _SUMMARY, UsbCameraParameters, UsbCamera)


if __name__ == '__main__':
    sys.exit(main())
