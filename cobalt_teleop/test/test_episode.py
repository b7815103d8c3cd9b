import pytest

from cobalt_teleop.core.episode import Episode, EpisodeRefusedError, EpisodeRequest, Outcome, OutcomeSource, Phase
from cobalt_teleop.core.ulid import new_ulid


def request(**changes):
    values = {
        'episode_id': 'E1', 'task': 'lift', 'instruction': '', 'operator_id': '', 'policy_id': '', 'seed': 1,
        'round': 0, 'time_limit_s': 30.0, 'require_recording': True,
    }  # fmt: skip
    return EpisodeRequest(**(values | changes))


def running():
    episode = Episode(prepare_timeout_s=5.0, finish_timeout_s=10.0)
    episode.prepare(request(), 0.0)
    episode.run(step=7, stamp_ns=1, now_s=1.0)
    return episode


def test_the_whole_way():
    episode = running()
    assert episode.running and episode.episode_id == 'E1' and episode.first_step == 7
    episode.end(Outcome.SUCCESS, OutcomeSource.PREDICATE, 'done', step=50, stamp_ns=2, now_s=4.0)
    assert episode.phase is Phase.ENDING and episode.elapsed_s(99.0) == 3.0 and episode.episode_id == 'E1'
    episode.finish()
    assert episode.phase is Phase.ENDED and episode.episode_id == ''
    episode.prepare(request(episode_id='E2'), 5.0)
    assert episode.outcome is Outcome.UNKNOWN and episode.last_step == 0


def test_a_second_start_is_refused_while_one_goes_on():
    with pytest.raises(EpisodeRefusedError, match='running'):
        running().prepare(request(), 2.0)


def test_the_recorder_has_its_time_and_no_more():
    episode = Episode(prepare_timeout_s=5.0)
    episode.prepare(request(), 0.0)
    assert not episode.overdue(4.9) and episode.overdue(5.0)
    episode.refuse('no recorder', 9)
    assert episode.phase is Phase.ENDED and episode.outcome is Outcome.ABORTED and episode.elapsed_s(9.0) == 0.0


def test_the_time_limit_counts_from_the_first_row():
    episode = running()
    assert not episode.out_of_time(30.9) and episode.out_of_time(31.0)


def test_a_label_needs_the_ended_episode():
    episode = running()
    with pytest.raises(EpisodeRefusedError, match='running'):
        episode.label('E1', Outcome.FAILURE, OutcomeSource.REVIEWER, '')
    episode.end(Outcome.SUCCESS, OutcomeSource.PREDICATE, 'done', step=9, stamp_ns=2, now_s=4.0)
    episode.finish()
    with pytest.raises(EpisodeRefusedError, match='E0'):
        episode.label('E0', Outcome.FAILURE, OutcomeSource.REVIEWER, '')
    episode.label('E1', Outcome.FAILURE, OutcomeSource.REVIEWER, 'the cube slipped')
    assert episode.outcome is Outcome.FAILURE and episode.end_reason == 'the cube slipped'


def test_ulids_sort_by_time_and_differ():
    early, late = new_ulid(1_700_000_000_000), new_ulid(1_800_000_000_000)
    assert early < late and len(early) == 26 and new_ulid(5) != new_ulid(5)
    assert new_ulid(1469918176385).startswith('01ARYZ6S41')
