"""A phone beside a laptop: one more page of its session, between a real host and a real bridge."""

import json
import time

import pytest
from bridge_process import BridgeProcess
from page_client import PageClient
from test_bridge_node import host, listener, ros, run  # noqa: F401

from cobalt_teleop.core import topics

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
    await page.say('pair')
    links = (await page.until_event('pairing'))['links']
    return links[0].partition('?token=')[2]


async def looking(page):
    """The laptop's page is live, has control, and tells which picture it shows."""
    await page.until_live()
    await page.say('acquire', ask=False)
    await page.until_event('control', yours=True)


@pytest.fixture
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
                assert sample.shown_frame_stamp.sec > 0
                await phone.say('emergency_stop')
                await laptop.until_event('control', emergency_stop=True)
            await laptop.until_event('you', companions=1)

    run(scenario)


def test_a_phone_whose_laptop_is_away_engages_nothing(host, listener, open_bridge):  # noqa: F811
    listener.listen(PHONE)

    async def scenario():
        async with page_of(open_bridge) as laptop:
            await looking(laptop)
            async with phone_of(open_bridge, await code_of(laptop)) as phone:
                await phone.ready()
                await phone.until_event('control', yours=True)
                # The laptop's page says nothing: nobody knows whether its pictures are looked at.
                for _ in range(20):
                    phone.hold()
                    await phone.until(lambda: True, 'a moment')
                    time.sleep(0.03)
                heard = listener.heard[(PHONE.name, 'env_0')]
                assert not any(sample.engaged for sample in heard)

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
