"""The report of a data set: verdicts, how each metric is spread in each task, outliers, all episodes."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from cobalt_recorder.metric_table import unit_in_words
from cobalt_recorder.quality_rules import VERDICTS, JudgedMetric
from cobalt_recorder.report.page import badge, page, table, text
from cobalt_recorder.report.svg_plot import Series, line_plot
from cobalt_recorder.task_verdicts import accepted_of
from cobalt_recorder.verdict_file import EpisodeVerdict

_PLOTTED = (
    'duration', 'robot_path_length', 'robot_peak_speed', 'robot_jitter', 'robot_sparc', 'robot_idle_share',
    'limit_share', 'command_latency', 'frame_age', 'rate',
)  # fmt: skip
_SHOWN = ('duration', 'robot_path_length', 'robot_jitter', 'robot_sparc', 'robot_idle_share', 'command_latency')
_COUNTED = ('episodes', 'successes', *VERDICTS)
_UNUSUAL = 5.0
_LEAST_EPISODES = 5


def data_set_page(name: str, verdicts: Sequence[EpisodeVerdict]) -> str:
    """Returns the whole page.

    Args:
        name: Of the data set.
        verdicts: Of its episodes, in the order of time.
    """
    tasks = sorted({verdict.task for verdict in verdicts})
    parts = [f'<h1>{text(name)}</h1>', _summary(tasks, verdicts)]
    for task in tasks:
        parts += _task(task, [verdict for verdict in verdicts if verdict.task == task])
    return page(name, *parts)


def _summary(tasks: Sequence[str], verdicts: Sequence[EpisodeVerdict]) -> str:
    rows = []
    for task in tasks:
        own = [verdict for verdict in verdicts if verdict.task == task]
        rows.append([text(task), *_counts(own)])
    return table(('task', *_COUNTED), rows)


def _counts(verdicts: Sequence[EpisodeVerdict]) -> list[str]:
    counts = Counter(verdict.judged.verdict for verdict in verdicts)
    succeeded = sum(verdict.outcome == 'SUCCESS' for verdict in verdicts)
    return [str(number) for number in (len(verdicts), succeeded, *(counts[one] for one in VERDICTS))]


def _task(task: str, verdicts: Sequence[EpisodeVerdict]) -> list[str]:
    outliers = _outliers(verdicts)
    return [
        f'<h2>{text(task)}</h2><div class="plots">{"".join(_plots(verdicts))}</div>',
        f'<h2>{text(task)}: who drove</h2>',
        _operators(verdicts),
        f'<h2>{text(task)}: unusual among its accepted episodes</h2>',
        table(('episode', 'verdict', 'metric', 'value', 'median', 'robust z-score'), outliers)
        if outliers
        else '<p class="none">None, or too few accepted episodes to tell.</p>',
        f'<h2>{text(task)}: why episodes were not accepted</h2>',
        _reasons(verdicts),
        f'<h2>{text(task)}: spread of all metrics</h2>',
        _spreads(verdicts),
        f'<h2>{text(task)}: episodes</h2>',
        _episodes(verdicts),
    ]


def _metrics(verdict: EpisodeVerdict) -> dict[tuple[str, str], JudgedMetric]:
    return {(metric.name, metric.part): metric for metric in verdict.judged.metrics}


def _plots(verdicts: Sequence[EpisodeVerdict]) -> list[str]:
    by_episode = [_metrics(verdict) for verdict in verdicts]
    colours = [verdict.judged.verdict for verdict in verdicts]
    keys = sorted({key for metrics in by_episode for key in metrics if key[0] in _PLOTTED})
    plots = []
    for name, part in sorted(keys, key=lambda key: (_PLOTTED.index(key[0]), key[1])):
        values = [metrics[name, part].value if (name, part) in metrics else math.nan for metrics in by_episode]
        unit = next(metrics[name, part].unit for metrics in by_episode if (name, part) in metrics)
        title = f'{name} [{part}]' if part else name
        series = Series(title, np.arange(1, len(values) + 1), values, dots=True, colours=colours)
        plots.append(line_plot(title, 'episode, in the order of time', f'{name} [{unit}]', [series]))
    return plots


def _outliers(verdicts: Sequence[EpisodeVerdict]) -> list[list[str]]:
    accepted = accepted_of(verdicts)
    rows = []
    for verdict in verdicts:
        for metric in verdict.judged.metrics:
            spread = accepted.spread(metric.name, metric.part)
            if spread is None or spread.episodes < _LEAST_EPISODES or math.isnan(metric.value):
                continue
            score = (metric.value - spread.median) / spread.scale
            if abs(score) > _UNUSUAL:
                rows.append((abs(score), verdict, metric, spread.median, score))
    rows.sort(key=lambda row: -row[0])
    return [
        [text(verdict.episode_id), badge(verdict.judged.verdict), text(metric.name),
         f'{metric.value:.4g} {text(unit_in_words(metric))}', f'{median:.4g}', f'{score:.1f}']
        for _, verdict, metric, median, score in rows
    ]  # fmt: skip


def _operators(verdicts: Sequence[EpisodeVerdict]) -> str:
    rows = []
    for name in sorted({verdict.operator_id for verdict in verdicts}, key=lambda name: (not name, name)):
        own = [verdict for verdict in verdicts if verdict.operator_id == name]
        tips = Counter(verdict.judged.tip for verdict in own if verdict.judged.tip)
        often = tips.most_common(1)[0][0] if tips else ''
        rows.append([text(name or 'unknown'), *_counts(own), text(often)])
    return table(('operator', *_COUNTED, 'most frequent tip'), rows)


def _reasons(verdicts: Sequence[EpisodeVerdict]) -> str:
    tips = Counter((verdict.judged.verdict, verdict.judged.tip) for verdict in verdicts if verdict.judged.tip)
    rows = [[str(count), badge(verdict), text(tip)] for (verdict, tip), count in tips.most_common()]
    return table(('episodes', 'verdict', 'tip'), rows) if rows else '<p class="none">All were accepted.</p>'


def _spreads(verdicts: Sequence[EpisodeVerdict]) -> str:
    by_episode = [_metrics(verdict) for verdict in verdicts]
    rows = []
    for name, part in dict.fromkeys(key for metrics in by_episode for key in metrics):
        found = [metrics[name, part] for metrics in by_episode if (name, part) in metrics]
        values = np.array([metric.value for metric in found])
        values = values[np.isfinite(values)]
        if values.size:
            numbers = [f'{number:.4g}' for number in np.percentile(values, (0, 25, 50, 75, 100))]
            rows.append([text(name), text(part), text(unit_in_words(found[0])), str(values.size), *numbers])
    head = ('metric', 'part', 'unit', 'episodes', 'smallest', '25 %', 'median', '75 %', 'largest')
    return table(head, rows)


def _episodes(verdicts: Sequence[EpisodeVerdict]) -> str:
    rows = []
    for verdict in verdicts:
        values = {metric.name: metric.value for metric in verdict.judged.metrics}
        numbers = [f'{values[name]:.4g}' if math.isfinite(values.get(name, math.nan)) else '-' for name in _SHOWN]
        reasons = '<br>'.join(text(reason) for reason in verdict.judged.reasons)
        rows.append([text(verdict.episode_id), badge(verdict.judged.verdict), text(verdict.outcome), *numbers, reasons])
    return table(('episode', 'verdict', 'outcome', *_SHOWN, 'reasons'), rows)
