"""What a headset's controller says, frame by frame."""

import pytest
from page_module import evaluate

FRAMES = """
const button = (value) => ({ value, pressed: value > 0.5 });
const buttons = ({ trigger = 0, grip = 0, upper = 0 }) => [trigger, grip, 0, 0, 0, upper].map(button);
const [position, straight, matrix] = [{ x: 1, y: 2, z: 3 }, { x: 0, y: 0, z: 0, w: 1 }, []];
const controller = new m.VrController('right');
const gamepad = {};
const source = { handedness: 'right', gripSpace: 'right grip', gamepad };
const told = [];
for (const now of frames) {
  if (now.settle) controller.settle();
  Object.assign(gamepad, { buttons: now.bare ? [] : buttons(now), axes: [0, 0, now.stick ?? 0, 0] });
  const pose = { transform: { position, orientation: now.turn ?? straight, matrix } };
  pose.emulatedPosition = Boolean(now.guessed);
  const frame = { getPose: (space) => (space === 'right grip' && !now.gone ? pose : null) };
  const news = controller.read(now.off ? [] : [source], frame, null, !now.adrift);
  const { place, held, trigger, stopping } = controller;
  told.push({ ...news, place, held, trigger, stopping, pose: controller.pose });
}
return told;
"""


def frames(*states):
    return evaluate('devices/vr_controller.js', FRAMES, frames=list(states))


def squeezes(*states):
    return [told['squeezed'] for told in frames(*states)]


def test_a_squeeze_counts_once_and_a_grip_that_trembles_in_between_stays_as_it_was():
    grips = [0.0, 0.5, 0.7, 0.5, 0.7, 0.3, 0.7]
    assert squeezes(*({'grip': grip} for grip in grips)) == [False, False, True, False, False, False, True]
    assert [told['held'] for told in frames({'grip': 0.7}, {'grip': 0.5}, {'grip': 0.3})] == [True, True, False]


@pytest.mark.parametrize(
    'before',
    [[], [{'grip': 0}, {'off': True}], [{'grip': 0}, {'settle': True, 'grip': 1}], [{'grip': 0}, {'bare': True}]],
    ids=['first sight', 'switched off', 'a menu', 'bare hand'],
)
def test_what_was_squeezed_before_it_was_seen_is_no_squeeze(before):
    assert not any(squeezes(*before, {'grip': 1}, {'grip': 1}))
    assert squeezes(*before, {'grip': 1}, {'grip': 0}, {'grip': 1})[-1]


def test_a_stick_counts_once_a_push_and_to_the_left_is_more():
    sticks = [0.0, -0.9, -0.9, -0.5, -0.9, 0.1, 0.9, 0.0]
    told = frames(*({'stick': stick} for stick in sticks))
    assert [news['steps'] for news in told] == [0, 1, 0, 0, 0, 0, -1, 0]
    assert [news['steps'] for news in frames({'stick': 0.9}, {'stick': 0.9})] == [0, 0]


@pytest.mark.parametrize('state', [{'guessed': True}, {'gone': True}, {'adrift': True}])
def test_a_place_that_is_guessed_or_not_told_is_none(state):
    seen, lost, again = frames({}, {'grip': 1, **state}, {'grip': 1})
    assert (seen['place'], lost['place'], again['place']) == ('tracked', 'lost', 'tracked')
    assert lost['pose'] is None and lost['squeezed'], 'the hand is told that it cannot be taken up'
    assert not again['squeezed'], 'and has to squeeze again'


def test_places_are_told_in_axes_of_rep_103_and_turns_have_no_leaps():
    half = {'x': 0, 'y': 0.6, 'z': 0, 'w': 0.8}
    told = frames({'turn': half}, {'turn': {axis: -value for axis, value in half.items()}})
    assert told[0]['pose'] == pytest.approx([-3, -1, 2, 0, 0, 0.6, 0.8])
    assert told[1]['pose'] == pytest.approx(told[0]['pose'])


def test_a_trigger_snaps_to_its_ends_and_the_upper_button_is_the_stop():
    told = frames({'trigger': 0.02}, {'trigger': 0.5}, {'trigger': 0.98, 'upper': 1})
    assert [news['trigger'] for news in told] == [0, 0.5, 1]
    assert [news['stopping'] for news in told] == [False, False, True]


def test_a_hand_without_a_grip_button_is_bare():
    assert [news['place'] for news in frames({'bare': True}, {'off': True})] == ['bare', 'none']
