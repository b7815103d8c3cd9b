"""Turns metrics into a verdict, by rules that are data (config/quality_rules.yaml)."""

import fnmatch
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from cobalt_recorder.quality_metrics import Measurement
from cobalt_teleop.core.errors import CobaltError

VERDICTS = ('UNKNOWN', 'ACCEPT', 'REVIEW', 'REJECT')
"""Names of QualityReport.VERDICT_*, by value: a later one is worse."""


@dataclass(frozen=True)
class Bounds:
    """An interval; infinite where it has no bound."""

    lower: float = -math.inf
    upper: float = math.inf

    def holds(self, value: float) -> bool:
        """Tells whether a value lies inside."""
        return self.lower <= value <= self.upper

    def scaled(self, factor: float) -> 'Bounds':
        """Returns the interval times a positive factor."""
        return Bounds(self.lower * factor, self.upper * factor)


@dataclass(frozen=True)
class MetricRule:
    """What is asked of one metric, or of all whose name matches a pattern."""

    pattern: str
    accept: Bounds
    review: Bounds | None
    relative_to: str
    says: str
    tip: str


@dataclass(frozen=True)
class OutcomeRule:
    """The best verdict that an outcome allows."""

    verdict: str
    says: str
    tip: str


@dataclass(frozen=True)
class QualityRules:
    """All rules, and the hash of the file that holds them."""

    outcomes: Mapping[str, OutcomeRule]
    metrics: Sequence[MetricRule]
    hash: str


@dataclass(frozen=True)
class JudgedMetric:
    """A metric with its bounds; NaN where it has none."""

    name: str
    subject: str
    value: float
    unit: str
    lower: float
    upper: float
    passed: bool


@dataclass(frozen=True)
class Verdict:
    """What the rules say of an episode.

    Attributes:
        verdict: One of VERDICTS.
        reasons: In words; empty if accepted.
        tip: One thing to do better; empty if none.
        metrics: Every one, judged.
    """

    verdict: str
    reasons: tuple[str, ...]
    tip: str
    metrics: tuple[JudgedMetric, ...]


def shipped_rules() -> Path:
    """Returns the file of the rules that come with this package.

    Raises:
        CobaltError: The package is not installed.
    """
    try:
        return Path(get_package_share_directory('cobalt_recorder')) / 'config' / 'quality_rules.yaml'
    except PackageNotFoundError as error:
        raise CobaltError('cobalt_recorder is not installed: build the workspace, and source it') from error


def load_rules(path: Path) -> QualityRules:
    """Reads the rules.

    Raises:
        CobaltError: The file is missing, or says something that isn't a rule.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise CobaltError(f'the quality rules {path} cannot be read: {error.strerror}') from error
    try:
        content = yaml.safe_load(text)
        outcomes = {
            name: OutcomeRule(_verdict(rule['verdict']), rule.get('says', ''), rule.get('tip', ''))
            for name, rule in content['outcomes'].items()
        }
        metrics = [
            MetricRule(
                pattern=pattern,
                accept=Bounds(**rule['accept']),
                review=Bounds(**rule['review']) if 'review' in rule else None,
                relative_to=rule.get('relative_to', ''),
                says=rule['says'],
                tip=rule.get('tip', ''),
            )
            for pattern, rule in content['metrics'].items()
        ]
    except (yaml.YAMLError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise CobaltError(
            f'the quality rules {path} are not understood: {error}. See the shipped quality_rules.yaml.'
        ) from error
    return QualityRules(outcomes, metrics, hashlib.sha256(text).hexdigest()[:16])


def _verdict(name: Any) -> str:
    if name not in VERDICTS:
        raise ValueError(f'{name!r} is no verdict; verdicts are {", ".join(VERDICTS)}')
    return str(name)


def judge(
    outcome: str,
    measurements: Sequence[Measurement],
    rules: QualityRules,
    *,
    faults: Sequence[str] = (),
    note: str = '',
) -> Verdict:
    """Judges an episode.

    Args:
        outcome: Name of EpisodeState.OUTCOME_*.
        measurements: Its metrics.
        rules: What is asked.
        faults: In words, what alone makes the data unusable; any means REJECT.
        note: Why the episode ended as it did, in words.
    """
    values = {measurement.name: measurement.value for measurement in measurements}
    findings = [('REJECT', fault, '') for fault in faults]
    ruled = rules.outcomes.get(outcome, OutcomeRule('REJECT', f'its outcome is {outcome}, which no rule knows', ''))
    findings.append((ruled.verdict, f'{ruled.says}: {note}' if note and ruled.says else ruled.says, ruled.tip))
    judged = []
    for measurement in measurements:
        rule = next((rule for rule in rules.metrics if fnmatch.fnmatchcase(measurement.name, rule.pattern)), None)
        metric, found = _judge_one(measurement, rule, values)
        judged.append(metric)
        findings += found
    worst = max((verdict for verdict, _, _ in findings), key=VERDICTS.index)
    # What decided the verdict comes first, and gives the tip.
    findings.sort(key=lambda finding: -VERDICTS.index(finding[0]))
    reasons = tuple(says for verdict, says, _ in findings if verdict != 'ACCEPT' and says)
    tip = next((tip for verdict, _, tip in findings if verdict == worst and verdict != 'ACCEPT' and tip), '')
    return Verdict(worst, reasons, tip, tuple(judged))


def _judge_one(
    measurement: Measurement, rule: MetricRule | None, values: Mapping[str, float]
) -> tuple[JudgedMetric, list[tuple[str, str, str]]]:
    name, value = measurement.name, measurement.value
    if rule is None:
        metric = JudgedMetric(name, measurement.subject, value, measurement.unit, math.nan, math.nan, True)
        return metric, []
    factor = values.get(rule.relative_to, math.nan) if rule.relative_to else 1.0
    accept = rule.accept.scaled(factor)
    passed = accept.holds(value)
    metric = JudgedMetric(
        name, measurement.subject, value, measurement.unit, _or_nan(accept.lower), _or_nan(accept.upper), passed
    )
    if passed:
        return metric, []
    if math.isnan(value) or math.isnan(factor):
        return metric, [('REVIEW', f'{name} could not be computed', '')]
    tolerated = rule.review is not None and rule.review.scaled(factor).holds(value)
    says = rule.says.format(value=value, name=name.partition('/')[2] or name)
    return metric, [('REVIEW' if tolerated else 'REJECT', says, rule.tip)]


def _or_nan(bound: float) -> float:
    return bound if math.isfinite(bound) else math.nan
