from cobalt_devices.status_line import HOLD_REASONS, status_line
from cobalt_interfaces.msg import PartStep
from cobalt_teleop.core.command import HoldReason
from cobalt_teleop.core.keyboard_actions import BITS

CALM = {'workcell_id': 'env_0', 'buttons': 0, 'has_lease': True, 'holder': 'Ada', 'refusal': '', 'hold_reason': None}


def test_every_reason_to_hold_has_words():
    assert set(HOLD_REASONS) == set(HoldReason)


def test_it_tells_keys_control_and_why_the_arm_holds(monkeypatch):
    monkeypatch.setenv('COLUMNS', '120')
    line = status_line(**CALM | {'buttons': BITS['away'], 'hold_reason': PartStep.HOLD_STALE})
    for words in ('env_0', 'you have control', 'commands came too late', 'keys: away'):
        assert words in line


def test_it_tells_who_else_has_control():
    assert 'Ada has control' in status_line(**CALM | {'has_lease': False})
    assert 'no control: Ada holds control' in status_line(**CALM | {'has_lease': False, 'refusal': 'Ada holds control'})
    assert 'waiting for a workcell' in status_line(**CALM | {'workcell_id': ''})


def test_it_is_never_wider_than_the_terminal(monkeypatch):
    monkeypatch.setenv('COLUMNS', '40')
    assert len(status_line(**CALM | {'hold_reason': PartStep.HOLD_EMERGENCY_STOP})) < 40


def test_names_of_others_do_not_steer_the_terminal():
    line = status_line(**CALM | {'has_lease': False, 'holder': 'A\x1b[2J\nda'})
    assert 'A [2J da has control' in line
    assert line.isprintable()


def test_who_is_asked_for_control_sees_by_whom_and_how_to_give_it():
    assert 'Grace asks for control: press nothing for 3 s to give it' in status_line(**CALM | {'requested_by': 'Grace'})
    assert 'asks' not in status_line(**CALM | {'requested_by': 'Grace', 'has_lease': False})
