"""Success as somebody else sees it: a reward model, a watcher, a person's button, over a topic of Bool."""

from rclpy.node import Node
from std_msgs.msg import Bool

_SILENCE_S = 1.0


class SuccessWatch:
    """Takes the word of a topic.

    Args:
        node: Owner.
        topic: Of std_msgs/Bool.
    """

    def __init__(self, node: Node, topic: str) -> None:
        self._node = node
        self._says = False
        self._heard_ns = 0
        node.create_subscription(Bool, topic, self._hear, 1)

    def __call__(self) -> bool:
        """Returns whether the task is done; an old word is none."""
        age_s = (self._node.get_clock().now().nanoseconds - self._heard_ns) * 1e-9
        return self._says and age_s < _SILENCE_S

    def _hear(self, message: Bool) -> None:
        self._says = bool(message.data)
        self._heard_ns = self._node.get_clock().now().nanoseconds
