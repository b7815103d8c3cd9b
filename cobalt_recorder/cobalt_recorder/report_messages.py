"""The recorder's answers as messages."""

from collections.abc import Sequence
from typing import Any

from cobalt_interfaces.msg import Metric, QualityReport
from cobalt_recorder.metrics.catalogue import SUBJECTS
from cobalt_recorder.quality_rules import VERDICTS, JudgedMetric
from cobalt_recorder.verdict_file import EpisodeVerdict
from cobalt_teleop.ros.stamps import now_ns, to_stamp


def _metric(metric: JudgedMetric) -> Metric:
    return Metric(
        name=metric.name,
        part=metric.part,
        subject=SUBJECTS.index(metric.subject),
        value=metric.value,
        unit=metric.unit,
        lower=metric.lower,
        upper=metric.upper,
        passed=metric.passed,
    )


def final_report(verdict: EpisodeVerdict) -> QualityReport:
    """Returns the final report of an episode."""
    report = _report(verdict.workcell_id, verdict.episode_id, verdict.task, verdict.judged.metrics)
    report.stage = QualityReport.STAGE_FINAL
    report.verdict = VERDICTS.index(verdict.judged.verdict)
    report.reasons = list(verdict.judged.reasons)
    report.tip = verdict.judged.tip
    report.rules_hash = verdict.rules_hash
    report.bag_uri = verdict.bag_uri
    return report


def live_report(episode: Any, metrics: Sequence[JudgedMetric], rules_hash: str) -> QualityReport:
    """Returns the report of an episode that runs: figures and bounds, but no verdict yet.

    Args:
        episode: Its EpisodeState.
        metrics: Held against the rules.
        rules_hash: Of the rules.
    """
    report = _report(episode.workcell_id, episode.episode_id, episode.task, metrics)
    report.stage = QualityReport.STAGE_LIVE
    report.rules_hash = rules_hash
    return report


def _report(workcell_id: str, episode_id: str, task: str, metrics: Sequence[JudgedMetric]) -> QualityReport:
    report = QualityReport(
        workcell_id=workcell_id,
        episode_id=episode_id,
        task=task,
        metrics=[_metric(metric) for metric in metrics],
    )
    report.header.stamp = to_stamp(now_ns())
    report.header.frame_id = workcell_id
    return report
