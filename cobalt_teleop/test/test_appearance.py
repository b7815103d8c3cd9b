"""Names and colours of people."""

from cobalt_teleop.bridge.operators.appearance import COLOURS, LONGEST_NAME, distinct_name, free_colour


def test_a_name_that_somebody_has_gets_a_number():
    assert distinct_name('Ada', []) == 'Ada'
    assert distinct_name('  Ada   Lovelace ', []) == 'Ada Lovelace'
    assert distinct_name('ada', ['Ada']) == 'ada 2'
    assert distinct_name('Ada', ['Ada', 'Ada 2']) == 'Ada 3'


def test_a_long_name_is_cut_and_keeps_its_number():
    long = 'A' * 100
    first = distinct_name(long, [])
    second = distinct_name(long, [first])
    assert len(first) == LONGEST_NAME == len(second)
    assert second.endswith(' 2')


def test_colours_are_distinct_while_there_are_any_and_then_the_rarest_comes_again():
    taken = []
    for _ in range(COLOURS):
        taken.append(free_colour(taken))
    assert sorted(taken) == list(range(COLOURS))
    assert free_colour([*taken, 0]) == 1
