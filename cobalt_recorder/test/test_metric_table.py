from dataclasses import replace

from cobalt_recorder.metric_table import metric_lines
from cobalt_recorder.quality_rules import JudgedMetric

NAN = float('nan')
RATE = JudgedMetric(name='rate', subject='DATA', value=19.987, unit='Hz', lower=19.6, upper=20.4, passed=True)
LENGTH = JudgedMetric(
    name='robot_path_length', part='left', subject='ROBOT', value=0.61234, unit='m', lower=NAN, upper=NAN, passed=True
)


def words(lines):
    return [line.split() for line in lines]


def test_metrics_stand_under_their_subject():
    assert words(metric_lines([RATE, LENGTH])) == [
        ['what', 'the', 'robot', 'did'],
        ['robot_path_length', '0.6123', 'm'],
        [],
        ['the', 'recording'],
        ['rate', '19.99', 'Hz', 'at', 'least', '19.6,', 'at', 'most', '20.4'],
    ]


def test_what_fails_is_marked_and_what_is_unknown_says_why():
    missing = replace(LENGTH, value=NAN, reason='nothing was driven', passed=False)
    assert metric_lines([missing])[1].startswith('! robot_path_length')
    assert metric_lines([missing])[1].endswith('m      nothing was driven')


def test_two_arms_are_told_apart():
    lines = metric_lines([LENGTH, replace(LENGTH, part='right')])
    assert [line.split()[1] for line in lines[1:]] == ['[left]', '[right]']
