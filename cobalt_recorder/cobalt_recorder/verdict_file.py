"""The files that lie beside a bag: verdict.json, and label.json once somebody has labelled the episode."""

import json
import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from cobalt_recorder.metrics.catalogue import SUBJECTS
from cobalt_recorder.quality_rules import VERDICTS, JudgedMetric, Verdict
from cobalt_recorder.rosbag2_metadata import write_atomically

VERDICT_FILE = 'verdict.json'
LABEL_FILE = 'label.json'

_NUMBERS = ('value', 'lower', 'upper')


@dataclass(frozen=True, kw_only=True)
class RecordedEpisode:
    """An episode whose bag is closed, as its recorder knows it.

    Attributes:
        folder: Of the bag.
        workcell_id: Where it was recorded.
        episode_id: ULID.
        task: Its name.
        outcome: Name of EpisodeState.OUTCOME_*.
        outcome_source: Name of EpisodeState.OUTCOME_SOURCE_*.
        fault: What went wrong while it was recorded, in words; empty if nothing did.
    """

    folder: Path
    workcell_id: str
    episode_id: str
    task: str
    outcome: str
    outcome_source: str
    fault: str = ''


@dataclass(frozen=True, kw_only=True)
class EpisodeVerdict:
    """A verdict, and the episode it is of.

    Attributes:
        workcell_id: Where it was recorded.
        episode_id: ULID.
        task: Its name.
        outcome: Name of EpisodeState.OUTCOME_*, of the label if there is one.
        outcome_source: Name of EpisodeState.OUTCOME_SOURCE_*.
        bag_uri: Folder of the bag.
        rules_hash: Of the rules that judged.
        operator_id: Who drove; empty if nobody knows.
        metrics_version: What its metrics mean: catalogue.VERSION of the software that computed them.
        faults: In words, what alone makes the data unusable.
        note: Why the episode ended as it did, in words.
        judged: What the rules say.
    """

    workcell_id: str
    episode_id: str
    task: str
    outcome: str
    outcome_source: str
    bag_uri: str
    rules_hash: str
    operator_id: str = ''
    metrics_version: int = 0
    faults: tuple[str, ...] = ()
    note: str = ''
    judged: Verdict

    def as_json(self) -> dict[str, Any]:
        """Returns what verdict.json holds; null stands for not a number."""
        content: dict[str, Any] = asdict(self)
        judged: dict[str, Any] = content.pop('judged')
        for metric in judged['metrics']:
            for name in _NUMBERS:
                metric[name] = metric[name] if math.isfinite(metric[name]) else None
        return {**content, **judged}

    def write(self, folder: Path) -> None:
        """Writes verdict.json."""
        write_atomically(folder / VERDICT_FILE, json.dumps(self.as_json(), indent=1) + '\n')


def verdict_without_bag(episode: RecordedEpisode, verdict: str, *reasons: str) -> EpisodeVerdict:
    """Returns the verdict of an episode whose bag could not be judged.

    Args:
        episode: The episode.
        verdict: One of VERDICTS.
        reasons: In words.
    """
    return EpisodeVerdict(
        workcell_id=episode.workcell_id,
        episode_id=episode.episode_id,
        task=episode.task,
        outcome=episode.outcome,
        outcome_source=episode.outcome_source,
        bag_uri=str(episode.folder),
        rules_hash='',
        judged=Verdict(verdict, tuple(reason for reason in reasons if reason), '', ()),
    )


def _read_metric(content: dict[str, Any]) -> JudgedMetric:
    numbers = {name: math.nan if content[name] is None else float(content[name]) for name in _NUMBERS}
    return JudgedMetric(**{**content, **numbers})


def read_verdict(folder: Path) -> EpisodeVerdict | None:
    """Returns the verdict that lies beside a bag; None if there is none that can be read."""
    try:
        content = json.loads((folder / VERDICT_FILE).read_text(encoding='utf-8'))
        metrics = tuple(_read_metric(metric) for metric in content.pop('metrics'))
        judged = Verdict(content.pop('verdict'), tuple(content.pop('reasons')), content.pop('tip'), metrics)
        verdict = EpisodeVerdict(**{**content, 'faults': tuple(content.get('faults', ()))}, judged=judged)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return verdict if _is_sound(verdict) else None


def _is_sound(verdict: EpisodeVerdict) -> bool:
    """Tells whether a verdict from a file holds texts where texts belong: anybody may have written it."""
    judged = verdict.judged
    texts = [getattr(verdict, one.name) for one in fields(verdict) if one.type is str]
    texts += [*verdict.faults, *judged.reasons, judged.tip]
    texts += [text for metric in judged.metrics for text in (metric.name, metric.part, metric.unit, metric.reason)]
    sound = all(isinstance(text, str) for text in texts) and judged.verdict in VERDICTS
    return sound and all(metric.subject in SUBJECTS for metric in judged.metrics)


@dataclass(frozen=True, kw_only=True)
class Label:
    """What somebody called an episode after it had ended.

    Attributes:
        outcome: Name of EpisodeState.OUTCOME_*.
        outcome_source: Name of EpisodeState.OUTCOME_SOURCE_*.
        note: In words.
        labelled_ns: When [ns].
    """

    outcome: str
    outcome_source: str
    note: str
    labelled_ns: int

    def write(self, folder: Path) -> None:
        """Writes label.json."""
        write_atomically(folder / LABEL_FILE, json.dumps(asdict(self), indent=1) + '\n')


def read_label(folder: Path) -> Label | None:
    """Returns the label that lies beside a bag; None if there is none that can be read."""
    try:
        return Label(**json.loads((folder / LABEL_FILE).read_text(encoding='utf-8')))
    except (OSError, ValueError, TypeError, RecursionError):
        return None
