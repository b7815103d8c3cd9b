"""People and places: the line, roles, a supervisor's panel, and a bridge that is killed."""

import asyncio
import json
import os
import time
import urllib.error
import urllib.request

import pytest
import rclpy
from bridge_process import BridgeProcess, free_port, long_leases, running_host
from page_client import PageClient

from cobalt_teleop.bridge.operators.lobby import public_session_id


class Page(PageClient):
    """A page that says it shows video, and leaves the offers alone: lobby and control need none."""

    async def _answer(self, offer):
        pass

    async def take_control(self):
        # As a person does: what was pressed on the way to a workcell is pressed again.
        for _ in range(20):
            await self.say('acquire', ask=False)
            try:
                await self.until_event('control', timeout_s=1.0, yours=True)
                return
            except AssertionError:
                continue
        await self.until_event('control', yours=True)

    async def until_refused(self, words):
        await self.until(lambda: any(words in event.get('text', '') for event in self.events), f'a notice: {words}')


@pytest.fixture(scope='module')
def hosts(private_ros_domain):
    rclpy.init()
    with long_leases(), running_host('env_0', 'env_1') as node:
        yield node
    rclpy.try_shutdown()


@pytest.fixture(scope='module')
def bridge(hosts):
    made = BridgeProcess(grace_s=0.2).wait_until_served()
    yield made
    output = made.stop()
    assert 'Traceback' not in output and 'never retrieved' not in output, output
    made.output = output


def run(scenario):
    asyncio.run(asyncio.wait_for(scenario(), 60.0))


async def both_places_are_taken(first, second):
    for page in (first, second):
        await page.until_event('place', position=0)
    await first.until(lambda: first.newest('place')['workcell'], 'a place')
    await second.until(lambda: second.newest('place')['workcell'], 'a place')
    assert {first.newest('place')['workcell'], second.newest('place')['workcell']} == {'env_0', 'env_1'}


def test_who_comes_too_late_waits_watches_and_gets_the_next_place_but_moves_nothing_by_it(bridge):
    async def scenario():
        async with Page(bridge.port) as ada, Page(bridge.port, operator='Bo') as bo:
            await both_places_are_taken(ada, bo)
            await ada.take_control()
            async with Page(bridge.port, operator='Cy') as cy, Page(bridge.port, operator='Di') as di:
                await cy.until_event('place', position=1, waiting=2, workcell='')
                await di.until_event('place', position=2)
                await cy.until_event('workcell')
                place, bos = ada.newest('place')['workcell'], bo.newest('place')['workcell']
                await cy.say('watch', workcell=bos)
                await cy.until_event('workcell', id=bos)
                await cy.say('acquire', ask=False)
                await cy.until_refused('kept for Bo: your place in line is 1')
                await ada.say('release')
                await cy.until_event('place', workcell=place, position=0, called=True)
                await cy.until_event('workcell', id=place)
                await di.until_event('place', position=1)
                await ada.until_event('place', workcell='', waiting=1)
                await cy.until_event('control', yours=False, holder='')
                await cy.take_control()
                await cy.until_event('place', called=False)
                await di.say('leave_line')
                await di.until_event('place', position=0, waiting=0)

    run(scenario)


def test_everybody_sees_who_is_here_by_distinct_names_and_colours(bridge):
    async def scenario():
        async with Page(bridge.port) as ada, Page(bridge.port) as other:
            await other.until_event('you', name='Ada 2')
            await other.say('rename', name='  Grace ')
            await other.until_event('you', name='Grace')
            people = await ada.until(
                lambda: (
                    (found := ada.newest('people')) and {p['name'] for p in found['list']} == {'Ada', 'Grace'} and found
                ),
                'both names',
            )
            assert len({person['colour'] for person in people['list']}) == 2
            await ada.until(lambda: ada.newest('place')['workcell'], 'a place')
            await ada.take_control()
            await other.until(
                lambda: any(p['drives'] and p['name'] == 'Ada' for p in other.newest('people')['list']), 'who drives'
            )
            await ada.say('start')
            await ada.until_event('episode', phase='running')
            await ada.say('rename', name='Eve')
            await ada.until_refused('This episode is kept under your present name')
            await ada.say('end', outcome='discarded')
            await ada.until_event('episode', phase='ended')
            await ada.say('rename', name='Eve')
            await ada.until_event('control', yours=True, holder='Eve')
            await ada.say('start')
            await ada.until_event('episode', phase='running', operator='Eve')
            await ada.say('end', outcome='discarded')
            await ada.until_event('episode', phase='ended', operator='Eve')

    run(scenario)


def test_a_supervisor_by_a_link_watches_without_a_place_until_he_asks_to_drive(bridge):
    async def scenario():
        async with Page(bridge.port, token=bridge.owner, operator='Sue') as sue:
            await sue.until_event('you', role='supervisor', comes_to_drive=False)
            await sue.until_event('workcell')
            await sue.until_event('place', workcell='', position=0)
            async with Page(bridge.port, operator='Bo') as bo, Page(bridge.port, operator='Cy') as cy:
                await both_places_are_taken(bo, cy)
                await sue.until_event('place', workcell='', position=0, waiting=0)
            async with Page(bridge.port, token=bridge.owner, operator='Sal', workcell='env_1') as sal:
                await sal.until_event('workcell', id='env_1')
                await sal.until_event('place', workcell='', position=0)
                await sal.take_control()
                await sal.until_event('place', workcell='env_1')
                await sal.say('release')
                await sal.until_event('place', workcell='')
            await sue.say('join_line')
            await sue.until(lambda: sue.newest('place')['workcell'], 'a place')

    run(scenario)


def test_whoever_says_no_name_is_called_what_he_is(bridge):
    async def scenario():
        async with (
            Page(bridge.port, operator='') as here,
            Page(bridge.port, operator='', token=bridge.owner) as owner,
            await invited(owner, bridge.port, 'spectator') as guest,
        ):
            guest_again = Page(bridge.port, operator='', token=guest.hello['token'])
            async with guest_again:
                for page, word in ((here, 'Operator'), (owner, 'Supervisor'), (guest_again, 'Spectator')):
                    you = await page.until_event('you')
                    assert you['name'] == f'{word} {page.session[:4]}'

    run(scenario)


async def invited(supervisor, port, role, **fields):
    await supervisor.say('invite', **({'role': role, 'task': '', 'name': '', 'hours': 1} | fields))
    invitation = await supervisor.until_event('invitation', role=role)
    return Page(port, token=invitation['token'], operator=f'a {role}')


def test_a_spectator_watches_and_stops_and_does_nothing_else(bridge):
    async def scenario():
        async with Page(bridge.port) as owner, await invited(owner, bridge.port, 'spectator') as guest:
            await guest.until_event('you', role='spectator')
            await guest.until_event('step')
            for asked in (
                {'kind': 'acquire', 'ask': False},
                {'kind': 'start'},
                {'kind': 'join_line'},
                {'kind': 'stop_all'},
                {'kind': 'invite', 'role': 'supervisor', 'task': '', 'name': '', 'hours': 1},
            ):
                guest.events.clear()
                await guest.say(asked.pop('kind'), **asked)
                await guest.until_refused('you are here as spectator'.capitalize())
                await asyncio.sleep(0.12)
            await guest.say('emergency_stop')
            await guest.until_event('control', emergency_stop=True)
            guest.events.clear()
            await guest.say('clear_emergency_stop')
            await guest.until_refused('You are here as spectator')
            await owner.say('release_stops', workcell='', confirm=False)
            await owner.until_refused('confirm must be true')
            await owner.say('release_stops', workcell='', confirm=True)
            await guest.until_event('control', emergency_stop=False)

    run(scenario)


def test_nobody_takes_the_name_of_who_pressed_a_stop_while_it_is_on(bridge):
    async def scenario():
        async with (
            Page(bridge.port, workcell='env_0') as ada,
            Page(bridge.port, workcell='env_0', operator='Mal') as mal,
        ):
            async with Page(bridge.port, workcell='env_0', operator='Sue') as sue:
                await sue.until_event('workcell', id='env_0')
                await sue.say('emergency_stop')
                await ada.until_event('control', emergency_stop_by=['Sue'])
                await sue.say('rename', name='Susan')
                await sue.until_event('you', name='Susan')
                await sue.say('rename', name='Sue')
                await sue.until_event('you', name='Sue')
                await sue.say('rename', name='Susan')
                await sue.until_event('you', name='Susan')
            await mal.say('rename', name='sue')
            await mal.until_event('you', name='sue 2')
            async with Page(bridge.port, operator='Sue') as other:
                await other.until_event('you', name='Sue 3')
            await ada.say('release_stops', workcell='env_0', confirm=True)
            await ada.until_event('control', emergency_stop=False)
            await mal.say('rename', name='Sue')
            await mal.until_event('you', name='Sue')

    run(scenario)


def test_one_message_stops_every_workcell_also_those_where_nobody_is(bridge):
    async def scenario():
        async with Page(bridge.port, workcell='env_0') as owner:
            await owner.until_event('you', role='supervisor')
            await owner.say('overview', on=True)

            def stopped():
                overview = owner.newest('overview')
                return [one['emergency_stop'] for one in overview['workcells']] if overview else []

            await owner.until(lambda: stopped() == [False, False], 'both workcells')
            await owner.say('stop_all')
            await owner.until(lambda: stopped() == [True, True], 'the stop of both')
            await owner.until_event('control', emergency_stop=True, emergency_stop_by=['Ada'])
            await owner.say('release_stops', workcell='env_1', confirm=True)
            await owner.until(lambda: stopped() == [True, False], 'the release of one')
            await owner.say('release_stops', workcell='', confirm=True)
            await owner.until(lambda: stopped() == [False, False], 'the release of all')

    run(scenario)


def test_no_operator_releases_the_stop_of_a_supervisor_also_after_a_restart_of_the_bridge(hosts, tmp_path):
    async def scenario():
        port = free_port()
        first = BridgeProcess(port=port, state_dir=tmp_path).wait_until_served()
        async with Page(port, workcell='env_1', operator='Sue') as owner:
            guest = await invited(owner, port, 'operator')
            guest.hello['workcell'] = 'env_0'
            async with guest:
                await guest.until_event('control', emergency_stop=False)
                await owner.until_event('control', emergency_stop=False)  # both workcells are known
                await owner.say('stop_all')
                await guest.until_event('control', emergency_stop=True, emergency_stop_by=['Sue'])
                assert 'a supervisor has to release it' in guest.newest('control')['release_objection']
                await guest.say('clear_emergency_stop')
                await guest.until_refused('A supervisor has to release it')
        await asyncio.sleep(0.5)
        first.process.kill()
        first.process.communicate()
        file = tmp_path / f'sessions-{port}.json'
        os.utime(file, (time.time() - 3600.0,) * 2)
        second = BridgeProcess(port=port, state_dir=tmp_path).wait_until_served()
        try:
            async with Page(port, token=guest.hello['token'], workcell='env_0') as again:
                await again.until_event('control', emergency_stop=True, emergency_stop_by=['Sue'])
                await again.say('clear_emergency_stop')
                await again.until_refused('A supervisor has to release it')
                async with Page(port, workcell='env_1') as owner:
                    await owner.until_event('control', emergency_stop=True, release_objection='')
                    await owner.say('release_stops', workcell='', confirm=True)
                    await again.until_event('control', emergency_stop=False)
                    await owner.until_event('control', emergency_stop=False)
                    await again.say('emergency_stop')
                    await again.until_event('control', emergency_stop=True, release_objection='')
                    await again.say('clear_emergency_stop')
                    await again.until_event('control', emergency_stop=False)
        finally:
            second.stop()

    run(scenario)


def test_a_supervisor_hears_how_a_link_is_from_its_page_and_that_it_tells_nothing_any_more(bridge):
    async def scenario():
        async with Page(bridge.port, operator='Sue') as owner, Page(bridge.port, operator='Bo') as bo:
            await bo.until_event('workcell')
            await bo.report(level='poor', cause='freezes', rtt_ms=7)
            await owner.say('overview', on=True)

            def link():
                people = (owner.newest('overview') or {'people': []})['people']
                return next((one['link'] for one in people if one['name'] == 'Bo'), None) or {}

            await owner.until(lambda: (link().get('level'), link().get('cause')) == ('poor', 'freezes'), 'its word')
            assert link()['rtt_ms'] == 7
            await owner.until(lambda: link()['level'] == 'lost' and link()['rtt_ms'] is None, 'its silence')
            await bo.report(level='fair', cause='loss')
            await owner.until(lambda: link()['level'] == 'fair', 'its word again')

    run(scenario)


def test_home_drives_home(bridge):
    async def scenario():
        async with Page(bridge.port, workcell='env_1') as page:
            workcell = await page.until_event('workcell', id='env_1')
            assert workcell['can_home']
            await page.until(lambda: page.newest('place') and page.newest('place')['waiting'] == 0, 'no line')
            await page.say('home')
            await page.until(lambda: any(event.get('authority') == 'homing' for event in page.events), 'the way home')
            await page.until_event('control', yours=True)

    run(scenario)


def ask(bridge, path, token=''):
    headers = {'Authorization': f'Bearer {token}'} if token else {}
    with urllib.request.urlopen(urllib.request.Request(bridge.url + path, headers=headers), timeout=5.0) as answer:
        return answer.read().decode()


def test_metrics_and_health_tell_all_to_whoever_runs_the_bridge_and_little_to_guests(bridge):
    async def scenario():
        async with (
            Page(bridge.port, workcell='env_0') as owner,
            await invited(owner, bridge.port, 'spectator') as guest,
        ):
            await guest.until_event('step')
            await owner.report({'frame_age_ms': 41.5})
            text = ''
            for _ in range(100):
                text = await asyncio.to_thread(ask, bridge, 'metrics')
                if 'cobalt_round_trip_seconds_count 0.0' not in text and 'cobalt_ticks_missed_total{' in text:
                    break
                await asyncio.sleep(0.1)
            assert 'cobalt_people{role="spectator"} 1.0' in text
            assert 'cobalt_people{role="supervisor"} 1.0' in text
            assert 'cobalt_viewers{codec="h264",road="track"} 2.0' in text
            assert 'cobalt_frame_age_seconds_count{road="track"} 1.0' in text
            token = guest.hello['token']
            assert await asyncio.to_thread(ask, bridge, 'healthz', token) == '{"ok": true}'
            with pytest.raises(urllib.error.HTTPError, match='401'):
                await asyncio.to_thread(ask, bridge, 'metrics', token)
            health = await asyncio.to_thread(ask, bridge, 'healthz')
            assert 'uptime_s' in health and '"present": true' in health

    run(scenario)


def test_who_is_sent_away_loses_control_at_once_and_does_not_come_back(bridge):
    async def scenario():
        async with Page(bridge.port, workcell='env_0') as owner:
            await owner.until_event('step')
            async with await invited(owner, bridge.port, 'operator', name='Mallory') as guest:
                await guest.until_event('you', name='Mallory', named_by_invitation=True)
                await guest.say('watch', workcell='env_0')
                await guest.until_event('workcell')
                await guest.take_control()
                holds = guest.newest('workcell')['id']
                await owner.say('watch', workcell=holds)
                await owner.say('send_away', session=guest.session)
                refused = await guest.until_event('refused')
                assert 'sent you away' in refused['text']
                await owner.say('overview', on=True)
                await owner.until_event('overview')
                await owner.until(
                    lambda: (
                        all(one['holder'] != 'Mallory' for one in owner.newest('overview')['workcells'])
                        and all(one['name'] != 'Mallory' for one in owner.newest('overview')['people'])
                    ),
                    'his end',
                )
            async with Page(bridge.port, token=guest.hello['token'], session=guest.key) as again:
                await again.until_event('refused')
                assert again.newest('session') is None

    run(scenario)


def test_a_supervisor_gives_control_to_another(bridge):
    async def scenario():
        async with (
            Page(bridge.port, workcell='env_0') as owner,
            Page(bridge.port, operator='Bo', workcell='env_0') as bo,
            Page(bridge.port, operator='Cy', workcell='env_1') as cy,
        ):
            await bo.until_event('step')
            await bo.take_control()
            await cy.until_event('workcell', id='env_1')
            await owner.until_event('control', holder='Bo')
            await owner.say('give', workcell='env_0', session=cy.session)
            await cy.until_event('workcell', id='env_0')
            await cy.until_event('control', yours=True, holder='Cy')
            await bo.until_event('control', yours=False, holder='Cy')

    run(scenario)


def test_who_is_idle_is_warned_and_gives_the_place_to_who_waits(hosts):
    async def scenario():
        bridge = BridgeProcess(grace_s=0.2, idle_s=2.0, workcells='[env_0]').wait_until_served()
        async with Page(bridge.port) as ada:
            await ada.until_event('place', workcell='env_0')
            await ada.take_control()
            await asyncio.sleep(2.5)
            assert ada.newest('idle') is None, 'nobody waits'
            async with Page(bridge.port, operator='Bo') as bo:
                await bo.until_event('place', position=1)
                await ada.until(lambda: ada.newest('idle') and ada.newest('idle')['left_s'] > 0, 'a warning')
                await ada.say('here')
                await ada.until_event('idle', left_s=0)
                await bo.until_event('place', workcell='env_0', called=True)
                await ada.until_event('control', yours=False)
                await bo.take_control()
        output = bridge.stop()
        assert 'Ada' in output and 'was idle: env_0 goes to who waits' in output

    run(scenario)


def test_a_killed_bridge_comes_back_with_everybody_in_his_place(hosts, tmp_path):
    async def scenario():
        port = free_port()
        first = BridgeProcess(port=port, state_dir=tmp_path).wait_until_served()
        pages = [Page(port, operator=name) for name in ('Ada', 'Ada', 'Cy', 'Di')]
        for page in pages:
            await page.__aenter__()
            await page.until_event('place')
        await both_places_are_taken(*pages[:2])
        await pages[0].take_control()
        await pages[3].until_event('place', position=2)
        before = [(page.name, page.newest('you')['colour'], page.newest('place')) for page in pages]
        file = tmp_path / f'sessions-{port}.json'
        await pages[0].until(
            lambda: file.exists() and len(json.loads(file.read_text())['line']) == 2, 'the state on disk'
        )
        await asyncio.sleep(0.5)
        first.process.kill()
        first.process.communicate()
        for page in pages:
            await page.__aexit__()
        kept = file.read_text()
        assert not any(page.key in kept for page in pages), 'no key lies on the disk'
        started_s = time.monotonic()
        second = BridgeProcess(port=port, state_dir=tmp_path).wait_until_served()
        # A stranger knows what the file holds, and gets nothing by it; a newcomer gets behind those who wait.
        session_id = public_session_id(pages[0].key)
        stranger = Page(port, session=session_id, operator='Eve')
        again = [
            Page(port, session=page.key, operator='Ada' if number < 2 else page.hello['operator'])
            for number, page in enumerate(pages)
        ]
        for page in (stranger, *reversed(again)):
            await page.__aenter__()
        try:
            await again[0].until_event('control', yours=True)
            held_s = time.monotonic() - started_s
            print(f'control was back {held_s:.1f} s after the new start')
            for page, (name, colour, place) in zip(again, before, strict=True):
                await page.until_event('you', name=name, colour=colour)
                await page.until_event('place', workcell=place['workcell'], position=place['position'])
            assert again[0].newest('control')['holder'] == before[0][0]
            await stranger.until_event('place', position=3)
            assert stranger.session != session_id and stranger.newest('control')['yours'] is False
        finally:
            for page in (stranger, *again):
                await page.__aexit__()
            second.stop()

    run(scenario)
