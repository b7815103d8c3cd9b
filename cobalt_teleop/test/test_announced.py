"""An address outside of a port forward is told beside this machine's own."""

import pytest

from cobalt_teleop.bridge.network.announced import AnnouncedAddressError, announce, announced_addresses

OFFER = (
    'v=0\r\n'
    'm=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n'
    'a=candidate:abc 1 udp 2130706431 172.17.0.2 50001 typ host\r\n'
    'a=candidate:def 1 udp 2130706431 fd00::2 50002 typ host\r\n'
    'a=candidate:ghi 1 udp 1694498815 198.51.100.9 50001 typ srflx raddr 172.17.0.2 rport 50001\r\n'
    'a=end-of-candidates\r\n'
)


def candidates(sdp):
    return [line.split() for line in sdp.splitlines() if line.startswith('a=candidate')]


def test_each_port_is_told_at_the_announced_address_of_its_kind():
    added = [line for line in candidates(announce(OFFER, ['203.0.113.7'])) if line[4] == '203.0.113.7']
    assert [(line[5], line[7]) for line in added] == [('50001', 'host')]
    assert len(candidates(announce(OFFER, ['203.0.113.7', '2001:db8::7']))) == 5


def test_what_was_there_stays_first_choice():
    sdp = announce(OFFER, ['203.0.113.7'])
    assert all(line in sdp for line in OFFER.splitlines())
    own, announced = candidates(sdp)[:2]
    assert int(own[3]) > int(announced[3]) > 1694498815


def test_without_addresses_nothing_changes():
    assert announce(OFFER, []) == OFFER
    assert announce(OFFER, ['172.17.0.2']) == OFFER


def test_a_name_is_refused():
    assert announced_addresses(['203.0.113.7']) == ('203.0.113.7',)
    with pytest.raises(AnnouncedAddressError, match=r"'robot.example.org'.*203\.0\.113\.7"):
        announced_addresses(['robot.example.org'])
