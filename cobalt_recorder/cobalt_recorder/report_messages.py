"""The recorder's answers as messages."""

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


def quality_report(verdict: EpisodeVerdict) -> QualityReport:
    """Returns the final report of an episode."""
    report = QualityReport(
        workcell_id=verdict.workcell_id,
        episode_id=verdict.episode_id,
        task=verdict.task,
        stage=QualityReport.STAGE_FINAL,
        metrics=[_metric(metric) for metric in verdict.judged.metrics],
        verdict=VERDICTS.index(verdict.judged.verdict),
        reasons=list(verdict.judged.reasons),
        tip=verdict.judged.tip,
        rules_hash=verdict.rules_hash,
        bag_uri=verdict.bag_uri,
    )
    report.header.stamp = to_stamp(now_ns())
    report.header.frame_id = verdict.workcell_id
    return report
