"""Metrics as a table for people."""

import math
from collections.abc import Sequence

from cobalt_recorder.quality_rules import JudgedMetric

SUBJECT_TITLES = {
    'COMMAND': 'what the operator asked for',
    'ROBOT': 'what the robot did',
    'LINK': 'network and pictures',
    'DATA': 'the recording',
}


def metric_lines(metrics: Sequence[JudgedMetric]) -> list[str]:
    """Returns one line for each metric, under a title for each subject; `!` marks what a rule objects to."""
    several_parts = len({metric.part for metric in metrics if metric.part}) > 1
    lines = []
    for subject, title in SUBJECT_TITLES.items():
        rows = [_row(metric, several_parts) for metric in metrics if metric.subject == subject]
        lines += ['', title, *rows] if rows else []
    return lines[1:]


def number_in_words(metric: JudgedMetric) -> str:
    """Returns the value for people: four digits, counts whole, `-` if there is none."""
    if math.isnan(metric.value):
        return '-'
    whole = metric.unit == '' and metric.value == int(metric.value)
    return f'{metric.value:.0f}' if whole else f'{metric.value:.4g}'


def unit_in_words(metric: JudgedMetric) -> str:
    """Returns the unit; nothing for what has none."""
    return metric.unit if metric.unit != '1' else ''


def bounds_in_words(metric: JudgedMetric) -> str:
    """Returns what is accepted, or why there is no value."""
    if math.isnan(metric.value):
        return metric.reason
    bounds = [] if math.isnan(metric.lower) else [f'at least {metric.lower:.4g}']
    bounds += [] if math.isnan(metric.upper) else [f'at most {metric.upper:.4g}']
    return ', '.join(bounds)


def _row(metric: JudgedMetric, several_parts: bool) -> str:
    name = f'{metric.name} [{metric.part}]' if several_parts and metric.part else metric.name
    mark = ' ' if metric.passed else '!'
    return (
        f'{mark} {name:<36} {number_in_words(metric):>10} {unit_in_words(metric):<6} {bounds_in_words(metric)}'.rstrip()
    )
