"""What the boards in a headset say."""

import math

import pytest
from page_module import evaluate

MOVING = {'level': 'move', 'title': 'Moving', 'words': 'You drive.'}
STOPPED = {'level': 'stop', 'title': 'Emergency stop', 'words': ''}
PART = {'name': 'arm', 'hold': 0, 'hold_text': '', 'limits': [], 'gripper_target': 1.0}
CALM = {
    'hand': 'right', 'arm': '', 'source': 'tracked', 'held': True, 'takesGripper': False, 'engaged': True, 'letGo': '',
    'motion': MOVING, 'edge': False, 'part': PART,
}  # fmt: skip
CLEAR = {'hands': [{'state': 'moving'}], 'stopping': 0, 'stale': False, 'motion': MOVING}
LOST = {'state': 'lost', 'title': 'Right controller lost', 'words': ''}


@pytest.mark.parametrize(
    ('changes', 'state', 'title'),
    [
        ({}, 'moving', 'Moving'),
        ({'held': False, 'engaged': False}, 'rest', 'Squeeze to move'),
        ({'source': 'none'}, 'absent', 'No right controller'),
        ({'source': 'bare'}, 'absent', 'Take the right controller'),
        ({'source': 'lost'}, 'lost', 'Right controller lost'),
        ({'part': PART | {'hold': 4, 'hold_text': 'tracking was lost'}}, 'holding', 'Let go, then press again'),
        ({'engaged': False, 'letGo': 'VR has ended'}, 'holding', 'Let go, then press again'),
        ({'engaged': False}, 'holding', 'Nothing moves now'),
        ({'part': PART | {'limits': ['speed of the arm']}}, 'limit', 'Speed of the arm'),
        ({'motion': STOPPED, 'source': 'lost'}, 'stopped', 'Emergency stop'),
    ],
)
def test_it_says_how_a_hand_is_and_what_to_do(changes, state, title):
    said = evaluate('devices/vr_state.js', 'return m.handState(known)', known=CALM | changes)
    assert (said['state'], said['title']) == (state, title)
    assert said['words']


def test_it_says_which_arm_follows_which_hand_and_who_has_the_gripper():
    said = evaluate(
        'devices/vr_state.js',
        'return [m.handState(rest).words, m.handState(taking).words]',
        rest=CALM | {'held': False, 'arm': 'left', 'hand': 'left'},
        taking=CALM | {'takesGripper': True},
    )
    assert said == [
        'The left arm follows your left hand. Let go to stop.',
        'Squeeze the trigger to take the gripper over.',
    ]


@pytest.mark.parametrize(
    ('changes', 'title'),
    [
        ({}, None),
        ({'hands': [LOST]}, 'Right controller lost'),
        ({'hands': [LOST, LOST]}, 'Controllers lost'),
        ({'hands': [LOST], 'stopping': 0.3}, 'Emergency stop'),
        ({'stopping': 0.3, 'motion': STOPPED}, None),
        ({'stale': True}, 'The picture stands still'),
    ],
)
def test_large_words_lie_over_the_picture_only_for_what_cannot_wait(changes, title):
    said = evaluate('devices/vr_state.js', 'return m.bannerWords(known)', known=CLEAR | changes)
    assert (said and said['title']) == title


def test_it_says_how_far_forward_was_turned():
    angles = {0.0: 'straight', math.radians(15): '15° left', -math.pi / 2: '90° right'}
    said = evaluate('devices/vr_state.js', 'return turns.map(m.turnWords)', turns=list(angles))
    assert said == list(angles.values())
