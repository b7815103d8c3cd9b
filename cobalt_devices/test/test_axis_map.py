import pytest

from cobalt_devices.axis_map import AxisMapError, AxisUse, axis_use

AXES = ('tx', 'ty', 'dpad_x')


@pytest.mark.parametrize(
    ('words', 'wanted'),
    [
        ('tx', AxisUse(0, 1.0)),
        ('-ty', AxisUse(1, -1.0)),
        ('+ty', AxisUse(1, 1.0)),
        ('0.6*dpad_x', AxisUse(2, 0.6)),
        (' - 0.25 * ty ', AxisUse(1, -0.25)),
        ('.5*tx', AxisUse(0, 0.5)),
        ('', None),
    ],
)
def test_words_name_an_axis_a_sign_and_a_factor(words, wanted):
    assert axis_use('forward', words, AXES) == wanted


@pytest.mark.parametrize('words', ['tz', '--tx', 'tx*2', '2tx', 'tx ty', '1e3*tx', '*tx', '-', 'true', '99*tx'])
def test_other_words_are_refused_with_the_name_of_the_parameter(words):
    with pytest.raises(AxisMapError, match="'forward'"):
        axis_use('forward', words, AXES)


def test_a_refusal_names_the_axes_that_there_are():
    with pytest.raises(AxisMapError, match='tx, ty, dpad_x'):
        axis_use('yaw', 'left_x', AXES)
