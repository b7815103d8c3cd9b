"""The gymnasium face: policies are trained and evaluated, without ROS, on what operators drive.

Importing it registers each task with gymnasium, as `cobalt/lift-v0` and so on.
"""

from typing import Any

import gymnasium
from gymnasium.vector import AutoresetMode

from cobalt_sim.gym.env import WorkcellEnv
from cobalt_sim.gym.options import EnvOptions
from cobalt_sim.gym.vector_env import WorkcellVectorEnv
from cobalt_sim.tasks import TASKS

__all__ = ['EnvOptions', 'WorkcellEnv', 'WorkcellVectorEnv', 'make', 'make_vec']


def make(task: str, **choices: Any) -> WorkcellEnv:
    """Returns one environment; choices are those of EnvOptions.

    Raises:
        CobaltError: A choice is not valid.
    """
    return WorkcellEnv(EnvOptions.of(task, choices))


def make_vec(
    task: str,
    num_envs: int = 1,
    *,
    threads: int = 0,
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    **choices: Any,
) -> WorkcellVectorEnv:
    """Returns many environments of one task; choices are those of EnvOptions.

    Args:
        task: Name of a task.
        num_envs: How many workcells.
        threads: That step them; 0 for one a core.
        autoreset_mode: gymnasium's: NextStep, SameStep or Disabled.
        choices: By name.

    Raises:
        CobaltError: A choice is not valid.
    """
    return WorkcellVectorEnv(EnvOptions.of(task, choices), num_envs, threads=threads, autoreset_mode=autoreset_mode)


for _task in TASKS:
    gymnasium.register(
        f'cobalt/{_task}-v0',
        entry_point='cobalt_sim.gym:make',
        vector_entry_point='cobalt_sim.gym:make_vec',
        kwargs={'task': _task},
    )
