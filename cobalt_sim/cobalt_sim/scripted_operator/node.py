"""`scripted_operator`: drives simulated workcells by scripted experts through ROS commands alone."""

import sys
import uuid
from dataclasses import dataclass

from rclpy.node import Node

from cobalt_interfaces.msg import EpisodeState, WorkcellInfo
from cobalt_sim.scripted_operator.driver import SOURCE, DriverPlan, DriverState, Link, ScriptedDriver
from cobalt_sim.scripted_operator.habits import Habits
from cobalt_teleop.core.errors import CobaltError
from cobalt_teleop.core.parameter_table import parameter
from cobalt_teleop.ros.parameters import read_parameters
from cobalt_teleop.ros.process import Stop, run_node
from cobalt_teleop.ros.workcells import WorkcellWatch

_SUMMARY = """\
Solves the task of simulated workcells by its scripted expert, through ROS commands alone, and sums up.

By its habits it may be made a bad operator: slow, shaky, hesitant, on a late link, or one who fails.
"""

_PERIOD_S = 0.05


@dataclass(frozen=True, kw_only=True)
class ScriptedOperatorParameters:
    """Parameters of scripted_operator."""

    workcells: tuple[str, ...] = parameter((), 'Workcells to drive, as names or patterns; empty for all')
    num_workcells: int = parameter(1, 'Workcells to wait for before the end may come', lower=1, upper=64)
    episodes: int = parameter(1, 'Episodes of each workcell; 0 to drive without episodes', lower=0, upper=1000000)
    seed: int = parameter(1, 'Seed of the first episode; each next one has the next', lower=1, upper=2**31 - 1)
    require_recording: bool = parameter(False, 'Refuse to run an episode that cannot be recorded')
    operator: str = parameter(SOURCE, 'Name shown to others, and kept in recordings')
    slowness: int = parameter(1, 'How many times slower than it can', lower=1, upper=20)
    tremor_mm: float = parameter(0.0, 'Standard deviation of the shaking of its hand [mm]', lower=0.0, upper=50.0)
    tremor_hz: float = parameter(5.0, 'Frequency of that [Hz]', lower=0.1, upper=10.0)
    pause_every_s: float = parameter(0.0, 'Mean time from one pause to the next; 0 for none [s]', lower=0.0, upper=60.0)
    pause_s: float = parameter(1.5, 'Length of a pause [s]', lower=0.0, upper=60.0)
    grasps: bool = parameter(True, 'Closes its gripper')
    gives_up_s: float = parameter(
        0.0, 'Ends an episode as a failure after so long; 0 for never [s]', lower=0.0, upper=600.0
    )
    delay_ms: float = parameter(0.0, 'Its commands arrive so late [ms]', lower=0.0, upper=5000.0)
    jitter_ms: float = parameter(0.0, 'And by up to so much later [ms]', lower=0.0, upper=5000.0)
    picture_every_s: float = parameter(
        0.0, 'It sees a new picture so often; 0 tells the host nothing of pictures [s]', lower=0.0, upper=60.0
    )
    wait_s: float = parameter(30.0, 'How long to wait for the workcells [s]', lower=0.0, upper=3600.0)

    def habits(self) -> Habits:
        """Returns how it drives."""
        return Habits(
            slowness=self.slowness,
            tremor_m=self.tremor_mm * 1e-3,
            tremor_hz=self.tremor_hz,
            pause_every_s=self.pause_every_s,
            pause_s=self.pause_s,
            grasps=self.grasps,
            gives_up_s=self.gives_up_s,
        )

    def link(self) -> Link:
        """Returns what stands between it and the host."""
        return Link(delay_s=self.delay_ms * 1e-3, jitter_s=self.jitter_ms * 1e-3, picture_every_s=self.picture_every_s)


class ScriptedOperatorNode(Node):
    """One driver for each workcell, all ticked by one timer.

    Args:
        stop: Told when all episodes are over.
    """

    def __init__(self, stop: Stop) -> None:
        super().__init__('scripted_operator')
        self._parameters = read_parameters(self, ScriptedOperatorParameters)
        self._stop = stop
        self._session_id = f'scripted-{uuid.uuid4()}'
        self._drivers: dict[str, ScriptedDriver] = {}
        self._waited_s = 0.0
        self._watch = WorkcellWatch(self, self._on_workcell, self._parameters.workcells, period_s=0.25)
        self._timer = self.create_timer(_PERIOD_S, self._tick)

    def _on_workcell(self, info: WorkcellInfo) -> None:
        if info.workcell_id in self._drivers:
            return
        parameters = self._parameters
        plan = DriverPlan(
            episodes=parameters.episodes,
            first_seed=parameters.seed,
            require_recording=parameters.require_recording,
            session_id=self._session_id,
            period_s=_PERIOD_S,
            operator_id=parameters.operator,
            habits=parameters.habits(),
            link=parameters.link(),
        )
        try:
            self._drivers[info.workcell_id] = ScriptedDriver(self, info, plan)
        except CobaltError as error:
            self._stop.request(f'{info.workcell_id}: {error}', exit_code=1)

    def _tick(self) -> None:
        for driver in self._drivers.values():
            driver.tick()
        if len(self._drivers) < self._parameters.num_workcells:
            self._waited_s += _PERIOD_S
            if self._waited_s > self._parameters.wait_s:
                found = f'{len(self._drivers)} of {self._parameters.num_workcells} workcells appeared'
                self._stop.request(f'{found} within {self._parameters.wait_s:.0f} s: is a host running?', exit_code=1)
        elif all(driver.over for driver in self._drivers.values()):
            self._sum_up()

    def _sum_up(self) -> None:
        outcomes = [outcome for driver in self._drivers.values() for outcome in driver.outcomes]
        lifted = outcomes.count(EpisodeState.OUTCOME_SUCCESS)
        print(f'{lifted} of {len(outcomes)} episodes succeeded in {len(self._drivers)} workcells', flush=True)
        problems = [
            f'{driver.workcell_id}: {driver.problem}'
            for driver in self._drivers.values()
            if driver.state is DriverState.FAILED
        ]
        failed = bool(problems) or lifted < len(outcomes)
        self._stop.request('; '.join(problems), exit_code=int(failed))


def main() -> int:
    """Entry point of `scripted_operator`."""
    return run_node('scripted_operator', _SUMMARY, ScriptedOperatorParameters, ScriptedOperatorNode)


if __name__ == '__main__':
    sys.exit(main())
