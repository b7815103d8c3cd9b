"""Metrics as a table for people."""

import math
from collections.abc import Sequence

from cobalt_recorder.quality_rules import JudgedMetric

_TITLES = {
    'COMMAND': 'what the operator asked for',
    'ROBOT': 'what the robot did',
    'LINK': 'network and pictures',
    'DATA': 'the recording',
}


def metric_lines(metrics: Sequence[JudgedMetric]) -> list[str]:
    """Returns one line for each metric, under a title for each subject; `!` marks what a rule objects to."""
    several_parts = len({metric.part for metric in metrics if metric.part}) > 1
    lines = []
    for subject, title in _TITLES.items():
        rows = [_row(metric, several_parts) for metric in metrics if metric.subject == subject]
        lines += ['', title, *rows] if rows else []
    return lines[1:]


def _row(metric: JudgedMetric, several_parts: bool) -> str:
    name = f'{metric.name} [{metric.part}]' if several_parts and metric.part else metric.name
    if math.isnan(metric.value):
        value, remark = '-', metric.reason
    else:
        value, remark = _number(metric), _bounds(metric)
    unit = metric.unit if metric.unit != '1' else ''
    return f'{" " if metric.passed else "!"} {name:<36} {value:>10} {unit:<6} {remark}'.rstrip()


def _number(metric: JudgedMetric) -> str:
    if metric.unit == '' and metric.value == int(metric.value):
        return f'{metric.value:.0f}'
    return f'{metric.value:.4g}'


def _bounds(metric: JudgedMetric) -> str:
    bounds = [] if math.isnan(metric.lower) else [f'at least {metric.lower:.4g}']
    bounds += [] if math.isnan(metric.upper) else [f'at most {metric.upper:.4g}']
    return ', '.join(bounds)
