"""Which episodes of a data set are meant: by verdict, outcome, task, operator, time, and metrics."""

import argparse
import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from cobalt_recorder.dataset_index import DatasetIndex, IndexedEpisode
from cobalt_recorder.metrics.catalogue import metric_names
from cobalt_recorder.quality_rules import VERDICTS
from cobalt_teleop.core.episode import Outcome
from cobalt_teleop.core.errors import CobaltError

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    '<=': operator.le,
    '>=': operator.ge,
    '<': operator.lt,
    '>': operator.gt,
}
_METRIC = re.compile(r'(?P<name>[\w/.-]+?)(?:@(?P<part>\w+))?\s*(?P<sign><=|>=|<|>)\s*(?P<bound>[-+\w.]+)')


@dataclass(frozen=True)
class MetricBound:
    """A metric's bound, such as `robot_path_length<1.5` or, of one arm, `robot_path_length@left<1.5`."""

    name: str
    part: str
    sign: str
    bound: float

    def holds(self, metrics: dict[tuple[str, str], float]) -> bool:
        """Tells whether every part that has the metric keeps the bound, and one has it."""
        values = [value for (name, part), value in metrics.items() if name == self.name and self.part in ('', part)]
        return bool(values) and all(_COMPARE[self.sign](value, self.bound) for value in values)


def metric_bound(text: str) -> MetricBound:
    """Returns what a text such as `robot_sparc>-2.5` means.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    found = _METRIC.fullmatch(text.strip())
    try:
        bound = float(found['bound']) if found else math.nan
    except ValueError:
        bound = math.nan
    if found is None or not math.isfinite(bound):
        raise argparse.ArgumentTypeError(f"{text} is no bound such as 'robot_path_length<1.5'")
    name = found['name']
    if name.split('/')[0] not in {metric.split('/')[0] for metric in metric_names()}:
        raise argparse.ArgumentTypeError(f'there is no metric {name}: docs/quality.md names them all')
    return MetricBound(name, found['part'] or '', found['sign'], bound)


def _day(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f'{text} is no date such as 2026-12-01') from error
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1e9)


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Which episodes are meant; an empty field means all.

    Attributes:
        verdicts: Some of VERDICTS.
        outcomes: Names of EpisodeState.OUTCOME_*.
        tasks: Their names.
        operators: Their ids.
        since_ns: Began at this time or later [ns].
        before_ns: Began before this time [ns].
        bounds: Of metrics; all must hold.
    """

    verdicts: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()
    since_ns: int = 0
    before_ns: int = 0
    bounds: tuple[MetricBound, ...] = ()

    @property
    def is_everything(self) -> bool:
        """No choice was made."""
        return self == Selection()

    def of(self, index: DatasetIndex) -> list[IndexedEpisode]:
        """Returns the episodes that are meant, in the order of time."""
        return [episode for episode in index.episodes() if self._fits(episode, index)]

    def _fits(self, episode: IndexedEpisode, index: DatasetIndex) -> bool:
        chosen = (
            (self.verdicts, episode.verdict),
            (self.outcomes, episode.outcome),
            (self.tasks, episode.task),
            (self.operators, episode.operator_id),
        )
        if any(wanted and value not in wanted for wanted, value in chosen):
            return False
        if episode.started_ns < self.since_ns or (self.before_ns and episode.started_ns >= self.before_ns):
            return False
        if not self.bounds:
            return True
        metrics = index.metrics(episode.path)
        return all(bound.holds(metrics) for bound in self.bounds)


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Adds the options of a selection to a command."""
    outcomes = [outcome.name for outcome in Outcome]
    parser.add_argument('--verdicts', nargs='+', choices=VERDICTS, default=(), help='episodes with these')
    parser.add_argument('--outcomes', nargs='+', choices=outcomes, default=(), help='episodes with these')
    parser.add_argument('--tasks', nargs='+', default=(), metavar='NAME', help='of these tasks')
    parser.add_argument('--operators', nargs='+', default=(), metavar='NAME', help='of these operators')
    parser.add_argument('--since', type=_day, default=0, metavar='DATE', help='began on this day or later (UTC)')
    parser.add_argument('--before', type=_day, default=0, metavar='DATE', help='began before this day (UTC)')
    parser.add_argument(
        '--metric',
        type=metric_bound,
        nargs='+',
        default=(),
        metavar='BOUND',
        help="such as 'robot_path_length<1.5' 'duration<=20'; all must hold, and an episode without the metric is out",
    )


def selection_of(arguments: argparse.Namespace) -> Selection:
    """Returns the selection that a command was given."""
    return Selection(
        verdicts=tuple(arguments.verdicts),
        outcomes=tuple(arguments.outcomes),
        tasks=tuple(arguments.tasks),
        operators=tuple(arguments.operators),
        since_ns=arguments.since,
        before_ns=arguments.before,
        bounds=tuple(arguments.metric),
    )


def require_some(episodes: Sequence[Any]) -> None:
    """Raises CobaltError if nothing was selected."""
    if not episodes:
        raise CobaltError('no episode fits. `cobalt dataset stats` shows what there is.')
