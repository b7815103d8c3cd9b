"""The report of one episode: verdict, pictures, plots, metrics."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from cobalt_recorder import episode_facts
from cobalt_recorder.bag_reader import Bag
from cobalt_recorder.metric_table import SUBJECT_TITLES, bounds_in_words, number_in_words, unit_in_words
from cobalt_recorder.metrics.latency import command_latencies, frame_ages
from cobalt_recorder.metrics.limits import PACE, REACH
from cobalt_recorder.metrics.motion import Motion, Vector
from cobalt_recorder.metrics.part_record import PartRecord
from cobalt_recorder.metrics.record import EpisodeRecord
from cobalt_recorder.metrics.timing import intervals_ms
from cobalt_recorder.quality_rules import JudgedMetric
from cobalt_recorder.report.page import badge, page, table, text
from cobalt_recorder.report.svg_plot import Series, line_plot
from cobalt_recorder.report.thumbnails import Thumbnail
from cobalt_recorder.verdict_file import EpisodeVerdict

_SECONDS = 'time [s]'
_FACTS = ('instruction', 'workcell_id', 'operator_id', 'policy_id', 'robot_id', 'seed')


def episode_page(bag: Bag, episode: EpisodeRecord, verdict: EpisodeVerdict, pictures: Sequence[Thumbnail]) -> str:
    """Returns the whole page.

    Args:
        bag: Where the episode lies.
        episode: What the bag holds of it.
        verdict: What the rules say of it.
        pictures: Of its cameras.
    """
    plots = [plot for name, part in sorted(episode.parts.items()) for plot in _part_plots(name, part)]
    plots.append(_interval_plot(episode))
    return page(
        f'{verdict.task} {verdict.episode_id}',
        _head(bag, verdict),
        _pictures(episode, pictures),
        f'<h2>Motion and timing</h2><div class="plots">{"".join(plots)}</div>',
        '<h2>Metrics</h2>',
        metric_table(verdict.judged.metrics),
    )


def _head(bag: Bag, verdict: EpisodeVerdict) -> str:
    judged = verdict.judged
    facts = [f'{name.removesuffix("_id")}: {text(bag.fact(episode_facts.EPISODE, name))}' for name in _FACTS
             if bag.fact(episode_facts.EPISODE, name)]  # fmt: skip
    begin = min((topic.first_ns for topic in bag.topics.values() if topic.count), default=0)
    when = f'{datetime.fromtimestamp(begin / 1e9, UTC):%Y-%m-%d %H:%M:%S} UTC' if begin else ''
    reasons = ''.join(f'<li>{text(reason)}</li>' for reason in judged.reasons)
    tip = f'<p><b>Tip:</b> {text(judged.tip)}</p>' if judged.tip else ''
    return (
        f'<h1>{text(verdict.task)} <span class="soft">{text(verdict.episode_id)}</span></h1>'
        f'<p>{badge(judged.verdict)} outcome {text(verdict.outcome)}, {when}</p><ul>{reasons}</ul>{tip}'
        f'<p class="soft facts">{" · ".join(facts)}<br>{text(bag.file)}</p>'
    )


def _pictures(episode: EpisodeRecord, pictures: Sequence[Thumbnail]) -> str:
    if not pictures:
        return ''
    start_ns = int(episode.steps.ticks['stamp_ns'][0]) if len(episode.steps) else pictures[0].stamp_ns
    shown = ''.join(
        f'<div><img src="{one.as_data_url()}" alt="{text(one.camera)}">'
        f'{text(one.camera)}, {(one.stamp_ns - start_ns) * 1e-9:.1f} s</div>'
        for one in pictures
    )
    return f'<h2>Pictures</h2><div class="pictures">{shown}</div>'


def _part_plots(name: str, part: PartRecord) -> list[str]:
    driven = np.where(part.driven[:, None], part.rows['target_position'], math.nan)
    position, times_s = part.rows['position'], part.times_s
    fresh_s = times_s[part.fresh]
    views = [
        line_plot(
            f'{name}: path {view}', f'{first} [m]', f'{second} [m]',
            [Series('measured', position[:, a], position[:, b]), Series('target', driven[:, a], driven[:, b])],
            equal=True,
        )
        for view, first, second, a, b in (('from above', 'x', 'y', 0, 1), ('from the side', 'x', 'z', 0, 2))
    ]  # fmt: skip
    limits = part.rows['limits']
    return [
        *views,
        line_plot(
            f'{name}: speed',
            _SECONDS,
            'speed [m/s]',
            [Series('measured', *_speeds(part.robot_runs)), Series('command', *_speeds(part.command_runs))],
        ),
        line_plot(
            f'{name}: gripper, 0 closed to 1 open',
            _SECONDS,
            'opening',
            [
                Series('executed', times_s, np.where(part.driven, part.rows['gripper_target'], math.nan)),
                Series('command', times_s, np.where(part.engaged, part.rows['human_gripper'], math.nan)),
            ],
        ),
        line_plot(
            f'{name}: limits, and who drives',
            _SECONDS,
            'no, yes',
            [
                Series('driven', times_s, part.driven.astype(float)),
                Series('out of reach', times_s, 0.9 * (limits & int(REACH) != 0)),
                Series('too fast', times_s, 0.8 * (limits & int(PACE) != 0)),
            ],
        ),
        line_plot(
            f'{name}: latency',
            _SECONDS,
            'latency [ms]',
            [
                Series('command', fresh_s, command_latencies(part)),
                Series('picture that the operator saw', fresh_s, frame_ages(part)),
            ],
        ),
    ]


def _speeds(runs: Sequence[Motion]) -> tuple[Vector, Vector]:
    """Returns times and speeds of all runs, with a break after each."""
    times = [np.append(run.times_s[1:], run.times_s[-1]) for run in runs]
    speeds = [np.append(run.speeds, math.nan) for run in runs]
    return np.concatenate(times or [np.zeros(0)]), np.concatenate(speeds or [np.zeros(0)])


def _interval_plot(episode: EpisodeRecord) -> str:
    ticks = episode.steps.ticks
    times_s = (ticks['stamp_ns'][1:] - ticks['stamp_ns'][:1]) * 1e-9
    return line_plot(
        'Time between ticks', _SECONDS, 'interval [ms]', [Series('interval', times_s, intervals_ms(ticks))]
    )


def metric_table(metrics: Sequence[JudgedMetric]) -> str:
    """Returns all metrics, under a title for each subject."""
    rows: list[tuple[str, ...]] = []
    classes = []
    for subject, title in SUBJECT_TITLES.items():
        own = [metric for metric in metrics if metric.subject == subject]
        if own:
            rows.append((text(title), '', '', '', ''))
            classes.append('title')
        rows += [_metric_row(metric) for metric in own]
        classes += ['' if metric.passed else 'failed' for metric in own]
    return table(('metric', 'value', 'unit', 'accepted', 'part'), rows, classes=classes)


def _metric_row(metric: JudgedMetric) -> tuple[str, ...]:
    value, unit, bounds = number_in_words(metric), unit_in_words(metric), bounds_in_words(metric)
    return text(metric.name), value, text(unit), text(bounds), text(metric.part)
