"""What the page says when control is asked for and handed over."""

import pytest
from page_module import evaluate

CONTROL = {'yours': False, 'holder': '', 'holds_by': '', 'requested_by': '', 'you_ask': False}
MINE = CONTROL | {'yours': True, 'holder': 'Ada'}
ADAS = CONTROL | {'holder': 'Ada'}
ASKED = ADAS | {'requested_by': 'Grace', 'you_ask': True}


@pytest.mark.parametrize(
    ('before', 'now', 'said'),
    [
        (CONTROL, MINE, ''),
        (MINE, MINE | {'requested_by': 'Grace'}, 'Grace asks for control: "Hand over" gives it.'),
        (MINE | {'requested_by': 'Grace'}, MINE | {'requested_by': 'Grace'}, ''),
        (MINE | {'requested_by': 'Grace'}, CONTROL | {'holder': 'Grace'}, 'Grace has control now.'),
        (MINE, CONTROL, ''),
        (ADAS, ASKED, 'Ada has been asked for control.'),
        (ASKED, ASKED, ''),
        (ASKED, CONTROL | {'yours': True, 'holder': 'Grace'}, 'You have control now: Ada gave it.'),
        (ADAS, CONTROL, ''),
    ],
)
def test_each_side_hears_what_came_of_it(before, now, said):
    assert evaluate('control_news.js', 'return m.newsOfControl(before, now)', before=before, now=now) == said


def test_who_asks_a_device_without_a_page_hears_when_it_gives_control():
    before, now = (one | {'holds_by': 'a tracker'} for one in (ADAS, ASKED))
    said = evaluate('control_news.js', 'return m.newsOfControl(before, now)', before=before, now=now)
    assert said == 'Ada has been asked for control: it comes once nothing was pressed there for three seconds.'
