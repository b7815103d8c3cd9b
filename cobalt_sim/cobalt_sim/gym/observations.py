"""From a plant's state to what a policy observes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict

from cobalt_sim.mujoco_plant import MujocoPlant
from cobalt_teleop.core.pose import Pose, Vector, continuous

ObservationDict = dict[str, Any]

_FARTHEST_M = 5.0
_FASTEST = 20.0


class ObservationMap:
    """Observes one plant: proprioception, poses of the objects, and pictures.

    Poses are positions [m] and quaternions xyzw, whose signs do not jump within an episode: of a tool in the base frame
    of its arm, of objects in that of the first arm. Of several arms, each has its name in front: `left_tool_pose`.

    Args:
        plant: What it looks at.
        cameras: Whose pictures are observed.
    """

    def __init__(self, plant: MujocoPlant, cameras: Sequence[str]) -> None:
        self._plant = plant
        self._cameras = tuple(cameras)
        self._rotations: dict[str, Vector] = {}
        pose = (np.array([-_FARTHEST_M] * 3 + [-1.0] * 4), np.array([_FARTHEST_M] * 3 + [1.0] * 4))
        bounds: dict[str, tuple[Any, Any]] = {}
        parts = plant.capabilities.parts
        self._prefixes = {part.name: f'{part.name}_' if len(parts) > 1 else '' for part in parts}
        for part in parts:
            joints, prefix = len(part.joint_names), self._prefixes[part.name]
            bounds |= {
                f'{prefix}joint_positions': (np.full(joints, -2.0 * np.pi), np.full(joints, 2.0 * np.pi)),
                f'{prefix}joint_velocities': (np.full(joints, -_FASTEST), np.full(joints, _FASTEST)),
                f'{prefix}tool_pose': pose,
                f'{prefix}tool_twist': (np.full(6, -_FASTEST), np.full(6, _FASTEST)),
                f'{prefix}target_pose': pose,
                f'{prefix}gripper': (np.zeros(1), np.ones(1)),
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

    def observe(self, targets: Mapping[str, Pose]) -> ObservationDict:
        """Returns a fresh observation of the present state.

        Args:
            targets: Accepted target of each arm's tool in its base frame.
        """
        state = self._plant.observe()
        values: dict[str, Any] = {}
        for name, prefix in self._prefixes.items():
            part = state.parts[name]
            values |= {
                f'{prefix}joint_positions': part.joint_positions,
                f'{prefix}joint_velocities': part.joint_velocities,
                f'{prefix}tool_pose': self._numbers(f'{prefix}tool', part.pose),
                f'{prefix}tool_twist': part.twist,
                f'{prefix}target_pose': self._numbers(f'{prefix}target', targets[name]),
                f'{prefix}gripper': [part.gripper],
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
