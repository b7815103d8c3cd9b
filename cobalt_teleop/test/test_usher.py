"""Who may take control of what has just become free."""

from types import SimpleNamespace

from cobalt_teleop.bridge.door.guest import Guest, Role
from cobalt_teleop.bridge.operators.usher import Usher

GUEST = Guest(role=Role.OPERATOR)
ROOM = SimpleNamespace(workcell_id='env_0', info=SimpleNamespace(tasks=['stack']), free=False, visitors=())


def usher_with(*people):
    find = {'env_0': ROOM}.get
    floor = SimpleNamespace(present=[ROOM], find=find, tasks=ROOM.info.tasks)
    usher = Usher(floor, {one.session_id: one for one in people}, 0.0, lambda: None, print)
    usher.places.take('ada', 'env_0')
    for one in people:
        usher.places.join(one.session_id)
    return usher


def test_until_the_next_one_is_led_there_nobody_goes_past_him():
    ada, bo, cy, mal = (
        SimpleNamespace(session_id=name, operator=name.title(), room=ROOM, connected=True, guest=GUEST)
        for name in ('ada', 'bo', 'cy', 'mal')
    )
    usher = usher_with(ada, bo, cy, mal)
    usher.places.leave_line('mal')
    assert usher.objection(mal) == 'env_0 is kept for Ada: others wait in line; get in line too'
    usher.places.give_up('ada')
    assert usher.objection(mal) == 'env_0 is kept for Bo: others wait in line; get in line too'
    assert usher.objection(cy) == 'env_0 is kept for Bo: your place in line is 2'
    assert usher.objection(bo) == ''
    bo.connected = False  # his page may come back; meanwhile he stands in nobody's way
    assert usher.objection(cy) == ''


def test_who_waits_for_a_task_that_no_workcell_has_stands_in_nobodys_way():
    lee, bo, mal = (
        SimpleNamespace(session_id=name, operator=name.title(), room=ROOM, connected=True, guest=guest)
        for name, guest in (('lee', Guest(role=Role.OPERATOR, task='pour')), ('bo', GUEST), ('mal', GUEST))
    )
    usher = usher_with(lee, bo, mal)
    for one in (bo, mal):
        usher.places.leave_line(one.session_id)
    assert usher.objection(mal) == '', 'nobody waits who could come here'
    assert usher.objection(lee) == 'env_0 does not have the task "pour", for which you are invited'
    told = usher.place_event(lee)
    assert (told['missing_task'], told['tasks'], told['position']) == ('pour', ['stack'], 0)
    usher.places.join('bo')
    assert usher.place_event(bo)['position'] == 1 and usher.place_event(bo)['missing_task'] == ''
    assert usher.place_event(mal)['waiting'] == 1
    ROOM.info.tasks.append('pour')  # the workcell that he waits for has come
    try:
        assert usher.place_event(lee)['position'] == 1 and usher.place_event(bo)['position'] == 2
    finally:
        ROOM.info.tasks.remove('pour')
