"""Who pressed the stop that is on, also when messages cross."""

from types import SimpleNamespace

from cobalt_teleop.bridge.door.guest import Role
from cobalt_teleop.bridge.operators.stop_record import StopRecord

SUE = SimpleNamespace(session_id='s', operator='Sue', role=Role.SUPERVISOR)
BO = SimpleNamespace(session_id='b', operator='Bo', role=Role.OPERATOR)


def record_of(*pressers, stopped_by=''):
    record = StopRecord()
    record.follow('', in_sight=False)
    for presser in pressers:
        record.note(presser)
    if stopped_by:
        record.follow(stopped_by, in_sight=True)
    return record


def test_a_supervisor_who_presses_after_another_counts_too():
    record = record_of(BO, stopped_by='Bo')
    assert record.session() == 'b' and not record.supervisor
    assert record.note(SUE) and not record.note(SUE)
    assert record.session() == 'b' and record.supervisor == 'Sue'


def test_a_released_stop_is_forgotten():
    record = record_of(SUE, stopped_by='Sue')
    record.follow('', in_sight=True)
    assert not record.supervisor and record.known('env_0') is None


def test_a_press_that_the_host_never_had_does_not_colour_a_later_stop():
    record = record_of(SUE)
    record.follow('', in_sight=False)  # its host was gone, and has come back without a stop
    record.note(BO)
    record.follow('Bo', in_sight=True)
    assert not record.supervisor


def test_a_press_is_known_before_the_host_has_told_of_it():
    record = record_of(SUE)
    record.follow('', in_sight=True)  # told before it heard of the press
    record.follow('Sue', in_sight=True)
    assert record.supervisor == 'Sue' and record.session() == 's'


def test_a_stop_goes_on_while_its_host_is_out_of_sight_and_over_a_restart():
    record = record_of(BO, SUE, stopped_by='Bo')
    record.follow('Bo', in_sight=False)
    later = StopRecord()
    later.restore(record.known('env_0'))
    later.follow('Bo', in_sight=False)
    assert later.supervisor == 'Sue' and later.session() == 'b'
    later.follow('Eve', in_sight=False)  # another stop
    assert not later.supervisor and not later.session()
