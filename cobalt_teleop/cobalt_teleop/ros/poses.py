"""Poses as ROS messages. What comes in passes the one gate, `validate_pose`."""

from typing import Any

from geometry_msgs.msg import Point, Quaternion
from geometry_msgs.msg import Pose as PoseMessage

from cobalt_teleop.core.pose import Pose, validate_pose


def pose_message(pose: Pose) -> PoseMessage:
    """Returns a message, xyzw."""
    x, y, z = pose.position.tolist()
    qx, qy, qz, qw = pose.quat_xyzw.tolist()
    return PoseMessage(position=Point(x=x, y=y, z=z), orientation=Quaternion(x=qx, y=qy, z=qz, w=qw))


def fill_pose(message: PoseMessage, pose: Pose) -> None:
    """Writes a pose, xyzw, into a message that is used again and again."""
    place, quat = message.position, message.orientation
    place.x, place.y, place.z = pose.position.tolist()
    quat.x, quat.y, quat.z, quat.w = pose.quat_xyzw.tolist()


def pose_of(message: Any) -> Pose:
    """Returns the pose of a geometry_msgs/Pose.

    Raises:
        InvalidPoseError: A number is not finite, or the quaternion is no rotation.
    """
    place, quat = message.position, message.orientation
    return validate_pose((place.x, place.y, place.z), (quat.x, quat.y, quat.z, quat.w))
