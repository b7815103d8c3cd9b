"""Many workcells of one world as a gymnasium vector environment, stepped by threads."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, TypeVar, cast

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array
from numpy.typing import NDArray

from cobalt_sim.gym.actions import Action
from cobalt_sim.gym.env import WorkcellEnv, make_world
from cobalt_sim.gym.observations import ObservationDict
from cobalt_sim.gym.options import EnvOptions
from cobalt_teleop.core.errors import CobaltError

_Result = TypeVar('_Result')
_Numbers = NDArray[Any]
_Step = tuple[ObservationDict, float, bool, bool, dict[str, Any]]


class WorkcellVectorEnv(VectorEnv[ObservationDict, Action, _Numbers]):
    """Workcells that share one model. Each thread keeps its own workcells and its own drawing context.

    Args:
        options: Of each environment.
        num_envs: How many.
        threads: That step them; 0 for one a core.
        autoreset_mode: gymnasium's: what happens after an episode has ended.
    """

    def __init__(
        self,
        options: EnvOptions,
        num_envs: int,
        *,
        threads: int = 0,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    ) -> None:
        if num_envs < 1:
            raise CobaltError(f'num_envs is {num_envs}, but must be at least 1')
        self.num_envs = num_envs
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self._world = make_world(options)
        self._envs = [WorkcellEnv(options, self._world) for _ in range(num_envs)]
        first = self._envs[0]
        self.metadata = {**first.metadata, 'autoreset_mode': self.autoreset_mode}
        self.render_mode = first.render_mode
        self.single_observation_space = first.observation_space
        self.single_action_space = first.action_space
        self.observation_space = batch_space(first.observation_space, num_envs)
        self.action_space = batch_space(first.action_space, num_envs)
        used = min(num_envs, threads or os.cpu_count() or 1)
        self._batches = [range(first, num_envs, used) for first in range(used)]
        # One pool a batch, so that a workcell is always drawn in the same thread.
        self._pools = [ThreadPoolExecutor(1, f'workcells_{index}') for index in range(len(self._batches))]
        self._over = np.zeros(num_envs, dtype=np.bool_)
        self._seen: list[ObservationDict] = [{} for _ in range(num_envs)]

    @property
    def envs(self) -> Sequence[WorkcellEnv]:
        """The single environments: for experts and evaluations."""
        return self._envs

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ObservationDict, dict[str, Any]]:
        """Begins episodes.

        Args:
            seed: Of the first environment, the next has seed + 1 and so on; or one for each.
            options: `reset_mask`, (num_envs,) booleans: the environments that are reset; the others stay as they are.

        Raises:
            CobaltError: There are not as many seeds or booleans as environments.
        """
        seeds = [seed + index for index in range(self.num_envs)] if isinstance(seed, int) else seed
        seeds = [None] * self.num_envs if seeds is None else list(seeds)
        mask = np.asarray((options or {}).get('reset_mask', np.ones(self.num_envs, np.bool_)))
        for name, size in (('seed', len(seeds)), ('reset_mask', len(mask))):
            if size != self.num_envs:
                raise CobaltError(f"'{name}' has {size} values, but there are {self.num_envs} environments")
        results = self._each(
            lambda index: self._envs[index].reset(seed=seeds[index]) if mask[index] else (self._seen[index], {})
        )
        self._over[mask] = False
        infos: dict[str, Any] = {}
        for index, (_, info) in enumerate(results):
            infos = self._add_info(infos, info, index)
        return self._batched([observation for observation, _ in results]), infos

    def step(self, actions: Action) -> tuple[ObservationDict, _Numbers, _Numbers, _Numbers, dict[str, Any]]:
        """Lives through one tick of each environment.

        Raises:
            CobaltError: An action is not valid, or an episode that is over goes on although autoreset is disabled.
        """
        if len(actions) != self.num_envs:
            raise CobaltError(f'there are {len(actions)} actions, but {self.num_envs} environments')
        if self.autoreset_mode is AutoresetMode.DISABLED and self._over.any():
            over = np.flatnonzero(self._over).tolist()
            raise CobaltError(f"the episodes of {over} are over: reset them with the option 'reset_mask'")
        results = self._each(lambda index: self._step_one(index, actions[index]))
        infos: dict[str, Any] = {}
        for index, (_, _, _, _, info) in enumerate(results):
            infos = self._add_info(infos, info, index)
        terminated = np.array([result[2] for result in results], np.bool_)
        truncated = np.array([result[3] for result in results], np.bool_)
        self._over = terminated | truncated
        rewards = np.array([result[1] for result in results], np.float64)
        return self._batched([result[0] for result in results]), rewards, terminated, truncated, infos

    def _step_one(self, index: int, action: Action) -> _Step:
        env = self._envs[index]
        if self._over[index] and self.autoreset_mode is AutoresetMode.NEXT_STEP:
            observation, info = env.reset()
            return observation, 0.0, False, False, info
        result = env.step(action)
        final, reward, terminated, truncated, final_info = result
        if not (terminated or truncated) or self.autoreset_mode is not AutoresetMode.SAME_STEP:
            return result
        observation, info = env.reset()
        return observation, reward, terminated, truncated, {'final_obs': final, 'final_info': final_info, **info}

    def render(self) -> tuple[Any, ...] | None:
        """Returns a picture of each front camera, or None without a render mode."""
        return tuple(self._each(lambda index: self._envs[index].render())) if self.render_mode else None

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the threads and frees their drawing contexts."""
        for pool in self._pools:
            pool.submit(self._world.close_thread)
            pool.shutdown()

    def _each(self, work: Callable[[int], _Result]) -> list[_Result]:
        """Does some work for each environment in its thread; returns the results in order."""
        results: list[Any] = [None] * self.num_envs

        def do(numbers: range) -> None:
            for index in numbers:
                results[index] = work(index)

        futures = [pool.submit(do, numbers) for pool, numbers in zip(self._pools, self._batches, strict=True)]
        wait(futures)
        for future in futures:
            future.result()
        return results

    def _batched(self, observations: list[ObservationDict]) -> ObservationDict:
        self._seen = observations
        empty = cast(ObservationDict, create_empty_array(self.single_observation_space, self.num_envs))
        return cast(ObservationDict, concatenate(self.single_observation_space, observations, empty))
