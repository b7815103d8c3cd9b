"""What can be chosen of an environment."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from cobalt_sim.domain import DomainSpread
from cobalt_teleop.core.errors import CobaltError


@dataclass(frozen=True, kw_only=True)
class EnvOptions:
    """Choices of an environment.

    Attributes:
        task: Name of a task.
        robot: A name in robots/, or the path of a robot.yaml or arms.yaml; empty for as many Pandas as the task asks.
        actions: delta: a share of the tool's largest motion in a tick; absolute: its pose in the base frame.
        cameras: Whose pictures are in the observations.
        width: Of pictures [px].
        height: Likewise.
        profile: fast or nice pictures.
        control_rate_hz: Steps a second of simulated time [Hz].
        time_limit_s: After which an episode is truncated; None for the task's own, 0 for never [s].
        randomise: How much differs from episode to episode; a mapping of DomainSpread's names will do.
        render_mode: rgb_array if `render` shall return pictures of the front camera.
    """

    task: str
    robot: str = ''
    actions: Literal['delta', 'absolute'] = 'delta'
    cameras: tuple[str, ...] = ()
    width: int = 128
    height: int = 96
    profile: str = 'fast'
    control_rate_hz: float = 20.0
    time_limit_s: float | None = None
    randomise: DomainSpread = field(default_factory=DomainSpread)
    render_mode: Literal['rgb_array'] | None = None

    @classmethod
    def of(cls, task: str, choices: dict[str, Any]) -> 'EnvOptions':
        """Returns the options of a task with some choices by name.

        Raises:
            CobaltError: A name is unknown, or a value is not valid.
        """
        known = [one.name for one in fields(cls) if one.name != 'task']
        for name in choices:
            if name not in known:
                raise CobaltError(f"an environment has no option '{name}'; valid are {', '.join(known)}")
        if isinstance(cameras := choices.get('cameras'), str):
            raise CobaltError(f"the option 'cameras' is a tuple of names, such as ('{cameras}',)")
        options = cls(task=task, **{**choices, 'randomise': _spread(choices.get('randomise', {}))})
        for name, valid in (('actions', ('delta', 'absolute')), ('render_mode', (None, 'rgb_array'))):
            value = getattr(options, name)
            if value not in valid:
                raise CobaltError(f"the option '{name}' is {value}, but must be one of {', '.join(map(str, valid))}")
        if not 5.0 <= options.control_rate_hz <= 100.0:
            raise CobaltError(f"the option 'control_rate_hz' is {options.control_rate_hz:g}, but must be in 5 to 100")
        return options


def _spread(given: DomainSpread | Mapping[str, float]) -> DomainSpread:
    if isinstance(given, DomainSpread):
        return given
    known = [one.name for one in fields(DomainSpread)]
    if not isinstance(given, Mapping) or (unknown := sorted(set(given) - set(known))):
        wrong = f"'{unknown[0]}'" if isinstance(given, Mapping) else repr(given)
        raise CobaltError(f"the option 'randomise' has no {wrong}; it is a mapping of some of {', '.join(known)}")
    return DomainSpread(**given)
