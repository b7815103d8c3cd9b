"""What the buttons of an episode offer."""

import pytest
from page_module import evaluate

EPISODE = {'id': 'E1', 'phase': 'running', 'outcome': 'unknown', 'practice': False}


def offered(episode, *, yours=True, barred=''):
    """Returns the labels of the buttons that can be pressed, and each button's sentence."""
    body = 'return m.episodeButtons({episode, yours, barred})'
    buttons = evaluate('episode_buttons.js', body, episode=episode, yours=yours, barred=barred)
    return {one['label'] for one in buttons.values() if one['enabled']}, {n: one['title'] for n, one in buttons.items()}


@pytest.mark.parametrize(
    ('changes', 'labels'),
    [
        ({}, {'Start over', 'Success', 'Discard'}),
        ({'practice': True}, {'Start over', 'Success', 'End practice'}),
        (
            {'phase': 'ended', 'outcome': 'failure'},
            {'Start', 'Practise without recording', 'Mark success', 'Discard episode'},
        ),
        ({'phase': 'ended', 'outcome': 'success'}, {'Start', 'Practise without recording', 'Discard episode'}),
        ({'phase': 'ended', 'outcome': 'discarded'}, {'Start', 'Practise without recording', 'Mark success'}),
        ({'phase': 'ended', 'outcome': 'success', 'practice': True}, {'Start', 'Practise without recording'}),
        ({'phase': 'idle', 'id': ''}, {'Start', 'Practise without recording'}),
    ],
)
def test_only_what_does_something_is_offered(changes, labels):
    assert offered(EPISODE | changes)[0] == labels


def test_who_does_not_drive_is_told_why_nothing_can_be_pressed():
    labels, titles = offered(EPISODE, yours=False)
    assert labels == {'Start over'} and titles['success'] == 'Take control first.'
    labels, titles = offered(EPISODE, barred='Ada has control.')
    assert not labels and set(titles.values()) == {'Ada has control.'}
    assert offered(None)[1]['discard'] == 'No episode is running.'
