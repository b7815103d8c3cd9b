"""Who may take control of what has just become free."""

from types import SimpleNamespace

from cobalt_teleop.bridge.door.guest import Guest, Role
from cobalt_teleop.bridge.operators.usher import Usher

GUEST = Guest(role=Role.OPERATOR)
ROOM = SimpleNamespace(workcell_id='env_0', info=SimpleNamespace(tasks=['stack']), free=False, visitors=())


def usher_with(*people):
    floor = SimpleNamespace(present=[ROOM], find=lambda workcell: ROOM if workcell == 'env_0' else None)
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
