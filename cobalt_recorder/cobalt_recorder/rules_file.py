"""Reads quality rules from YAML, and says in one sentence what is wrong with a file that holds none.

config/quality_rules.yaml explains the format.
"""

import difflib
import fnmatch
import hashlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from cobalt_recorder.metrics.catalogue import metric_names
from cobalt_recorder.quality_rules import VERDICTS, Bounds, MetricRule, OutcomeRule, QualityRules, ZScoreRule
from cobalt_recorder.yaml_text import parse_yaml
from cobalt_teleop.core.episode import Outcome
from cobalt_teleop.core.errors import CobaltError

_LEAST_EPISODES = 20


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
        content = parse_yaml(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        where = ' '.join(str(error).split())
        raise CobaltError(f'the quality rules {path} are not understood: they are not YAML: {where}.') from error
    try:
        sections = _fields(content, 'the file', required=('outcomes', 'metrics'), optional=('z_scores',))
        outcomes = {
            str(name): _outcome(str(name), rule) for name, rule in _mapping(sections['outcomes'], "'outcomes'").items()
        }
        metrics = [_metric(str(name), rule) for name, rule in _mapping(sections['metrics'], "'metrics'").items()]
        z_scores = [_z_score(str(name), rule) for name, rule in _mapping(sections['z_scores'], "'z_scores'").items()]
    except _NotARuleError as error:
        raise CobaltError(f'the quality rules {path} are not understood: {error}.') from error
    return QualityRules(outcomes, metrics, z_scores, hashlib.sha256(text).hexdigest()[:16])


class _NotARuleError(ValueError):
    """What is wrong, in words."""


def _mapping(content: Any, what: str) -> Mapping[Any, Any]:
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise _NotARuleError(f'{what} holds {content!r:.60}, where `name: value` lines belong')
    return content


def _fields(content: Any, what: str, *, required: tuple[str, ...], optional: tuple[str, ...]) -> dict[str, Any]:
    given = _mapping(content, what)
    allowed = (*required, *optional)
    for name in given:
        if name not in allowed:
            raise _NotARuleError(f'{what} has {name!r}, but may only have {", ".join(allowed)}')
    for name in required:
        if name not in given:
            raise _NotARuleError(f'{what} lacks {name!r}')
    return {name: given.get(name) for name in allowed}


def _outcome(name: str, content: Any) -> OutcomeRule:
    if name not in Outcome.__members__:
        raise _NotARuleError(f'{name!r} is no outcome; outcomes are {", ".join(Outcome.__members__)}')
    fields = _fields(content, f'the outcome {name!r}', required=('verdict',), optional=('says', 'tip'))
    return OutcomeRule(_verdict(fields['verdict']), _text(fields['says']), _text(fields['tip']))


def _metric(pattern: str, content: Any) -> MetricRule:
    what = f'the rule of {pattern!r}'
    _known(pattern)
    fields = _fields(content, what, required=('accept', 'says'), optional=('review', 'relative_to', 'unknown', 'tip'))
    relative_to = _text(fields['relative_to'])
    if relative_to:
        _known(relative_to)
    return MetricRule(
        pattern=pattern,
        accept=_bounds(fields['accept'], what),
        review=None if content.get('review') is None else _bounds(fields['review'], what),
        relative_to=relative_to,
        unknown=_verdict(fields['unknown'] or 'REVIEW'),
        says=_sentence(fields['says'], what),
        tip=_text(fields['tip']),
    )


def _z_score(pattern: str, content: Any) -> ZScoreRule:
    what = f'the z-score rule of {pattern!r}'
    _known(pattern)
    fields = _fields(content, what, required=('accept', 'says'), optional=('review', 'episodes', 'tip'))
    episodes = _LEAST_EPISODES if fields['episodes'] is None else fields['episodes']
    if isinstance(episodes, bool) or not isinstance(episodes, int) or episodes < 2:
        raise _NotARuleError(f'{what} asks for {episodes!r} episodes; it is a whole number of at least 2')
    return ZScoreRule(
        pattern=pattern,
        accept=_bounds(fields['accept'], what),
        review=None if content.get('review') is None else _bounds(fields['review'], what),
        episodes=episodes,
        says=_sentence(fields['says'], what),
        tip=_text(fields['tip']),
    )


def _known(pattern: str) -> None:
    names = metric_names()
    if any(_matches(pattern, name) for name in names):
        return
    close = difflib.get_close_matches(pattern, names, 1)
    meant = f' (is it {close[0]!r}?)' if close else ''
    raise _NotARuleError(f'{pattern!r} is no metric{meant}; metrics are {", ".join(names)}')


def _matches(pattern: str, name: str) -> bool:
    """Tells whether a pattern can match a metric; `dropped/*` stands for one of each topic."""
    if name.endswith('/*') and pattern.startswith(name[:-1]):
        return True
    return fnmatch.fnmatchcase(name, pattern)


def _verdict(name: Any) -> str:
    if name not in VERDICTS[1:]:
        raise _NotARuleError(f'{name!r} is no verdict; verdicts are {", ".join(VERDICTS[1:])}')
    return str(name)


def _bounds(content: Any, what: str) -> Bounds:
    fields = _fields(content, f"'accept' or 'review' in {what}", required=(), optional=('lower', 'upper'))
    for name, value in fields.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value)):
            raise _NotARuleError(f'{what} has the {name} bound {value!r}, which is not a number')
    lower, upper = fields['lower'], fields['upper']
    bounds = Bounds(-math.inf if lower is None else float(lower), math.inf if upper is None else float(upper))
    if bounds.lower > bounds.upper:
        raise _NotARuleError(f'{what} has a lower bound {lower!r} above its upper bound {upper!r}')
    return bounds


def _text(content: Any) -> str:
    return '' if content is None else str(content)


def _sentence(content: Any, what: str) -> str:
    text = _text(content)
    try:
        text.format(value=1.0, median=1.0, name='')
    except (ValueError, KeyError, IndexError, AttributeError, TypeError) as error:
        raise _NotARuleError(
            f'{what} says {text!r}, which cannot be filled in ({error}); {{value}}, {{median}} and {{name}} can be used'
        ) from error
    return text
