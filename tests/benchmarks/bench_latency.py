#!/usr/bin/env python3
"""From a key press in Chromium to the changed picture painted on its screen, by stages, for one and more operators.

Each operator has a page and a workcell of his own, with one camera of 320x240; all pages are tabs of one browser on the
machine that also simulates. One operator at a time is followed, in turn: his keys come through the browser's input at
random phases of the tick, and his screen is recorded. The others drive meanwhile by key events that their pages make
themselves; recording their screens too would measure the recorder.

The stages of a press: upstream (key event to the arrival of the first command that knows of it), tick_wait (to the next
tick), idle_ticks (to the first tick in which that moved the target), step (tick's start to the new state), render (to
the picture), encode (to the published frame), bridge (to the first packet handed to its socket), network (to the page),
decode (to the picture drawn by the page, or handed to the compositor by a video element), paint (to the screencast).

Presses follow one another within half a second, so that one engagement lasts: the first press of an engagement moves
nothing in its first tick, by rule, and so takes one tick more.

device_node is what the device's node adds, within upstream: from the bridge's sample to the command that it makes.

server is what the operators share: from the arrival of the command at the host to the packet handed to the socket, the
wait for the tick included. On the road `track`, whose packets do not tell when they left, it ends in the browser.

With --pages, other operators are scripted clients that take the same video and draw none of it.

Figures without a road are those of the road that a page takes by itself.

With --samples there is no browser and no bridge: synthetic samples at 60 Hz of phones and of gamepads, an ideal host
and `page_devices` alone show what the device's node adds by itself, from a sample's source stamp to its command's.
"""

import argparse
import contextlib
import itertools
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import harness

harness.enter_workspace()

import psutil  # noqa: E402
import rclpy  # noqa: E402
import sample_trace  # noqa: E402
from chromium import open_pages, wait_for  # noqa: E402
from press_trace import CAMERA, PressTrace  # noqa: E402
from running_stack import RunningStack, cpu_percent, free_port  # noqa: E402

ROADS = ('units', 'track')

_SCREEN = {'width': 720, 'height': 560}
"""Small, as every painted frame is also compressed for the screencast by the same two cores."""

_DRIVE = """() => {
  let down = null;
  const codes = ['KeyS', 'KeyW'];
  const turn = () => {
    if (!down && !window.benchDrives) return;
    const type = down ? 'keyup' : 'keydown';
    const code = down ?? codes[0];
    dispatchEvent(new KeyboardEvent(type, { code, bubbles: true, cancelable: true }));
    if (down) codes.reverse();
    down = down ? null : code;
    setTimeout(turn, down ? 250 : 150 + 350 * Math.random());
  };
  window.benchDrives = true;
  turn();
}"""


@contextlib.contextmanager
def running_stack(operators: int, rate_hz: float) -> Iterator[RunningStack]:
    """Starts a workcell for each operator, and ROS here in the same domain."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = {
            'num_envs': operators,
            'cameras': CAMERA,
            'width': 320,
            'height': 240,
            'control_rate_hz': rate_hz,
            'camera_rate_hz': rate_hz,
            'draw_frame_code': 'true',
            'adaptive_video': 'false',
            'dataset': f'{folder}/dataset',
        }
        with RunningStack(Path(folder) / 'stack.log', arguments=arguments) as stack:
            stack.wait_until_live(operators)
            os.environ['ROS_DOMAIN_ID'] = str(stack.domain)
            rclpy.init()
            try:
                yield stack
            finally:
                rclpy.try_shutdown()


@contextlib.contextmanager
def scripted_people(stack: RunningStack, numbers: range) -> Iterator[None]:
    """Has scripted operators drive these workcells: the load of people whose browsers run on machines of their own."""
    if not numbers:
        yield
        return
    program = Path(__file__).with_name('scripted_people.py')
    command = [sys.executable, str(program), '--port', str(stack.arguments['port']), '--workcells', *map(str, numbers)]
    people = subprocess.Popen(command)
    try:
        yield
    finally:
        people.send_signal(signal.SIGINT)
        people.wait(10.0)


def measure_road(stack: RunningStack, operators: int, road: str, presses: int, pages: int = 0) -> harness.Figures:
    """Has all operators drive, follows those with pages one after the other, returns figures without a prefix.

    Args:
        stack: Running.
        operators: How many drive.
        road: Of their pages.
        presses: That are followed.
        pages: How many of them have a page in the browser; 0 for all.
    """
    count = pages or operators
    with scripted_people(stack, range(count, operators)):
        return measure_pages(stack, count, road, presses)


def measure_pages(stack: RunningStack, operators: int, road: str, presses: int) -> harness.Figures:
    """Has operators with pages drive, follows one after the other, returns figures without a prefix."""
    port = free_port()
    addresses = [f'{stack.address}?workcell=env_{index}&road={road}' for index in range(operators)]
    followed: list[dict[str, float]] = []
    in_device_node: list[float] = []
    pressed = 0
    with open_pages(addresses, size=_SCREEN, flags=(f'--remote-debugging-port={port}',)) as pages:
        for page in pages:
            wait_for(page, f"cobalt.connection.level === 'live' && cobalt.cameras.{CAMERA}.fps > 5", 60.0)
            # The operators of the road before keep their control for a while.
            wait_for(page, "cobalt.control.holder === ''", 60.0)
            page.keyboard.press('KeyE', delay=100)
            wait_for(page, 'cobalt.control.yours', 10.0)
            page.evaluate(_DRIVE)
        cpu = cpu_percent(stack.nodes() | {'browser': _Family(port)}, 3.0)
        for index, page in enumerate(pages):
            page.evaluate('window.benchDrives = false')
            trace = PressTrace(page, f'env_{index}', port)
            trace.wait(1.5)
            for number, code in zip(range(2 - presses // -operators), itertools.cycle(('KeyS', 'KeyW')), strict=False):
                if number == 2:  # after these, an engagement is on, and the arm swings between two places
                    trace.begin()
                page.keyboard.down(code)
                trace.wait(0.12)
                page.keyboard.up(code)
                trace.wait(random.uniform(0.10, 0.25))
            trace.wait(0.7)
            count, stages = trace.close()
            pressed += count
            followed += stages
            in_device_node += trace.device_node_ms()
            page.evaluate(_DRIVE)
        roads = {page.evaluate('cobalt.road') for page in pages}
    if roads != {road}:
        harness.say(f'pages took the road {", ".join(sorted(roads))} instead of {road}')
    if len(followed) < 0.8 * pressed:
        harness.say(f'only {len(followed)} of {pressed} presses could be followed to the screen')
    figures: harness.Figures = {'presses': pressed, 'followed': len(followed)}
    for name in followed[0] if followed else ():
        figures |= harness.percentiles(name, [stages[name] for stages in followed], (50, 95))
    figures |= harness.percentiles('device_node', in_device_node, (50, 95))
    return figures | {f'{name}.cpu_percent': value for name, value in cpu.items()}


class _Family(psutil.Process):
    """A browser: the CPU of all its processes together."""

    def __init__(self, debugging_port: int) -> None:
        flag = f'--remote-debugging-port={debugging_port}'
        roots = [one for one in psutil.process_iter(['cmdline']) if flag in (one.info['cmdline'] or ())]
        super().__init__(min(roots, key=lambda one: one.create_time()).pid)

    def cpu_times(self) -> Any:
        own = super().cpu_times()
        children = [child.cpu_times() for child in self.children(recursive=True)]
        return own._replace(
            user=own.user + sum(times.user for times in children),
            system=own.system + sum(times.system for times in children),
        )


def road_of_a_page(stack: RunningStack) -> str:
    """Returns the road that a page takes by itself in this browser."""
    with open_pages([f'{stack.address}?workcell=env_0'], size=_SCREEN) as (page,):
        wait_for(page, "cobalt.connection.level === 'live'", 60.0)
        return str(page.evaluate('cobalt.road'))


def measure(arguments: argparse.Namespace) -> harness.Figures:
    """Measures each number of operators on each road, and one operator at other rates; or the device's node alone."""
    if arguments.samples:
        return measure_samples(arguments)
    presses = arguments.presses or (40 if arguments.quick else 200)
    counts = arguments.operators or ([1] if arguments.quick else [1, 6, 8])
    figures: harness.Figures = {}
    for operators in counts:
        with running_stack(operators, 20.0) as stack:
            default = road_of_a_page(stack)
            roads = [arguments.road] if arguments.road in ROADS else [default]
            if arguments.road == 'all' and not arguments.quick:
                roads = [default, *(road for road in ROADS if road != default)]
            for road in roads:
                harness.say(f'{operators} operators on the road {road}, {presses} key presses ...')
                try:
                    found = measure_road(stack, operators, road, presses, min(arguments.pages, operators))
                except AssertionError as error:
                    harness.say(f'{operators} operators on the road {road} did not come about: {error}')
                    continue
                if road == default:
                    figures |= {f'operators_{operators}.{name}': value for name, value in found.items()}
                figures |= {f'road.{road}.operators_{operators}.{name}': value for name, value in found.items()}
    for rate_hz in arguments.rate or ():
        with running_stack(1, rate_hz) as stack:
            harness.say(f'1 operator at {rate_hz:g} Hz, {presses} key presses ...')
            found = measure_road(stack, 1, road_of_a_page(stack), presses)
            figures |= {f'rate_{rate_hz:g}.operators_1.{name}': value for name, value in found.items()}
    return figures


def measure_samples(arguments: argparse.Namespace) -> harness.Figures:
    """Measures what the nodes of a pose device and of a rate device add by themselves."""
    figures: harness.Figures = {}
    for operators, device in itertools.product(arguments.operators or (1, 8), ('phone', 'gamepad')):
        seconds = 5.0 if arguments.quick else 20.0
        harness.say(f'samples of {operators} x {device} for {seconds:g} s ...')
        found = sample_trace.measure(operators, device, seconds)
        figures |= {f'samples.{device}.operators_{operators}.{name}': value for name, value in found.items()}
    return figures


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds --operators, --pages, --road, --rate, --presses and --samples."""
    parser.add_argument('--samples', action='store_true', help="the device's node alone, without a browser (1 8)")
    parser.add_argument('--operators', type=int, nargs='+', metavar='N', help='numbers of operators (1 6 8)')
    parser.add_argument(
        '--pages',
        type=int,
        default=0,
        help='so many of the operators have a page in the browser here; the others are scripted clients, as if their '
        'browsers ran elsewhere (all)',
    )
    parser.add_argument('--road', choices=('all', *ROADS), default='all', help='how pictures reach the screen (all)')
    parser.add_argument('--rate', type=float, nargs='+', metavar='HZ', help='rates of control and camera besides 20 Hz')
    parser.add_argument('--presses', type=int, help='key presses for each figure (200)')


if __name__ == '__main__':
    sys.exit(harness.run('latency', __doc__.splitlines()[0], measure, add_arguments))
