from pathlib import Path

import pytest

from cobalt_recorder.accepted_episodes import AcceptedEpisodes
from cobalt_recorder.metrics.measure import Measurement
from cobalt_recorder.quality_rules import judge
from cobalt_recorder.rules_file import load_rules
from cobalt_teleop.core.episode import Outcome

RULES = load_rules(Path(__file__).parents[1] / 'config' / 'quality_rules.yaml')

GOOD = {
    'success': 1.0,
    'success_seen': 1.0,
    'duration': 12.0,
    'control_rate': 20.0,
    'rate': 20.0,
    'longest_gap': 55.0,
    'ticks_missed': 0.0,
    'stamps_backwards': 0.0,
    'rows': 240.0,
    'rows_missing': 0.0,
    'dropped/control_step': 0.0,
    'dropped/camera/front/video': 0.0,
    'dropped/arm/teleop_command': 3.0,
    'frames/front': 240.0,
    'frames_missing/front': 0.0,
    'frames_undecodable/front': 0.0,
    'resets': 0.0,
    'limit_share': 0.1,
    'rejected_commands': 0.0,
    'command_latency': 60.0,
    'frame_age': 90.0,
    'samples_lost': 0.0,
    'robot_path_length': 0.6,
    'robot_jitter': 0.8,
}


def verdict(outcome='SUCCESS', faults=(), accepted=None, **changes):
    metrics = {**GOOD, **{name.replace('__', '/'): value for name, value in changes.items()}}
    return judge(
        outcome, [Measurement(name, value) for name, value in metrics.items()], RULES, accepted=accepted, faults=faults
    )


def test_good_data_of_a_success_is_accepted_without_a_reason():
    found = verdict()
    assert (found.verdict, found.reasons, found.tip) == ('ACCEPT', (), '')
    assert all(metric.passed for metric in found.metrics)


@pytest.mark.parametrize('outcome', [outcome.name for outcome in Outcome if outcome is not Outcome.SUCCESS])
def test_nothing_but_a_success_is_ever_accepted(outcome):
    expected = 'REVIEW' if outcome == 'UNKNOWN' else 'REJECT'
    found = verdict(outcome)
    assert found.verdict == expected
    assert found.reasons


@pytest.mark.parametrize(
    ('change', 'expected', 'words'),
    [
        ({'rows_missing': 1.0}, 'REJECT', '1 ticks of the episode are not in the bag'),
        ({'success_seen': 0.0}, 'REVIEW', 'never saw one'),
        ({'duration': 0.5}, 'REVIEW', 'only 0.50 s'),
        ({'duration': 0.1}, 'REJECT', 'only 0.10 s'),
        ({'rate': 19.0}, 'REVIEW', '19.00 Hz'),
        ({'rate': 10.0}, 'REJECT', '10.00 Hz'),
        ({'ticks_missed': 0.05}, 'REVIEW', '5.0% of the control steps'),
        ({'ticks_missed': 0.5}, 'REJECT', '50.0% of the control steps'),
        ({'longest_gap': 900.0}, 'REVIEW', 'stood still for 900 ms'),
        ({'stamps_backwards': 1.0}, 'REJECT', 'goes back'),
        ({'dropped__control_step': 2.0}, 'REJECT', '2 messages of control_step were lost'),
        ({'dropped__camera__front__video': 2.0}, 'REVIEW', 'camera/front/video'),
        ({'dropped__arm__teleop_command': 500.0}, 'REVIEW', 'arm/teleop_command'),
        ({'frames_missing__front': 3.0}, 'REVIEW', 'missing from front'),
        ({'frames_undecodable__front': 30.0}, 'REJECT', 'of front cannot be decoded'),
        ({'rate': float('nan')}, 'REVIEW', 'rate could not be computed'),
        ({'resets': 1.0}, 'REVIEW', 'in the middle of the episode'),
        ({'limit_share': 0.8}, 'REVIEW', 'for 80% of the time the arm could not reach'),
        ({'command_latency': 700.0}, 'REVIEW', 'commands took 700 ms'),
        ({'frame_age': 900.0}, 'REVIEW', 'pictures were 900 ms old'),
        ({'samples_lost': 0.5}, 'REVIEW', '50% of the operator'),
    ],
)
def test_each_fault_has_its_weight_and_its_words(change, expected, words):
    found = verdict(**change)
    assert found.verdict == expected
    assert words in ' '.join(found.reasons)
    assert not all(metric.passed for metric in found.metrics)


def test_the_worst_reason_comes_first_and_gives_the_tip():
    found = verdict(rate=19.0, rows_missing=4.0)
    assert found.verdict == 'REJECT'
    assert found.reasons[0].startswith('4 ticks')
    assert 'faster disk' in found.tip


def test_the_reason_of_an_outcome_goes_on_with_why():
    found = judge('ABORTED', [], RULES, note='the host went silent')
    assert found.reasons == ('the episode was broken off: the host went silent',)
    assert judge('SUCCESS', [], RULES, note='the goal is reached').reasons == ()


def test_a_fault_of_the_file_rejects():
    assert verdict(faults=['the file is damaged']).verdict == 'REJECT'


def test_a_fault_says_enough_of_what_could_not_be_computed():
    found = verdict(faults=['it holds no row'], rate=float('nan'), duration=0.1)
    assert found.reasons == ('it holds no row', 'it lasts only 0.10 s')


def test_bounds_relative_to_another_metric_are_told_in_its_unit():
    rate = next(metric for metric in verdict(control_rate=50.0, rate=50.0).metrics if metric.name == 'rate')
    assert (rate.lower, rate.upper, rate.passed) == (49.0, 51.0, True)


@pytest.mark.parametrize('name', ['success_seen', 'limit_share', 'command_latency', 'frame_age', 'samples_lost'])
def test_what_an_episode_need_not_have_may_be_unknown(name):
    assert verdict(**{name: float('nan')}).verdict == 'ACCEPT'


def accepted(count):
    return AcceptedEpisodes(
        {('robot_path_length', ''): 0.5 + 0.01 * (index % 20), ('robot_jitter', ''): 0.8} for index in range(count)
    )


def test_the_unusual_among_accepted_episodes_is_looked_at():
    assert verdict(accepted=accepted(40)).verdict == 'ACCEPT'
    found = verdict(accepted=accepted(40), robot_path_length=2.0)
    assert found.verdict == 'REVIEW'
    assert found.reasons == ('the tool travelled 2.00 m, in accepted episodes 0.59 m',)
    assert found.tip == 'Go straight to the goal, with fewer detours.'
    length = next(metric for metric in found.metrics if metric.name == 'robot_path_length')
    assert length.upper == pytest.approx(0.595 + 5 * 1.4826 * 0.05)


def test_few_accepted_episodes_tell_nothing():
    assert verdict(accepted=accepted(19), robot_path_length=2.0).verdict == 'ACCEPT'
    assert verdict(accepted=None, robot_path_length=2.0).verdict == 'ACCEPT'


def test_with_two_arms_a_reason_says_which():
    metrics = [Measurement('limit_share', 0.9, part='left'), Measurement('limit_share', 0.1, part='right')]
    (reason,) = judge('SUCCESS', metrics, RULES).reasons
    assert reason.startswith('left: for 90%')
