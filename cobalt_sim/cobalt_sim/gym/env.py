"""One workcell as a gymnasium environment."""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box

from cobalt_sim.gym.actions import AbsoluteActions, Action, ActionMap, DeltaActions, checked, on_leash
from cobalt_sim.gym.observations import ObservationDict, ObservationMap
from cobalt_sim.gym.options import EnvOptions
from cobalt_sim.in_process import GuardedPlant
from cobalt_sim.mujoco_plant import MujocoPlant
from cobalt_sim.render_profile import load_profile
from cobalt_sim.scene import FRONT, camera_models
from cobalt_sim.sim_world import SimWorld
from cobalt_sim.tasks import load_task
from cobalt_sim.tasks.task import ONE_ARM
from cobalt_teleop.core.pose import Pose
from cobalt_teleop.kinematics.arm_set import ArmSet, load_arms
from cobalt_teleop.workcell_host.plant import CameraModel

_USUAL_ARMS = {True: 'franka_panda', False: 'two_pandas'}
"""Of a task for one arm, and of one for two."""


def make_world(options: EnvOptions) -> SimWorld:
    """Returns the world of one or many environments.

    Raises:
        CobaltError: Task, robot, profile or camera do not exist, the task is for other arms, or no OpenGL works.
    """
    task = load_task(options.task)
    arms = load_arms(options.robot or _USUAL_ARMS[task.parts == ONE_ARM])
    shown = (FRONT,) if options.render_mode else ()
    return SimWorld(
        arms,
        task,
        _cameras(options, arms, (*options.cameras, *shown)),
        load_profile(options.profile),
        tick_s=1.0 / options.control_rate_hz,
        domain=options.randomise,
    )


def _cameras(options: EnvOptions, arms: ArmSet, names: Sequence[str]) -> tuple[CameraModel, ...]:
    return camera_models(
        arms,
        tuple(dict.fromkeys(names)),
        width=options.width,
        height=options.height,
        rate_hz=options.control_rate_hz,
    )


class WorkcellEnv(gymnasium.Env[ObservationDict, Action]):
    """What an operator drives, without ROS: the same scene, guard, arm and predicate.

    The reward is the task's stage, 0 to 1. An episode is terminated by success, and truncated by the time limit or
    where the simulation becomes unstable (`info['fault']` says so).

    Args:
        options: What was chosen.
        world: To share with other environments; None for one of its own.
    """

    metadata = {'render_modes': ['rgb_array'], 'render_fps': 20}  # noqa: RUF012 - as gymnasium declares it.

    def __init__(self, options: EnvOptions, world: SimWorld | None = None) -> None:
        self._world = world or make_world(options)
        self.render_mode = options.render_mode
        self.metadata = {**self.metadata, 'render_fps': round(options.control_rate_hz)}
        plant = MujocoPlant(self._world)
        limit_s = self._world.task.info.time_limit_s if options.time_limit_s is None else options.time_limit_s
        self._time_limit_s = limit_s or np.inf
        self._guarded = GuardedPlant(plant, period_s=self._world.tick_s)
        self._actions: dict[str, ActionMap] = {
            part.name: DeltaActions(part.limits, self._world.tick_s)
            if options.actions == 'delta'
            else AbsoluteActions(part.limits)
            for part in plant.capabilities.parts
        }
        seen = _cameras(options, self._world.arms, options.cameras)
        self._observations = ObservationMap(plant, [camera.name for camera in seen])
        self._asked: dict[str, Pose] = {}
        self._seed = 0
        spaces = [actions.space for actions in self._actions.values()]
        self._space = self.action_space = Box(
            np.concatenate([space.low for space in spaces]),
            np.concatenate([space.high for space in spaces]),
            dtype=np.float32,
        )
        self.observation_space = self._observations.space

    @property
    def plant(self) -> MujocoPlant:
        """The workcell: the true state, for experts and evaluations."""
        return self._guarded.plant

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ObservationDict, dict[str, Any]]:
        """Begins an episode.

        Args:
            seed: Of the start state, the same as an operator's episode of that seed has; None for the next of the
                generator that the last seed began.
            options: Not used.
        """
        super().reset(seed=seed)
        self._seed = int(self.np_random.integers(2**31)) if seed is None else seed
        self._guarded.reset(self._seed)
        self._guarded.engage_policy()
        self._asked = self._targets()
        self._observations.restart()
        return self._observations.observe(self._targets()), self._info()

    def _targets(self) -> dict[str, Pose]:
        return {name: part.target for name, part in self._guarded.parts.items()}

    def step(self, action: Action) -> tuple[ObservationDict, float, bool, bool, dict[str, Any]]:
        """Lives through one tick.

        Raises:
            CobaltError: The action has another shape, or a number that is not finite.
        """
        numbers, targets = checked(action, self._space), self._targets()
        grippers = []
        for name, actions in self._actions.items():
            own, numbers = np.split(numbers, actions.space.shape)
            wanted, gripper = actions.wanted(own, self._asked[name])
            self._asked[name] = on_leash(wanted, targets[name])
            grippers.append(gripper)
        self._guarded.follow(*zip(self._asked.values(), grippers, strict=True))
        state, progress = self.plant.observe(), self.plant.progress()
        # Half a millisecond of slack: times are sums of time steps.
        over = state.sim_time >= self._time_limit_s - 5e-4
        truncated = bool(state.faults) or (over and not progress.success)
        observation = self._observations.observe(self._targets())
        return observation, float(progress.stage), bool(progress.success), truncated, self._info()

    def _info(self) -> dict[str, Any]:
        state, progress = self.plant.observe(), self.plant.progress()
        info = {
            'success': bool(progress.success),
            'stage': float(progress.stage),
            'limits': int(self._guarded.limits),
            'sim_time': state.sim_time,
            'episode_seed': self._seed,
        }
        return info | ({'fault': state.faults[0]} if state.faults else {})

    def render(self) -> Any:
        """Returns a picture of the front camera, (height, width, 3) RGB, or None without a render mode."""
        return np.ascontiguousarray(self.plant.capture(FRONT)) if self.render_mode else None

    def close(self) -> None:
        """Frees the calling thread's drawing context."""
        self._world.close_thread()
