"""A press drives only if it was seen to begin."""

from hypothesis import given
from hypothesis import strategies as st

from cobalt_devices.fresh_press import FreshPress


class Clutch:
    def __init__(self):
        self.press = FreshPress()

    def drives(self, engaged, number):
        return self.press.may_drive(engaged=engaged, number=number)


def test_a_press_after_a_rest_drives_until_it_is_let_go():
    clutch = Clutch()
    assert [clutch.drives(*said) for said in ((False, 6), (True, 7), (True, 7), (False, 7), (True, 8))] == [
        False, True, True, False, True
    ]  # fmt: skip


def test_what_is_pressed_when_it_is_first_heard_does_not_drive_until_it_is_pressed_anew():
    clutch = Clutch()
    assert not any(clutch.drives(True, 7) for _ in range(5))
    assert clutch.drives(True, 8), 'the release between them was lost on the way'
    clutch = Clutch()
    assert not clutch.drives(True, 7)
    assert not clutch.drives(False, 7)
    assert clutch.drives(True, 8)


def test_a_press_that_was_let_go_does_not_come_back():
    clutch = Clutch()
    clutch.drives(False, 6)
    assert clutch.drives(True, 7)
    assert not clutch.drives(False, 7)
    assert not clutch.drives(True, 7)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3))))
def test_whatever_drives_began_under_our_eyes(samples):
    clutch = Clutch()
    drove = False
    for index, (engaged, number) in enumerate(samples):
        drives = clutch.drives(engaged, number)
        if drives:
            assert engaged and index > 0
            assert samples[index - 1][1] != number or drove
        drove = drives
