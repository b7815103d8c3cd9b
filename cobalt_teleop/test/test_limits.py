"""How much strangers may ask."""

from cobalt_teleop.bridge.door.limits import Bucket, DoorLimits, FailedTokens, Places, network_of


def test_a_bucket_lets_a_burst_pass_and_then_its_rate():
    bucket = Bucket(10.0, 5)
    assert [bucket.take(0.0) for _ in range(7)] == [True] * 5 + [False] * 2
    assert bucket.take(0.11)
    assert not bucket.take(0.11)
    assert not bucket.take(100.0, cost=6.0)
    assert bucket.take(100.0, cost=5.0)


def test_a_clock_that_stands_or_goes_back_fills_nothing():
    bucket = Bucket(10.0, 1)
    assert bucket.take(5.0)
    assert not bucket.take(4.0)


def test_an_address_has_so_many_tries_and_no_other_suffers():
    failed = FailedTokens(DoorLimits(failed_tokens=3, failed_token_period_s=6.0))
    assert [failed.note('192.0.2.1', 0.0) for _ in range(3)] == [2, 1, 0]
    assert not failed.may_try('192.0.2.1', 5.0)
    assert failed.may_try('192.0.2.2', 5.0)
    assert failed.may_try('192.0.2.1', 6.5)


def test_the_memory_for_strangers_is_bounded():
    failed = FailedTokens(DoorLimits(failed_tokens=1), addresses=100)
    for number in range(1000):
        failed.note(f'10.0.{number // 250}.{number % 250}', 0.0)
    assert failed.remembered == 100
    assert failed.may_try('10.0.0.0', 0.0)
    assert not failed.may_try('10.0.3.249', 0.0)


def test_places_are_bounded_in_all_and_for_each_address():
    places = Places(3, 2)
    assert [places.take(address) for address in ('a', 'a', 'a', 'b', 'c')] == [True, True, False, True, False]
    places.give_back('a')
    assert places.taken == 2
    assert places.take('c')


def test_a_household_counts_once():
    assert network_of('2001:db8:1:2::1') == network_of('2001:db8:1:2:ffff::9') != network_of('2001:db8:1:3::1')
    assert network_of('::ffff:192.0.2.1') == network_of('192.0.2.1') == '192.0.2.1'
    assert network_of('fe80::1%eth0') == network_of('fe80::2')
    assert network_of('no address') == 'no address'
