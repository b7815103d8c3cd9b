"""One workcell as a gymnasium environment."""

from typing import Any

import gymnasium
import numpy as np

from cobalt_sim.gym.actions import AbsoluteActions, Action, ActionMap, DeltaActions, checked, on_leash
from cobalt_sim.gym.observations import ObservationDict, ObservationMap
from cobalt_sim.gym.options import EnvOptions
from cobalt_sim.in_process import GuardedPlant
from cobalt_sim.mujoco_plant import PART, MujocoPlant
from cobalt_sim.render_profile import load_profile
from cobalt_sim.scene import FRONT, camera_model
from cobalt_sim.sim_world import SimWorld
from cobalt_sim.tasks import load_task
from cobalt_sim.tasks.task import ONE_ARM
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.pose import Pose
from cobalt_teleop.kinematics.robot_description import load_robot


def make_world(options: EnvOptions) -> SimWorld:
    """Returns the world of one or many environments.

    Raises:
        CobaltError: Task, robot, profile or camera do not exist, the task is for two arms, or no OpenGL works.
    """
    task, robot = load_task(options.task), load_robot(options.robot)
    if task.parts != ONE_ARM:
        raise CobaltError(f"gymnasium environments have one arm, but the task '{options.task}' is for two")
    shown = (FRONT,) if options.render_mode else ()
    cameras = [
        camera_model(robot, PART, name, width=options.width, height=options.height, rate_hz=options.control_rate_hz)
        for name in dict.fromkeys((*options.cameras, *shown))
    ]
    return SimWorld(
        robot,
        task,
        cameras,
        load_profile(options.profile),
        tick_s=1.0 / options.control_rate_hz,
        domain=options.randomise,
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
        limits = plant.capabilities.parts[0].limits
        limit_s = self._world.task.info.time_limit_s if options.time_limit_s is None else options.time_limit_s
        self._time_limit_s = limit_s or np.inf
        self._guarded = GuardedPlant(plant, period_s=self._world.tick_s)
        self._actions: ActionMap = (
            DeltaActions(limits, self._world.tick_s) if options.actions == 'delta' else AbsoluteActions(limits)
        )
        self._observations = ObservationMap(plant, options.cameras)
        self._asked = Pose()
        self._seed = 0
        self.action_space = self._actions.space
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
        self._asked = self._guarded.target
        self._observations.restart()
        return self._observations.observe(self._guarded.target), self._info()

    def step(self, action: Action) -> tuple[ObservationDict, float, bool, bool, dict[str, Any]]:
        """Lives through one tick.

        Raises:
            CobaltError: The action has another shape, or a number that is not finite.
        """
        wanted, gripper = self._actions.wanted(checked(action, self._actions.space), self._asked)
        self._asked = on_leash(wanted, self._guarded.target)
        self._guarded.follow(self._asked, gripper)
        state, progress = self.plant.observe(), self.plant.progress()
        # Half a millisecond of slack: times are sums of time steps.
        over = state.sim_time >= self._time_limit_s - 5e-4
        truncated = bool(state.faults) or (over and not progress.success)
        observation = self._observations.observe(self._guarded.target)
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
