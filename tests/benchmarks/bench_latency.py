#!/usr/bin/env python3
"""From a key press in Chromium to the changed picture on its screen, by stages, at random phases of the tick.

The stages: upstream (key event to the arrival of the first command that knows of it), tick_wait (to the next tick),
idle_ticks (to the first tick in which that moved the target), step (tick's start to the new state),
render_encode (to the published frame; encode is the encoder alone, on pictures of the same size), network (to its
arrival in the browser), decode (to its hand-over to the compositor, jitter buffer included), paint (to the screencast).
"""

import argparse
import itertools
import os
import random
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import harness

harness.enter_workspace()

import cv2  # noqa: E402
import numpy as np  # noqa: E402
import rclpy  # noqa: E402
from chromium import open_page, wait_for  # noqa: E402
from running_stack import RunningStack, free_port  # noqa: E402
from screencast import Screencast  # noqa: E402

from cobalt_interfaces.msg import ControlStep  # noqa: E402
from cobalt_teleop.core import topics  # noqa: E402
from cobalt_teleop.ros.endpoints import TakenSubscription  # noqa: E402
from cobalt_teleop.ros.stamps import to_nanoseconds  # noqa: E402
from cobalt_teleop.video import frame_code  # noqa: E402
from cobalt_teleop.video.h264_encoder import H264Encoder  # noqa: E402

_WATCH = """() => {
  window.benchKeys = [];
  window.benchFrames = [];
  addEventListener('keydown', (event) => {
    if (!event.repeat) window.benchKeys.push([event.code, performance.timeOrigin + event.timeStamp]);
  }, { capture: true });
  const video = document.querySelector('video[data-camera=front]');
  const onFrame = (now, metadata) => {
    video.requestVideoFrameCallback(onFrame);
    const shown = cobalt.cameras.front;
    if (shown.rtp === metadata.rtpTimestamp && shown.stamp_ms) {
      window.benchFrames.push([shown.stamp_ms, performance.timeOrigin + metadata.receiveTime,
        performance.timeOrigin + metadata.presentationTime]);
    }
  };
  video.requestVideoFrameCallback(onFrame);
  // Captions and the smaller camera lie over the code in the picture's corner.
  for (const cover of document.querySelectorAll('figcaption, figure.inset')) cover.style.opacity = 0;
}"""

_SCREEN = {'width': 900, 'height': 640}
"""Small, as every painted frame is also compressed for the screencast by the same two cores."""

_CODE_RANGE = 1 << frame_code.VALUE_BITS


@dataclass(frozen=True)
class Tick:
    """One row, in ms of the system clock."""

    start: float
    state_before: float
    target_x: float
    driven: bool


class Probe:
    """Collects rows and frames from ROS, key events and painted frames from the page."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self._node = rclpy.create_node('bench_latency')
        self._rows = TakenSubscription(self._node, topics.CONTROL_STEP, 'env_0')
        self._video = TakenSubscription(self._node, topics.video('front'), 'env_0')
        self._commands = TakenSubscription(self._node, topics.teleop_command('arm'), 'env_0')
        self.ticks: list[Tick] = []
        self.commands: list[tuple[float, float]] = []
        """Device stamps and arrivals [ms]."""
        self.published: dict[float, float] = {}
        self.painted: list[tuple[float, int]] = []
        self._box = page.evaluate(
            """() => { const video = document.querySelector('video[data-camera=front]');
              const box = video.getBoundingClientRect();
              const scale = Math.min(box.width / video.videoWidth, box.height / video.videoHeight);
              const [width, height] = [video.videoWidth * scale, video.videoHeight * scale];
              return [box.x + (box.width - width) / 2, box.y + (box.height - height) / 2, width, height]; }"""
        )
        page.evaluate(_WATCH)

    def wait(self, seconds: float) -> None:
        """Lets time pass and takes what comes."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._page.wait_for_timeout(min(left, 0.05) * 1e3)
            for row, _ in self._rows.take_all():
                self.ticks.append(_tick(row))
            for command, info in self._commands.take_all():
                self.commands.append((to_nanoseconds(command.device_stamp) * 1e-6, info['received_timestamp'] * 1e-6))
            for frame, info in self._video.take_all():
                self.published[to_nanoseconds(frame.timestamp) * 1e-6] = info['source_timestamp'] * 1e-6

    def read_screen(self, screen: list[tuple[float, bytes]]) -> None:
        """Reads the codes of the painted frames."""
        x, y, width, height = self._box
        for painted_ms, data in screen:
            picture = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
            scale = picture.shape[1] / self._page.viewport_size['width']
            top, left = round(y * scale), round(x * scale)
            crop = picture[top : round((y + height) * scale), left : round((x + width) * scale)]
            value = frame_code.read(crop)
            if value is not None:
                self.painted.append((painted_ms, value))

    def close(self) -> None:
        """Ends the node."""
        self._node.destroy_node()


def _tick(row: ControlStep) -> Tick:
    offset_ms = (time.time_ns() - time.monotonic_ns()) * 1e-6
    part = row.parts[0]
    return Tick(
        start=row.monotonic_ns * 1e-6 + offset_ms,
        state_before=to_nanoseconds(row.header.stamp) * 1e-6,
        target_x=part.target.position.x,
        driven=part.authority == ControlStep.AUTHORITY_HUMAN,
    )


def stages_of(probe: Probe, keys: list[tuple[str, float]], frames: list[list[float]]) -> list[dict[str, float]]:
    """Follows each key press through the stages."""
    results = []
    for code, pressed in keys:
        direction = 1.0 if code == 'KeyS' else -1.0
        arrived = next((at for stamp, at in probe.commands if stamp >= pressed - 1.0), None)
        if arrived is None:
            continue
        first = next((tick for tick in probe.ticks if tick.start >= arrived), None)
        found = next(
            (
                (tick, after)
                for before, tick, after in zip(probe.ticks, probe.ticks[1:], probe.ticks[2:], strict=False)
                if tick.driven and tick.start >= arrived and direction * (tick.target_x - before.target_x) > 2e-4
            ),
            None,
        )
        if first is None or found is None or found[0].start - pressed > 500.0:
            continue
        tick, after = found
        state = after.state_before
        wanted = frame_code.value_of_stamp(round(state * 1e6))
        painted = next((at for at, value in probe.painted if 0 <= (value - wanted) % _CODE_RANGE < 2000), None)
        shown = next((frame for frame in frames if frame[0] >= state - 1.5), None)
        published = next((at for stamp, at in probe.published.items() if abs(stamp - state) < 0.01), None)
        if painted is None or shown is None or published is None:
            continue
        _, received, presented = shown
        results.append(
            {
                'upstream': arrived - pressed,
                'tick_wait': first.start - arrived,
                'idle_ticks': tick.start - first.start,
                'step': state - tick.start,
                'render_encode': published - state,
                'network': received - published,
                'decode': presented - received,
                'paint': painted - presented,
                'input_to_decoded': presented - pressed,
                'input_to_picture': painted - pressed,
                'all_but_tick_wait': painted - pressed - (first.start - arrived),
            }
        )
    return results


def encode_times() -> list[float]:
    """Times the encoder alone on pictures of the same size [ms]."""
    encoder = H264Encoder(320, 240, 20.0, 2000)
    noise = np.random.default_rng(0).integers(0, 255, (240, 400, 3), dtype=np.uint8)
    smooth = cv2.GaussianBlur(noise, (31, 31), 12.0)
    times = []
    for shift in range(60):
        picture = np.ascontiguousarray(smooth[:, shift : shift + 320])
        start = time.perf_counter()
        encoder.encode(picture, key_frame=False)
        times.append((time.perf_counter() - start) * 1e3)
    return times


def measure(arguments: argparse.Namespace) -> harness.Figures:
    """Presses keys and follows them."""
    presses = arguments.presses or (50 if arguments.quick else 200)
    with tempfile.TemporaryDirectory() as folder:
        places = {'dataset': f'{folder}/dataset', 'draw_frame_code': 'true', 'width': 320, 'height': 240}
        with RunningStack(Path(folder) / 'stack.log', arguments=places) as stack:
            stack.wait_until_live(1)
            os.environ['ROS_DOMAIN_ID'] = str(stack.domain)
            rclpy.init()
            try:
                port = free_port()
                flags = (f'--remote-debugging-port={port}',)
                with open_page(stack.address, size=_SCREEN, flags=flags) as page:
                    wait_for(page, "cobalt.connection.level === 'live' && cobalt.cameras.front.fps > 10", 30.0)
                    page.keyboard.press('KeyE', delay=100)
                    wait_for(page, 'cobalt.control.yours', 5.0)
                    probe = Probe(page)
                    screencast = Screencast(port, stack.address)
                    probe.wait(1.5)
                    harness.say(f'{presses} key presses ...')
                    for _, code in zip(range(presses), itertools.cycle(('KeyS', 'KeyW')), strict=False):
                        page.keyboard.down(code)
                        probe.wait(0.12)
                        page.keyboard.up(code)
                        probe.wait(random.uniform(0.10, 0.25))
                    probe.wait(0.7)
                    keys = [tuple(key) for key in page.evaluate('window.benchKeys') if key[0] in ('KeyS', 'KeyW')]
                    frames = page.evaluate('window.benchFrames')
                    screencast.stop()
                    probe.read_screen(screencast.frames)
                    probe.close()
            finally:
                rclpy.try_shutdown()
    results = stages_of(probe, keys, frames)
    harness.say(f'{len(screencast.frames)} frames painted, {len(probe.painted)} of them with a code')
    figures: harness.Figures = {'operators_1.presses': len(keys), 'operators_1.followed': len(results)}
    if len(results) < 0.8 * len(keys):
        harness.say(f'only {len(results)} of {len(keys)} presses could be followed to the screen')
    for name in results[0] if results else ():
        figures |= harness.percentiles(f'operators_1.{name}', [result[name] for result in results])
    figures |= harness.percentiles('operators_1.encode', encode_times())
    return figures


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds --presses."""
    parser.add_argument('--presses', type=int, help='number of key presses (200)')


if __name__ == '__main__':
    sys.exit(harness.run('latency', __doc__.splitlines()[0], measure, add_arguments))
