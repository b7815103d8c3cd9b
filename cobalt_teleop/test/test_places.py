"""Whose place a workcell is, and who is next in line."""

from hypothesis import given
from hypothesis import strategies as st

from cobalt_teleop.bridge.operators.places import Places


def anywhere(_session, _workcell):
    return True


def test_the_first_come_get_the_free_workcells_and_the_others_wait_in_their_order():
    places = Places()
    for session in ('ada', 'bo', 'cy', 'di'):
        places.join(session)
    assert places.assign(['env_0', 'env_1'], anywhere) == [('ada', 'env_0'), ('bo', 'env_1')]
    assert places.line == ('cy', 'di')
    assert [places.position(who) for who in ('ada', 'cy', 'di')] == [0, 1, 2]


def test_a_place_that_is_given_up_goes_to_the_next_in_line_alone():
    places = Places()
    for session in ('ada', 'bo', 'cy'):
        places.join(session)
    places.assign(['env_0'], anywhere)
    assert places.objection('cy', 'env_0') == 'ada', 'nobody goes past the line'
    assert places.give_up('ada') == 'env_0'
    assert places.assign(['env_0'], anywhere) == [('bo', 'env_0')]
    assert places.line == ('cy',)


def test_who_cannot_go_keeps_the_place_in_line_and_lets_others_pass():
    places = Places()
    places.join('gone')
    places.join('here')
    assert places.assign(['env_0'], lambda session, _: session == 'here') == [('here', 'env_0')]
    assert places.position('gone') == 1


def test_without_a_line_whoever_is_there_may_take_what_is_free():
    places = Places()
    places.take('ada', 'env_0')
    assert places.objection('bo', 'env_0') == ''
    assert places.take('bo', 'env_0') == 'ada', 'who had it is told'
    assert places.keeper('env_0') == 'bo'


def test_nobody_has_two_places_and_who_has_one_does_not_wait():
    places = Places()
    places.take('ada', 'env_0')
    places.join('ada')
    assert places.line == ()
    places.take('ada', 'env_1')
    assert (places.keeper('env_0'), places.place_of('ada')) == ('', 'env_1')


def test_who_lost_a_place_without_fault_is_the_next():
    places = Places()
    places.join('bo')
    places.join('ada', first=True)
    assert places.line == ('ada', 'bo')


def test_it_goes_on_where_it_ended():
    places = Places()
    places.restore({'env_0': 'ada'}, ['bo'])
    assert places.assign(['env_0', 'env_1'], anywhere) == [('bo', 'env_1')]
    assert places.keeper('env_0') == 'ada'


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(['join', 'take', 'give_up', 'leave_line', 'assign']), st.integers(0, 5), st.integers(0, 2)
    )
)


@given(ACTIONS)
def test_whatever_happens_one_place_has_one_keeper_who_does_not_wait(actions):
    places = Places()
    for what, who, where in actions:
        session, workcell = f'session {who}', f'env_{where}'
        if what == 'take':
            places.take(session, workcell)
        elif what == 'assign':
            places.assign([workcell], anywhere)
        else:
            getattr(places, what)(session)
        keepers = [places.keeper(f'env_{number}') for number in range(3) if places.keeper(f'env_{number}')]
        assert len(keepers) == len(set(keepers))
        assert len(places.line) == len(set(places.line))
        assert not set(keepers) & set(places.line)
