"""From a plant's state to what a policy observes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict

from cobalt_sim.mujoco_plant import PART, MujocoPlant
from cobalt_teleop.core.pose import Pose, Vector, continuous

ObservationDict = dict[str, Any]

_FARTHEST_M = 5.0
_FASTEST = 20.0


class ObservationMap:
    """Observes one plant: proprioception, poses of the objects, and pictures.

    Poses are positions [m] and quaternions xyzw in the base frame, whose signs do not jump within an episode.

    Args:
        plant: What it looks at.
        cameras: Whose pictures are observed.
    """

    def __init__(self, plant: MujocoPlant, cameras: Sequence[str]) -> None:
        self._plant = plant
        self._cameras = tuple(cameras)
        self._rotations: dict[str, Vector] = {}
        joints = len(plant.capabilities.parts[0].joint_names)
        pose = (np.array([-_FARTHEST_M] * 3 + [-1.0] * 4), np.array([_FARTHEST_M] * 3 + [1.0] * 4))
        bounds: dict[str, tuple[Any, Any]] = {
            'joint_positions': (np.full(joints, -2.0 * np.pi), np.full(joints, 2.0 * np.pi)),
            'joint_velocities': (np.full(joints, -_FASTEST), np.full(joints, _FASTEST)),
            'tool_pose': pose,
            'tool_twist': (np.full(6, -_FASTEST), np.full(6, _FASTEST)),
            'target_pose': pose,
            'gripper': (np.zeros(1), np.ones(1)),
        }
        bounds |= {f'{name}_pose': pose for name in plant.capabilities.objects}
        spaces = {
            key: Box(low.astype(np.float32), high.astype(np.float32), dtype=np.float32)
            for key, (low, high) in bounds.items()
        }
        sizes = {camera.name: (camera.height, camera.width, 3) for camera in plant.capabilities.cameras}
        pictures = {f'{name}_picture': Box(0, 255, sizes[name], np.uint8) for name in self._cameras}
        self._bounds = {key: (space.low, space.high) for key, space in spaces.items()}
        self.space = Dict({**spaces, **pictures})

    def restart(self) -> None:
        """Begins an episode: the signs of quaternions are chosen anew."""
        self._rotations = {}

    def observe(self, target: Pose) -> ObservationDict:
        """Returns a fresh observation of the present state.

        Args:
            target: Accepted target of the tool in the base frame.
        """
        state = self._plant.observe()
        part = state.parts[PART]
        values: dict[str, Any] = {
            'joint_positions': part.joint_positions,
            'joint_velocities': part.joint_velocities,
            'tool_pose': self._numbers('tool', part.pose),
            'tool_twist': part.twist,
            'target_pose': self._numbers('target', target),
            'gripper': [part.gripper],
        }
        values |= {f'{name}_pose': self._numbers(name, pose) for name, pose in state.objects.items()}
        observation: ObservationDict = {
            key: np.clip(np.asarray(value, np.float32), *self._bounds[key]) for key, value in values.items()
        }
        for name in self._cameras:
            observation[f'{name}_picture'] = np.ascontiguousarray(self._plant.capture(name))
        return observation

    def _numbers(self, name: str, pose: Pose) -> Vector:
        before = self._rotations.get(name)
        # At first the sign with which the largest part is positive.
        reference = pose.quat_xyzw * np.sign(pose.quat_xyzw[np.argmax(np.abs(pose.quat_xyzw))])
        rotation = continuous(pose.quat_xyzw, reference if before is None else before)
        self._rotations[name] = rotation
        return np.concatenate([pose.position, rotation])
