"""What the phone's surface says."""

import math

import pytest
from page_module import evaluate

MOVING = {'level': 'move', 'title': 'Moving', 'words': 'You drive.'}
PART = {'name': 'arm', 'hold': 0, 'hold_text': '', 'limits': [], 'gripper_target': 1.0}
HELD = {'route': 'ar', 'held': True, 'engaged': True, 'letGo': '', 'tracked': True}
CALM = HELD | {'bar': '', 'motion': MOVING, 'edge': False}


def pad(**changes):
    known = CALM | {'part': PART | changes.pop('part', {})} | changes
    return evaluate('devices/phone_state.js', 'return m.padState(known)', known=known)


@pytest.mark.parametrize(
    ('changes', 'state', 'title'),
    [
        ({}, 'moving', 'Moving'),
        ({'held': False, 'engaged': False}, 'rest', 'Hold here to move'),
        ({'held': False, 'engaged': False, 'route': 'touch'}, 'rest', 'Drag here to move'),
        ({'tracked': False}, 'lost', 'The phone has lost its place'),
        ({'part': {'hold': 9, 'hold_text': 'the device jumped'}}, 'holding', 'Let go, then press again'),
        ({'bar': 'Ada has control.', 'held': False, 'engaged': False}, 'holding', 'You watch'),
        ({'part': {'hold': 15, 'hold_text': 'you had no live picture'}}, 'holding', 'Let go, then press again'),
        ({'part': {'hold': 13, 'hold_text': 'resetting'}}, 'holding', 'Holding'),
        ({'engaged': False, 'letGo': 'this page is hidden'}, 'holding', 'Let go, then press again'),
        ({'engaged': False}, 'holding', 'Nothing moves now'),
        ({'part': {'limits': ['speed of the arm']}}, 'limit', 'Speed of the arm'),
        ({'edge': True, 'motion': {'level': 'hold', 'title': 'At the table', 'words': ''}}, 'limit', 'At the table'),
        ({'motion': {'level': 'stop', 'title': 'Emergency stop', 'words': ''}}, 'stopped', 'Emergency stop'),
    ],
)  # fmt: skip
def test_it_says_what_holds_the_arm_and_what_to_do(changes, state, title):
    said = pad(**changes)
    assert (said['state'], said['title']) == (state, title)


def test_what_to_do_is_said_once():
    said = pad(part={'hold': 3, 'hold_text': 'commands stopped arriving; let go and press again'})
    assert said['words'] == 'Commands stopped arriving.'
    assert pad(part={'hold': 10, 'hold_text': 'let go, then press again'})['words'] == ''


def test_it_says_where_forward_lies():
    angles = {0.05: 'ahead', math.pi / 4: '45° left', -1.0: '57° right', 3.0: 'behind'}
    said = evaluate('devices/phone_state.js', 'return offs.map(m.forwardWords)', offs=list(angles))
    assert said == list(angles.values())
