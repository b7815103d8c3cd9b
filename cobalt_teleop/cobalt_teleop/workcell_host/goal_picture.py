"""The picture of what is to be done: the plant draws it, or whoever runs the host gives a photograph."""

from pathlib import Path

import cv2
from rclpy.node import Node
from rclpy.publisher import Publisher
from sensor_msgs.msg import CompressedImage

from cobalt_teleop.core import topics
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.picture_file import MAX_GOAL_BYTES, picture_format
from cobalt_teleop.ros.endpoints import create_publisher
from cobalt_teleop.ros.stamps import now_ns, to_stamp
from cobalt_teleop.video.compressed_image import CompressedImageReader
from cobalt_teleop.video.picture_size import PictureError
from cobalt_teleop.workcell_host.plant import Picture, Plant

_QUALITY = 85


def read_photograph(path: Path) -> CompressedImage:
    """Reads a photograph of the goal.

    Raises:
        CobaltError: It cannot be read, is neither JPEG nor PNG, is broken or too large.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CobaltError(f'the picture of the goal, {path}, cannot be read: {error.strerror}') from error
    if len(data) > MAX_GOAL_BYTES:
        raise CobaltError(
            f'the picture of the goal, {path}, has {len(data) / 1e6:.1f} MB, but may have at most '
            f'{MAX_GOAL_BYTES / 1e6:g}: save it smaller, such as 960 x 720'
        )
    photograph = CompressedImage(format=picture_format(data), data=data)
    try:
        CompressedImageReader().read(photograph)
    except PictureError as error:
        raise CobaltError(f'the picture of the goal, {path}, cannot be shown: {error}') from error
    return photograph


class GoalPicture:
    """Publishes the picture of a workcell's task.

    Args:
        node: Owns the publisher.
        workcell_id: Namespace of the topic.
        plant: Draws it.
        photograph: Stands for what the plant would draw, whatever the task; None for none.
    """

    def __init__(self, node: Node, workcell_id: str, plant: Plant, photograph: CompressedImage | None) -> None:
        self._node = node
        self._id = workcell_id
        self._plant = plant
        self._photograph = photograph
        self._task = ''
        self._publisher: Publisher | None = None

    def show(self, task: str) -> None:
        """Publishes the picture of a task, unless it is the one that was asked for last."""
        if task == self._task:
            return
        self._task = task
        message = self._photograph or _jpeg(self._plant.goal_picture(task))
        if message is None:
            self._publish_none()
            return
        message.header.stamp = to_stamp(now_ns())
        if self._publisher is None:
            self._publisher = create_publisher(self._node, topics.GOAL_PICTURE, self._id)
        self._publisher.publish(message)

    def _publish_none(self) -> None:
        if self._publisher is not None:
            self._node.destroy_publisher(self._publisher)
            self._publisher = None


def _jpeg(picture: Picture | None) -> CompressedImage | None:
    if picture is None:
        return None
    _, data = cv2.imencode('.jpg', cv2.cvtColor(picture, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
    return CompressedImage(format='jpeg', data=data.tobytes())
