"""Poses and rotations. Quaternions are xyzw everywhere; transforms3d wants wxyz and gets it at the call."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from transforms3d import quaternions

from cobalt_teleop.core.errors import CobaltError

Vector = NDArray[np.float64]

_UNIT_TOLERANCE = 1e-2
_FARTHEST_M = 1e6
_TO_WXYZ = np.array([3, 0, 1, 2])
_TO_XYZW = np.array([1, 2, 3, 0])


class InvalidPoseError(CobaltError):
    """A pose has a number that is not finite, or a quaternion that is no rotation."""


def wxyz(quat_xyzw: ArrayLike) -> Vector:
    """Reorders (4,) xyzw to wxyz."""
    reordered: Vector = np.asarray(quat_xyzw, dtype=float)[_TO_WXYZ]
    return reordered


def xyzw(quat_wxyz: ArrayLike) -> Vector:
    """Reorders (4,) wxyz to xyzw."""
    reordered: Vector = np.asarray(quat_wxyz, dtype=float)[_TO_XYZW]
    return reordered


def multiply(left_xyzw: ArrayLike, right_xyzw: ArrayLike) -> Vector:
    """Returns the rotation `right` followed by `left`, as (4,) xyzw."""
    return xyzw(quaternions.qmult(wxyz(left_xyzw), wxyz(right_xyzw)))


def inverse(quat_xyzw: ArrayLike) -> Vector:
    """Returns the opposite rotation of a unit quaternion, (4,) xyzw."""
    return np.asarray(np.asarray(quat_xyzw, dtype=float) * np.array([-1.0, -1.0, -1.0, 1.0]))


def rotate(quat_xyzw: ArrayLike, vector: ArrayLike) -> Vector:
    """Rotates a (3,) vector."""
    return np.asarray(quaternions.rotate_vector(np.asarray(vector, dtype=float), wxyz(quat_xyzw)))


def rotation_matrix(quat_xyzw: ArrayLike) -> Vector:
    """Returns the (3, 3) matrix of a rotation."""
    return np.asarray(quaternions.quat2mat(wxyz(quat_xyzw)))


def rotation_vector(quat_xyzw: ArrayLike) -> Vector:
    """Returns axis times angle [rad], (3,), of the shorter way round."""
    quat = np.asarray(quat_xyzw, dtype=float)
    if quat[3] < 0:
        quat = -quat
    axis_norm = float(np.linalg.norm(quat[:3]))
    if axis_norm < 1e-12:
        return 2.0 * quat[:3]
    return np.asarray(quat[:3] / axis_norm * (2.0 * np.arctan2(axis_norm, quat[3])))


def quaternion(rotation_vector_rad: ArrayLike) -> Vector:
    """Returns the (4,) xyzw quaternion of an axis times angle [rad]."""
    vector = np.asarray(rotation_vector_rad, dtype=float)
    angle = float(np.linalg.norm(vector))
    if angle < 1e-12:
        quat = np.array([*(vector / 2.0), 1.0])
        return np.asarray(quat / np.linalg.norm(quat))
    return xyzw(quaternions.axangle2quat(vector / angle, angle, is_normalized=True))


def angle_between(first_xyzw: ArrayLike, second_xyzw: ArrayLike) -> float:
    """Returns the smallest angle [rad] that turns one rotation into the other."""
    return float(np.linalg.norm(rotation_vector(multiply(inverse(first_xyzw), second_xyzw))))


def continuous(quat_xyzw: Vector, previous_xyzw: Vector) -> Vector:
    """Returns the same rotation with the sign that lies nearer to the one before."""
    return -quat_xyzw if float(np.dot(quat_xyzw, previous_xyzw)) < 0 else quat_xyzw


def slerp(start_xyzw: Vector, end_xyzw: Vector, share: float) -> Vector:
    """Returns the rotation at a share (0 to 1) of the shorter way from start to end."""
    way = rotation_vector(multiply(inverse(start_xyzw), end_xyzw))
    return continuous(multiply(start_xyzw, quaternion(way * share)), start_xyzw)


@dataclass(frozen=True)
class Pose:
    """A position and a rotation, in a frame that the name of the variable tells.

    Attributes:
        position: (3,) [m].
        quat_xyzw: (4,) unit quaternion.
    """

    position: Vector = field(default_factory=lambda: np.zeros(3))
    quat_xyzw: Vector = field(default_factory=lambda: np.array([0.0, 0.0, 0.0, 1.0]))

    def __matmul__(self, other: 'Pose') -> 'Pose':
        """Returns `other`, given in this pose's frame, in the frame of this pose."""
        return Pose(self.position + rotate(self.quat_xyzw, other.position), multiply(self.quat_xyzw, other.quat_xyzw))

    def inverse(self) -> 'Pose':
        """Returns the pose of the frame in this pose."""
        back = inverse(self.quat_xyzw)
        return Pose(-rotate(back, self.position), back)


def validate_pose(position: ArrayLike, quat_xyzw: ArrayLike) -> Pose:
    """Returns a pose with a unit quaternion, from numbers of unknown quality.

    This is the one gate at every input boundary.

    Args:
        position: (3,) [m].
        quat_xyzw: (4,), at most 1 % off unit length.

    Raises:
        InvalidPoseError: A number is not finite, a shape is wrong, or the quaternion is no rotation.
    """
    place = np.asarray(position, dtype=float)
    quat = np.asarray(quat_xyzw, dtype=float)
    if place.shape != (3,) or quat.shape != (4,):
        raise InvalidPoseError(f'a pose has 3 + 4 numbers, not {place.shape} + {quat.shape}')
    # A number that is not finite makes each of these comparisons false.
    near = float(np.abs(place).max()) <= _FARTHEST_M
    with np.errstate(over='ignore', invalid='ignore'):
        length = math.sqrt(float(quat @ quat))
    if near and abs(length - 1.0) <= _UNIT_TOLERANCE:
        return Pose(place.copy(), quat / length)
    if not (np.isfinite(place).all() and np.isfinite(quat).all()):
        raise InvalidPoseError(f'a pose must be finite, not {place.tolist()}, {quat.tolist()}')
    if not near:
        raise InvalidPoseError(f'a position must lie within {_FARTHEST_M:g} m, not at {place.tolist()}')
    raise InvalidPoseError(f'a quaternion must have length 1, not {length:.4g}: {quat.tolist()}')
