"""A phone beside a laptop: one more page of its session, between a real host and a real bridge."""

import json
import time

import pytest
from bridge_process import BridgeProcess, free_port, running_host
from goal_plant import GoalPlant
from page_client import PageClient
from test_bridge_node import host, listener, ros, run  # noqa: F401

from cobalt_teleop.core import topics
from cobalt_teleop.core.command import NOTHING_SHOWN_NS
from cobalt_teleop.ros.stamps import to_nanoseconds

PHONE = topics.operator_sample('phone', 'arm')


class Phone(PageClient):
    """A page that shows no pictures, and moves."""

    def __init__(self, port, code, **options):
        super().__init__(port, token=code, codecs=(), **options)

    def hold(self, *, engaged=True, epoch=1, part=''):
        self.sequence += 1
        self.samples.send(
            json.dumps(
                {
                    'type': 'device',
                    'device': 'phone',
                    'part': part,
                    'sequence': self.sequence,
                    'device_ms': time.time() * 1000,
                    'clock_offset_ms': 0.0,
                    'clock_uncertainty_ms': 0.5,
                    'tracked': True,
                    'engaged': engaged,
                    'clutch_epoch': epoch,
                    'pose': [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
                    'axes': [],
                    'buttons': int(engaged),
                    'press_counts': [epoch],
                    'gripper': None,
                    'reference': 'view',
                    'heading': 0.0,
                    'scale': 1.0,
                    'frame': None,
                }
            )
        )

    async def ready(self):
        await self.until(lambda: self.samples is not None and self.samples.readyState == 'open', 'the samples channel')


async def code_of(page):
    known = len(page.events)
    await page.say('pair')

    def code():
        pairing = next((event for event in page.events[known:] if event['type'] == 'pairing'), None)
        return pairing and pairing['links'][0].partition('?token=')[2]

    return await page.until(code, 'a code')


async def looking(page):
    """The laptop's page is live, has control, and tells which picture it shows."""
    await page.until_live()
    await page.say('acquire', ask=False)
    await page.until_event('control', yours=True)


@pytest.fixture(scope='module')
def open_bridge(private_ros_domain):
    # A name leads phones here, whatever addresses this machine has.
    made = BridgeProcess(host='0.0.0.0', grace_s=1.0, public_names='robot.example').wait_until_served()
    yield made
    output = made.stop()
    assert made.process.returncode == 0, output
    assert 'Traceback' not in output, output


def page_of(bridge):
    return PageClient(bridge.port, token=bridge.owner, tls=bridge.client_context(), workcell='env_0')


def phone_of(bridge, code, **values):
    return Phone(bridge.port, code, tls=bridge.client_context(), **values)


def test_a_paired_phone_drives_under_the_lease_of_its_session(host, listener, open_bridge):  # noqa: F811
    listener.listen(PHONE)

    async def scenario():
        async with page_of(open_bridge) as laptop:
            await looking(laptop)
            async with phone_of(open_bridge, await code_of(laptop)) as phone:
                you = await phone.until_event('you')
                assert you['companion'] and you['name'] == laptop.name
                await laptop.until_event('you', companions=1)
                await phone.until_event('control', yours=True)
                await phone.ready()

                def driven():
                    laptop.keys(0, engaged=False)
                    phone.hold()
                    sample = listener.newest(PHONE)
                    return sample is not None and sample.engaged and sample

                sample = await phone.until(driven, 'a sample of the phone')
                assert sample.session_id == laptop.session
                first = listener.heard[(PHONE.name, 'env_0')][0]
                assert (first.engaged, first.clutch_epoch) == (False, sample.clutch_epoch - 1), 'it was at rest before'
                assert sample.shown_frame_stamp.sec > 0
                await phone.say('emergency_stop')
                await laptop.until_event('control', emergency_stop=True)
            # One that was just loaded again is not missed, one that stays away is.
            assert laptop.newest('you')['companions'] == 1
            await laptop.until_event('you', companions=0)

    run(scenario)


def test_a_phone_whose_laptop_is_away_moves_nothing(host, listener, open_bridge):  # noqa: F811
    listener.listen(PHONE)

    async def scenario():
        async with page_of(open_bridge) as laptop:
            await looking(laptop)
            async with phone_of(open_bridge, await code_of(laptop)) as phone:
                await phone.ready()
                await phone.until_event('control', yours=True)
                # The laptop's page says nothing: nobody knows whether its pictures are looked at.
                heard = listener.heard[(PHONE.name, 'env_0')]
                await phone.until(lambda: phone.hold() or len(heard) > 10, 'samples')
                assert sum(sample.engaged for sample in heard) > 5, 'it is not let go of'
                assert {to_nanoseconds(sample.shown_frame_stamp) for sample in heard} == {NOTHING_SHOWN_NS}

    run(scenario)


def test_a_code_is_for_one_phone_and_keys_are_for_the_page(host, open_bridge):  # noqa: F811
    async def scenario():
        async with page_of(open_bridge) as laptop:
            await looking(laptop)
            code = await code_of(laptop)
            async with phone_of(open_bridge, code, session='a' * 32) as phone:
                await phone.until_event('you')
                await phone.ready()
                phone.keys(1)
                await phone.until(lambda: 'keys' in (phone.newest('error') or {}).get('text', ''), 'keys refused')
                async with phone_of(open_bridge, code, session='b' * 32) as stranger:
                    await stranger.until_event('refused')
            # Its own phone comes back.
            async with phone_of(open_bridge, code, session='a' * 32) as phone:
                await phone.until_event('you', companion=True)

    run(scenario)


def test_a_phone_that_has_left_makes_room_for_another_and_comes_back_when_there_is_room(host, open_bridge):  # noqa: F811
    async def scenario():
        async with page_of(open_bridge) as laptop:
            await laptop.until_event('you')
            codes = [await code_of(laptop) for _ in range(3)]
            phones = [phone_of(open_bridge, code, session=f'{number}' * 32) for number, code in enumerate(codes)]
            async with phones[1]:
                await phones[1].until_event('you', companions=1)
                async with phones[0]:
                    await phones[0].until_event('you', companions=2)
                    async with phones[2]:
                        refused = await phones[2].until_event('refused')
                        assert 'two phones paired already' in refused['text']
                async with phone_of(open_bridge, codes[2], session='2' * 32) as third:
                    await third.until_event('you', companions=2)
                async with phone_of(open_bridge, codes[0], session='0' * 32) as first:
                    await first.until_event('you', companions=2)

    run(scenario)


def test_a_phone_comes_back_to_a_bridge_that_was_started_again(host, tmp_path):  # noqa: F811
    place = {'host': '0.0.0.0', 'grace_s': 20.0, 'public_names': 'robot.example', 'state_dir': str(tmp_path)}
    place['port'] = free_port()
    key = 'a' * 32

    async def before(bridge, kept):
        async with page_of(bridge) as laptop:
            await laptop.until_event('you')
            kept.update(laptop=laptop.key, code=await code_of(laptop))
            async with phone_of(bridge, kept['code'], session=key) as phone:
                await phone.until_event('you', companion=True)

    async def after(bridge, kept):
        async with phone_of(bridge, kept['code'], session=key) as early:
            assert 'has not come back yet' in (await early.until_event('notice'))['text']
        async with PageClient(
            bridge.port, token=bridge.owner, tls=bridge.client_context(), session=kept['laptop']
        ) as laptop:
            await laptop.until_event('you')
            async with phone_of(bridge, kept['code'], session='b' * 32) as stranger:
                await stranger.until_event('refused')
            async with phone_of(bridge, kept['code'], session=key) as phone:
                await phone.until_event('you', companion=True, name=laptop.name)
                await laptop.until_event('you', companions=1)

    kept = {}
    for part in (before, after):
        bridge = BridgeProcess(**place).wait_until_served()
        run(lambda part=part, bridge=bridge: part(bridge, kept))
        output = bridge.stop()
        assert 'Traceback' not in output, output
    file = tmp_path / f'sessions-{place["port"]}.json'
    assert file.stat().st_mode & 0o077 == 0
    assert kept['code'] not in file.read_text() and kept['code'].partition('.')[2] not in file.read_text()


def test_a_phone_gets_the_picture_of_the_goal_by_its_own_key_while_it_is_there(ros, open_bridge):  # noqa: F811
    key = 'a' * 32

    async def load(page, own_key):
        headers = {'Authorization': f'Bearer {own_key}'}
        async with page._http.get(f'{page.origin}/goal/env_0', headers=headers, ssl=page.tls) as answer:
            return answer.status

    async def scenario():
        async with page_of(open_bridge) as laptop:
            await laptop.until(lambda: (laptop.newest('goal') or {}).get('version'), 'the picture')
            async with phone_of(open_bridge, await code_of(laptop), session=key) as phone:
                await phone.until(lambda: (phone.newest('goal') or {}).get('version'), 'the picture')
                assert await load(phone, key) == 200
                assert await load(phone, 'b' * 32) == 401
            await laptop.until_event('you', companions=0)
            assert await load(laptop, key) == 401

    with running_host('env_0', plant=GoalPlant):
        run(scenario)
