from cobalt_teleop.core.topics import Qos
from cobalt_teleop.foxglove.subscription_qos import KEPT, KEPT_BEST_EFFORT, subscription_qos

RELIABLE = Qos(reliable=True, latched=False, depth=0)
LATCHED = Qos(reliable=True, latched=True, depth=0)
BEST_EFFORT = Qos(reliable=False, latched=False, depth=0)


def test_what_all_publishers_offer_is_asked_for():
    assert subscription_qos([LATCHED, LATCHED]) == Qos(reliable=True, latched=True, depth=KEPT)
    assert subscription_qos([BEST_EFFORT]) == Qos(reliable=False, latched=False, depth=KEPT_BEST_EFFORT)


def test_the_weakest_publisher_is_heard_as_well():
    assert subscription_qos([LATCHED, RELIABLE]) == Qos(reliable=True, latched=False, depth=KEPT)
    assert not subscription_qos([RELIABLE, BEST_EFFORT]).reliable


def test_a_known_depth_is_kept_and_no_publisher_asks_for_nothing():
    assert subscription_qos([Qos(reliable=True, latched=False, depth=400)]).depth == 400
    assert subscription_qos([]) == Qos(reliable=False, latched=False, depth=KEPT_BEST_EFFORT)
