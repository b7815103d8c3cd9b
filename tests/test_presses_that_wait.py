"""A press that goes on while its operator sees nothing, or while another device drives, moves the arm only once it is
pressed again: pages without a browser, a real bridge, real device nodes, a real host.
"""

import asyncio
import json
import math
import time
from contextlib import asynccontextmanager

import numpy as np
import pytest
from device_pages import PatientPlant, running_stack
from measured_arm import STILL_M, MeasuredArm
from page_client import PageClient

from cobalt_devices.gamepad_node import GamepadNode
from cobalt_devices.keyboard_node import KeyboardNode
from cobalt_devices.pose_device import PoseDeviceNode
from cobalt_interfaces.msg import PartStep
from cobalt_teleop.core.keyboard_actions import ACTIONS, BITS
from cobalt_teleop.ros.process import Stop

AWAY = [-0.7, -0.7, 0.0, 0.0, 0.0, 0.0]
PERIOD_S = 0.035


@pytest.fixture(scope='module')
def stack():
    plants = {'env_0': PatientPlant(watchdog_s=0.6)}

    def nodes():
        return [PoseDeviceNode('phone', Stop()), GamepadNode(Stop()), KeyboardNode(Stop())]

    with running_stack(plants, nodes, host='0.0.0.0', public_names='robot.example') as made:
        yield made


@pytest.fixture
def arm(stack):
    return MeasuredArm(stack.listener, 'env_0', 'arm')


def run(scenario):
    asyncio.run(asyncio.wait_for(scenario(), 60.0))


class Page(PageClient):
    """A page whose device sends again and again, as a real one does.

    Args:
        stack: Of the test.
        options: Of PageClient.
    """

    def __init__(self, stack, **options):
        super().__init__(stack.port, tls=stack.client_context(), workcell='env_0', **options)
        self.presses = 0
        self.counts = [0] * len(ACTIONS)
        self.shows = {'frame': None}
        self._holding = None

    async def __aexit__(self, *error):
        if self._holding is not None:
            self._holding.cancel()
        await super().__aexit__(*error)

    async def ready(self):
        await self.until(lambda: self.samples is not None and self.samples.readyState == 'open', 'the samples channel')

    async def take_control(self):
        await self.until_live()
        await self.say('acquire', ask=False)
        await self.until_event('control', yours=True)
        self.rest()

    def rest(self):
        """No key is pressed; the page tells which picture it shows."""
        self._send_again(lambda: self.keys(0, engaged=False, **self.shows))

    def press(self, device):
        """Presses the clutch of a device, or a key, and moves."""
        self.presses += 1
        if device == 'keyboard':
            self.counts[BITS['up'].bit_length() - 1] += 1
            held = {'epoch': self.presses, 'press_counts': list(self.counts)}
            self._send_again(lambda: self.keys(BITS['up'], **held, **self.shows))
        else:
            self._send_again(lambda: self.device(device))

    def let_go(self, device):
        """Lets go of it."""
        if device == 'keyboard':
            held = {'epoch': self.presses, 'press_counts': list(self.counts)}
            self._send_again(lambda: self.keys(0, **held, **self.shows))
        else:
            self._send_again(lambda: self.device(device, engaged=False))

    def fall_silent(self, _device=''):
        """Says nothing more."""
        self._holding.cancel()

    def device(self, device, *, engaged=True):
        self.sequence += 1
        along_m = 0.03 * math.sin(math.pi * time.monotonic())
        message = {
            'type': 'device',
            'device': device,
            'part': '',
            'sequence': self.sequence,
            'device_ms': time.time() * 1000,
            'clock_offset_ms': 0.0,
            'clock_uncertainty_ms': 0.5,
            'tracked': True,
            'engaged': engaged,
            'clutch_epoch': self.presses,
            'pose': [along_m, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0] if device == 'phone' else None,
            'axes': AWAY if device == 'gamepad' else [],
            'buttons': int(engaged),
            'press_counts': [self.presses],
            'gripper': None,
            'reference': 'base',
            'heading': 0.0,
            'scale': 1.0,
        }
        self.samples.send(json.dumps(message | self.shows))

    def _send_again(self, say):
        async def again():
            while True:
                say()
                await asyncio.sleep(PERIOD_S)

        if self._holding is not None:
            self._holding.cancel()
        self._holding = asyncio.ensure_future(again())


@asynccontextmanager
async def laptop_of(stack):
    """A page that shows pictures, and has control."""
    async with Page(stack, token=stack.owner) as laptop:
        await laptop.take_control()
        try:
            yield laptop
        finally:
            if not laptop.socket.closed:
                await laptop.say('release')
                await laptop.until_event('control', yours=False)


@asynccontextmanager
async def phone_of(stack, laptop):
    """A phone that is paired with a page, and shows no pictures."""
    known = len(laptop.events)
    await laptop.say('pair')

    def code():
        pairing = next((event for event in laptop.events[known:] if event['type'] == 'pairing'), None)
        return pairing and pairing['links'][0].partition('?token=')[2]

    async with Page(stack, token=await laptop.until(code, 'a code'), codecs=()) as phone:
        await phone.ready()
        await phone.until_event('control', yours=True)
        yield phone


async def moves(arm, page, device):
    """The arm follows a device, which is pressed anew where a busy machine made it hold."""
    for _ in range(8):
        page.press(device)
        start = arm.pose().position
        end_s = time.monotonic() + 1.0
        while time.monotonic() < end_s:
            await asyncio.sleep(0.02)
            if np.linalg.norm(arm.pose().position - start) > 5 * STILL_M:
                return
        page.let_go(device)
        await asyncio.sleep(0.3)
    raise AssertionError(f'it does not move: {arm.part().hold_reason}')


async def holds(arm, reason, page):
    """The arm holds for a reason, and has braked."""
    await page.until(lambda: arm.part().hold_reason == reason, f'a hold for reason {reason}')
    await asyncio.sleep(0.3)


async def stands(arm, seconds):
    """The arm stands."""
    count, before = len(arm.steps), arm.pose().position
    await asyncio.sleep(seconds)
    gone = max(np.linalg.norm(pose.position - before) for pose in arm.poses_since(count))
    assert gone < STILL_M, f'it went {gone * 1e3:.1f} mm by itself'


def test_what_goes_on_while_an_unknown_picture_is_named_must_be_pressed_again(stack, arm):
    async def scenario():
        async with laptop_of(stack) as laptop:
            for device in ('phone', 'gamepad', 'keyboard'):
                await moves(arm, laptop, device)
                laptop.shows['frame'] = ('front', 4_000_000_000)
                await holds(arm, PartStep.HOLD_FRAME_STALE, laptop)
                laptop.shows['frame'] = None
                await stands(arm, 0.6)
                laptop.let_go(device)
                await holds(arm, PartStep.HOLD_NOT_ENGAGED, laptop)
                await moves(arm, laptop, device)
                laptop.let_go(device)
                await holds(arm, PartStep.HOLD_NOT_ENGAGED, laptop)

    run(scenario)


def test_a_phone_that_is_held_while_its_laptop_is_silent_or_closed_must_be_pressed_again(stack, arm):
    async def scenario():
        async with laptop_of(stack) as laptop, phone_of(stack, laptop) as phone:
            await moves(arm, phone, 'phone')
            laptop.fall_silent()
            await holds(arm, PartStep.HOLD_FRAME_STALE, phone)
            laptop.rest()
            await stands(arm, 0.6)
            await moves(arm, phone, 'phone')

            await laptop.__aexit__(None, None, None)
            await holds(arm, PartStep.HOLD_FRAME_STALE, phone)
            async with Page(stack, token=stack.owner, session=laptop.key) as again:
                await again.until_live()
                again.rest()
                await stands(arm, 0.6)
                await moves(arm, phone, 'phone')
                await again.say('release')
                await again.until_event('control', yours=False)

    run(scenario)


def test_of_two_devices_of_one_person_the_one_that_waited_must_be_pressed_again(stack, arm):
    async def scenario():
        async with (
            laptop_of(stack) as laptop,
            phone_of(stack, laptop) as first,
            phone_of(stack, laptop) as second,
        ):
            for end, reason in ((first.let_go, PartStep.HOLD_NOT_ENGAGED), (first.fall_silent, PartStep.HOLD_STALE)):
                await moves(arm, first, 'phone')
                second.events.clear()
                second.press('phone')
                await second.until_event('let_go', device='phone', text='another device of yours moves this arm')
                end('phone')
                await holds(arm, reason, second)
                await stands(arm, 0.6)
                second.let_go('phone')
                await holds(arm, PartStep.HOLD_NOT_ENGAGED, second)
                await moves(arm, second, 'phone')
                second.let_go('phone')
                await holds(arm, PartStep.HOLD_NOT_ENGAGED, second)

            await moves(arm, first, 'phone')
            laptop.press('gamepad')
            await asyncio.sleep(0.5)
            first.let_go('phone')
            await holds(arm, PartStep.HOLD_REENGAGE, first)
            await stands(arm, 0.6)
            laptop.let_go('gamepad')
            await asyncio.sleep(0.2)
            await moves(arm, laptop, 'gamepad')

    run(scenario)
