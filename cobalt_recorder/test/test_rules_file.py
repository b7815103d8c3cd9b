"""A file of rules is understood whole, or refused in one sentence that says how to mend it."""

from pathlib import Path

import pytest
import yaml

from cobalt_recorder.metrics.catalogue import metric_names
from cobalt_recorder.rules_file import load_rules, shipped_rules
from cobalt_teleop.core.episode import Outcome
from cobalt_teleop.core.errors import CobaltError


def load(tmp_path, text):
    path = tmp_path / 'rules.yaml'
    path.write_text(text if isinstance(text, str) else yaml.safe_dump(text))
    return load_rules(path)


def refusal(tmp_path, text):
    with pytest.raises(CobaltError) as refused:
        load(tmp_path, text)
    sentence = str(refused.value)
    assert 'rules.yaml are not understood' in sentence
    assert '\n' not in sentence
    assert sentence.endswith('.')
    return sentence


def rules(**metrics):
    return {'outcomes': {}, 'metrics': metrics}


def rule(**changes):
    return {'accept': {'upper': 1}, 'says': 'so it is'} | changes


def test_the_shipped_rules_know_every_outcome():
    shipped = load_rules(shipped_rules())
    assert set(shipped.outcomes) == set(Outcome.__members__)
    assert shipped.metrics
    assert shipped.z_scores


def test_what_is_left_out(tmp_path):
    found = load(tmp_path, {**rules(rate=rule()), 'z_scores': {'robot_*': rule()}})
    (metric,), (z_score,) = found.metrics, found.z_scores
    assert (metric.review, metric.relative_to, metric.unknown, metric.tip) == (None, '', 'REVIEW', '')
    assert (metric.accept.lower, metric.accept.upper) == (float('-inf'), 1.0)
    assert (z_score.review, z_score.episodes) == (None, 20)


@pytest.mark.parametrize('name', ['dropped/*', 'dropped/camera/*', 'dropped/control_step', 'frames/front', '*_sparc'])
def test_names_and_patterns_that_fit(tmp_path, name):
    assert load(tmp_path, rules(**{name: rule()})).metrics[0].pattern == name


def test_a_metric_that_is_none_is_told_with_those_that_are(tmp_path):
    sentence = refusal(tmp_path, rules(robot_spark=rule()))
    assert "'robot_spark' is no metric (is it 'robot_sparc'?)" in sentence
    for name in metric_names():
        assert name in sentence


@pytest.mark.parametrize(
    ('content', 'words'),
    [
        ('', "the file lacks 'outcomes'"),
        ('outcomes: {}', "the file lacks 'metrics'"),
        ('[]', 'the file holds []'),
        ('{', 'they are not YAML'),
        ('- 1\n- {', 'they are not YAML'),
        ({**rules(), 'metric': {}}, "the file has 'metric', but may only have outcomes, metrics, z_scores"),
        ({'outcomes': {'WON': {'verdict': 'ACCEPT'}}, 'metrics': {}}, "'WON' is no outcome; outcomes are UNKNOWN"),
        ({'outcomes': {'SUCCESS': {'verdict': 'FINE'}}, 'metrics': {}}, 'verdicts are ACCEPT, REVIEW, REJECT'),
        (rules(rate={'says': 'a'}), "lacks 'accept'"),
        (rules(rate='fast'), "holds 'fast'"),
        (rules(rate=rule(accept={'most': 3})), "has 'most', but may only have lower, upper"),
        (rules(rate=rule(accept={'upper': 'three'})), "the upper bound 'three', which is not a number"),
        (rules(rate=rule(accept={'upper': True})), 'not a number'),
        (rules(rate=rule(accept={'lower': 2, 'upper': 1})), 'a lower bound 2 above its upper bound 1'),
        (rules(rate=rule(relative_to='contrl_rate')), "is it 'control_rate'?"),
        (rules(rate=rule(unknown='MAYBE')), "'MAYBE' is no verdict"),
        (rules(rate=rule(says='{speed}')), '{value}, {median} and {name} can be used'),
        (rules(rate=rule(says='{')), 'can be used'),
        ({**rules(), 'z_scores': {'rate': rule(episodes=1)}}, 'a whole number of at least 2'),
    ],
)
def test_what_is_no_rule_is_told_in_one_sentence(tmp_path, content, words):
    assert words in refusal(tmp_path, content)


def test_missing_rules_are_named(tmp_path):
    with pytest.raises(CobaltError, match='cannot be read'):
        load_rules(tmp_path / 'none.yaml')


def test_hash_changes_with_the_rules(tmp_path):
    before = load(tmp_path, 'outcomes: {}\nmetrics: {}\n').hash
    assert load(tmp_path, 'outcomes: {}\nmetrics: {}\n# stricter\n').hash != before


def test_the_documentation_names_every_metric():
    text = (Path(__file__).parents[2] / 'docs' / 'quality.md').read_text(encoding='utf-8')
    for name in metric_names():
        written = name.replace('/*', '/<')
        assert f'`{written}' in text, name
