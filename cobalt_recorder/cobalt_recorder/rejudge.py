"""Judges episodes anew from their figures, without their bags."""

from collections.abc import Sequence
from dataclasses import replace

from cobalt_recorder.accepted_episodes import AcceptedEpisodes
from cobalt_recorder.metrics.measure import Measurement
from cobalt_recorder.quality_rules import QualityRules, judge
from cobalt_recorder.task_verdicts import accepted_of
from cobalt_recorder.verdict_file import EpisodeVerdict


def rejudge(verdicts: Sequence[EpisodeVerdict], rules: QualityRules) -> list[EpisodeVerdict]:
    """Returns what other rules say of episodes.

    Where rules compare with the accepted episodes of a task, these are the ones among the given that all other rules
    accept; an accepted episode is one of those that it is compared with.

    Args:
        verdicts: What is known of the episodes.
        rules: What is asked.
    """
    alone = [_judged(verdict, rules, None) for verdict in verdicts]
    if not rules.z_scores:
        return alone
    tasks = {verdict.task for verdict in alone}
    accepted = {task: accepted_of(verdict for verdict in alone if verdict.task == task) for task in tasks}
    return [_judged(verdict, rules, accepted[verdict.task]) for verdict in verdicts]


def _judged(verdict: EpisodeVerdict, rules: QualityRules, accepted: AcceptedEpisodes | None) -> EpisodeVerdict:
    measurements = [
        Measurement(metric.name, metric.value, metric.unit, metric.subject, metric.part, metric.reason)
        for metric in verdict.judged.metrics
    ]
    judged = judge(verdict.outcome, measurements, rules, accepted=accepted, faults=verdict.faults, note=verdict.note)
    return replace(verdict, rules_hash=rules.hash, judged=judged)
