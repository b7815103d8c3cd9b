"""Turns metrics into a verdict, by rules that are data."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from cobalt_recorder.accepted_episodes import AcceptedEpisodes, Spread
from cobalt_recorder.metrics.measure import Measurement

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

    def of_z_score(self, spread: Spread) -> 'Bounds':
        """Returns the interval of values whose robust z-score lies inside."""
        return Bounds(spread.median + self.lower * spread.scale, spread.median + self.upper * spread.scale)

    def and_within(self, other: 'Bounds') -> 'Bounds':
        """Returns what lies inside both."""
        return Bounds(max(self.lower, other.lower), min(self.upper, other.upper))


@dataclass(frozen=True)
class MetricRule:
    """What is asked of one metric, or of all whose name matches a pattern.

    Attributes:
        pattern: Of names, as in a shell.
        accept: Where it passes.
        review: Where a person should look; None if there is no second chance.
        relative_to: Metric whose shares the bounds are; empty if they are values.
        unknown: Verdict if there is no value.
        says: What is wrong, with places for {value} and {name}.
        tip: What to do better.
    """

    pattern: str
    accept: Bounds
    review: Bounds | None
    relative_to: str
    unknown: str
    says: str
    tip: str


@dataclass(frozen=True)
class ZScoreRule:
    """What is asked of a metric in comparison with the accepted episodes of its task.

    Attributes:
        pattern: Of names, as in a shell.
        accept: Robust z-scores that pass.
        review: Those at which a person should look; None if there is no second chance.
        episodes: With fewer accepted ones, the rule does not count.
        says: What is wrong, with places for {value}, {median} and {name}.
        tip: What to do better.
    """

    pattern: str
    accept: Bounds
    review: Bounds | None
    episodes: int
    says: str
    tip: str


@dataclass(frozen=True)
class OutcomeRule:
    """The best verdict that an outcome allows."""

    verdict: str
    says: str
    tip: str


class QualityRules:
    """All rules of a file.

    Args:
        outcomes: By name of the outcome.
        metrics: Bounds, in the order of the file.
        z_scores: Comparisons, in the order of the file.
        hash: Of the file.
    """

    def __init__(
        self,
        outcomes: Mapping[str, OutcomeRule],
        metrics: Sequence[MetricRule],
        z_scores: Sequence[ZScoreRule],
        hash: str,
    ) -> None:
        self.outcomes = outcomes
        self.metrics = metrics
        self.z_scores = z_scores
        self.hash = hash
        # Live reports ask for the same few names again and again.
        self._metric_rules: dict[str, MetricRule | None] = {}
        self._z_score_rules: dict[str, ZScoreRule | None] = {}

    def metric_rule(self, name: str) -> MetricRule | None:
        """Returns the bounds of a metric: the first rule whose pattern matches."""
        if name not in self._metric_rules:
            self._metric_rules[name] = next((one for one in self.metrics if fnmatchcase(name, one.pattern)), None)
        return self._metric_rules[name]

    def z_score_rule(self, name: str) -> ZScoreRule | None:
        """Returns the comparison of a metric: the first rule whose pattern matches."""
        if name not in self._z_score_rules:
            self._z_score_rules[name] = next((one for one in self.z_scores if fnmatchcase(name, one.pattern)), None)
        return self._z_score_rules[name]


@dataclass(frozen=True, kw_only=True)
class JudgedMetric:
    """A metric with its bounds; NaN where it has none.

    Attributes:
        name: Such as rate or frames_missing/front.
        part: Whose it is; empty if it belongs to no part.
        subject: One of catalogue.SUBJECTS.
        value: NaN if it could not be computed.
        unit: Empty for a count.
        lower: Smallest value that passes.
        upper: Largest one.
        passed: No rule objects.
        reason: Why there is no value, in words.
    """

    name: str
    part: str = ''
    subject: str
    value: float
    unit: str
    lower: float
    upper: float
    passed: bool
    reason: str = ''


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


@dataclass(frozen=True)
class Finding:
    """One thing to say about an episode.

    Attributes:
        verdict: One of VERDICTS.
        says: In words.
        tip: What to do better.
        unknown: It says that a metric has no value.
    """

    verdict: str
    says: str
    tip: str
    unknown: bool = False


@dataclass
class _Findings:
    """What the rules find in one metric."""

    within: Bounds = field(default_factory=Bounds)
    found: list[Finding] = field(default_factory=list)


def judge(
    outcome: str,
    measurements: Sequence[Measurement],
    rules: QualityRules,
    *,
    accepted: AcceptedEpisodes | None = None,
    faults: Sequence[str] = (),
    note: str = '',
) -> Verdict:
    """Judges an episode.

    Args:
        outcome: Name of EpisodeState.OUTCOME_*.
        measurements: Its metrics.
        rules: What is asked.
        accepted: The other accepted episodes of its task.
        faults: In words, what alone makes the data unusable; any means REJECT.
        note: Why the episode ended as it did, in words.
    """
    findings = [Finding('REJECT', fault, '') for fault in faults]
    ruled = rules.outcomes.get(outcome, OutcomeRule('REJECT', f'its outcome is {outcome}, which no rule knows', ''))
    findings.append(Finding(ruled.verdict, f'{ruled.says}: {note}' if note and ruled.says else ruled.says, ruled.tip))
    judged, found = judge_metrics(measurements, rules, accepted=accepted)
    # A file with a fault lacks many a metric: the fault says why.
    findings += [finding for finding in found if not (faults and finding.unknown)]
    # What decided the verdict comes first, and gives the tip.
    findings.sort(key=lambda finding: -VERDICTS.index(finding.verdict))
    worst = findings[0].verdict
    reasons = tuple(finding.says for finding in findings if finding.verdict != 'ACCEPT' and finding.says)
    tips = (finding.tip for finding in findings if finding.verdict == worst != 'ACCEPT' and finding.tip)
    return Verdict(worst, tuple(dict.fromkeys(reasons)), next(tips, ''), judged)


def judge_metrics(
    measurements: Sequence[Measurement], rules: QualityRules, *, accepted: AcceptedEpisodes | None = None
) -> tuple[tuple[JudgedMetric, ...], list[Finding]]:
    """Holds metrics against their bounds, whatever became of the episode."""
    values = {(measurement.name, measurement.part): measurement.value for measurement in measurements}
    several_parts = len({measurement.part for measurement in measurements if measurement.part}) > 1
    judged, findings = [], []
    for measurement in measurements:
        of_one = _Findings()
        _hold_against_bounds(measurement, rules, values, of_one)
        _compare_with_accepted(measurement, rules, accepted, of_one)
        judged.append(
            JudgedMetric(
                name=measurement.name,
                part=measurement.part,
                subject=measurement.subject,
                value=measurement.value,
                unit=measurement.unit,
                lower=_or_nan(of_one.within.lower),
                upper=_or_nan(of_one.within.upper),
                passed=not of_one.found,
                reason=measurement.reason,
            )
        )
        whose = f'{measurement.part}: ' if several_parts and measurement.part else ''
        findings += [replace(one, says=whose + one.says) for one in of_one.found]
    return tuple(judged), findings


def _hold_against_bounds(
    measurement: Measurement, rules: QualityRules, values: Mapping[tuple[str, str], float], into: _Findings
) -> None:
    name, value = measurement.name, measurement.value
    rule = rules.metric_rule(name)
    if rule is None:
        return
    factor = 1.0
    if rule.relative_to:
        factor = values.get((rule.relative_to, measurement.part), values.get((rule.relative_to, ''), math.nan))
    accept = rule.accept.scaled(factor)
    into.within = into.within.and_within(accept)
    if math.isnan(value) or math.isnan(factor):
        if rule.unknown != 'ACCEPT':
            why = f': {measurement.reason}' if measurement.reason else ''
            into.found.append(Finding(rule.unknown, f'{name} could not be computed{why}', '', unknown=True))
        return
    review = None if rule.review is None else rule.review.scaled(factor)
    _note(into, value, accept, review, rule.says.format(value=value, name=_short(name), median=math.nan), rule.tip)


def _compare_with_accepted(
    measurement: Measurement, rules: QualityRules, accepted: AcceptedEpisodes | None, into: _Findings
) -> None:
    name, value = measurement.name, measurement.value
    rule = rules.z_score_rule(name)
    if rule is None or accepted is None or math.isnan(value):
        return
    spread = accepted.spread(name, measurement.part)
    if spread is None or spread.episodes < rule.episodes:
        return
    accept = rule.accept.of_z_score(spread)
    into.within = into.within.and_within(accept)
    review = None if rule.review is None else rule.review.of_z_score(spread)
    _note(into, value, accept, review, rule.says.format(value=value, name=_short(name), median=spread.median), rule.tip)


def _note(into: _Findings, value: float, accept: Bounds, review: Bounds | None, says: str, tip: str) -> None:
    if not accept.holds(value):
        tolerated = review is not None and review.holds(value)
        into.found.append(Finding('REVIEW' if tolerated else 'REJECT', says, tip))


def _short(name: str) -> str:
    return name.partition('/')[2] or name


def _or_nan(bound: float) -> float:
    return bound if math.isfinite(bound) else math.nan
