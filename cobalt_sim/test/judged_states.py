"""States that last, as a task's judge sees them."""

from collections.abc import Iterable, Mapping

import numpy as np

from cobalt_sim.tasks.task import Judge, SceneState
from cobalt_teleop.core.pose import Pose
from cobalt_teleop.workcell_host.plant import Progress


def judged(
    judge: Judge,
    objects: Mapping[str, Pose],
    seconds: float = 1.0,
    *,
    held: Iterable[str] = (),
    touched: Iterable[str] = (),
    tool: tuple[float, float, float] = (0.5, 0.0, 0.3),
    held_by: Mapping[str, str] | None = None,
) -> Progress:
    """Returns the last progress of a state that lasts; `held_by` tells of two arms what each holds."""
    by_part = {part: frozenset([name] if name else []) for part, name in (held_by or {}).items()}
    held = frozenset(held).union(*by_part.values())
    progress = Progress()
    for tick in range(round(seconds / 0.05) + 1):
        progress = judge.judge(
            SceneState(
                time=tick * 0.05,
                tool=Pose(np.array(tool, dtype=float)),
                gripper=1.0,
                objects=objects,
                held=held,
                touched=frozenset(touched) | held,
                tools=dict.fromkeys(by_part, Pose(np.array(tool, dtype=float))),
                held_by=by_part,
            )
        )
    return progress
