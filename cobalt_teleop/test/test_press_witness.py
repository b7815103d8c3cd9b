"""Which presses a bridge vouches for."""

from cobalt_interfaces.msg import DeviceSample
from cobalt_teleop.bridge.operators.press_witness import YOUNG_S, PressWitness, before_press


def test_a_press_is_vouched_for_until_it_was_told_and_never_again():
    witness = PressWitness()
    assert witness.vouches_for('phone', 'arm', 7, 10.0)
    assert witness.vouches_for('phone', 'arm', 7, 10.1), 'nobody heard of it yet'
    witness.note_told('phone', 'arm')
    assert not witness.vouches_for('phone', 'arm', 7, 10.2), 'it goes on, perhaps under another lease'
    assert witness.vouches_for('phone', 'arm', 8, 10.3)
    assert witness.vouches_for('phone', 'left', 8, 10.3), 'another arm is another press'


def test_a_press_that_nobody_heard_of_for_long_is_an_old_one():
    witness = PressWitness()
    assert witness.vouches_for('phone', 'arm', 7, 10.0)
    assert not witness.vouches_for('phone', 'arm', 7, 10.1 + YOUNG_S)
    assert witness.vouches_for('phone', 'arm', 8, 10.2 + YOUNG_S)


def test_before_its_press_a_device_was_at_rest():
    for number, before in ((7, 6), (0, 2**32 - 1)):
        press = DeviceSample(engaged=True, clutch_epoch=number, sequence=3, lease_id='lease')
        rest = before_press(press)
        assert (rest.engaged, rest.clutch_epoch, rest.sequence, rest.lease_id) == (False, before, 3, 'lease')
        assert press.engaged and press.clutch_epoch == number
