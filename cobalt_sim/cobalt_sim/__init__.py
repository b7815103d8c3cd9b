"""Simulated workcells: scenes, tasks, rendering, the node that hosts them, and their gymnasium face."""

from typing import TYPE_CHECKING, Any

from cobalt_teleop.core.errors import CobaltError

if TYPE_CHECKING:
    from cobalt_sim.gym import WorkcellVectorEnv


def make_vec(task: str, num_envs: int = 1, **choices: Any) -> 'WorkcellVectorEnv':
    """Returns workcells as a gymnasium vector environment: `cobalt_sim.gym.make_vec`.

    Raises:
        CobaltError: gymnasium is not installed, or a choice is not valid.
    """
    try:
        from cobalt_sim import gym
    except ModuleNotFoundError as error:
        if error.name != 'gymnasium':
            raise
        raise CobaltError("make_vec needs gymnasium: type pip install 'gymnasium>=1.4,<2'") from error
    return gym.make_vec(task, num_envs, **choices)
