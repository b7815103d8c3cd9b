"""Follows key presses of one page through its workcell, the bridge and the browser to the painted picture."""

import time
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import rclpy
from screencast import Screencast

from cobalt_interfaces.msg import ControlStep
from cobalt_teleop.core import topics
from cobalt_teleop.ros.endpoints import TakenSubscription
from cobalt_teleop.ros.stamps import to_nanoseconds
from cobalt_teleop.video import frame_code

CAMERA = 'front'

_CODE_RANGE = 1 << frame_code.VALUE_BITS
_LONGEST_MS = 500.0

_WATCH = """() => {
  window.benchKeys = [];
  window.benchFrames = [];
  addEventListener('keydown', (event) => {
    if (!event.repeat) window.benchKeys.push([event.code, performance.timeOrigin + event.timeStamp]);
  }, { capture: true });
  const figure = document.querySelector('figure[data-camera=front]');
  figure.addEventListener('shown', ({ detail: { stamp_ms, sent_age_ms, received_ms, at_ms } }) => {
    if (stamp_ms) window.benchFrames.push([stamp_ms, sent_age_ms, received_ms, at_ms]);
  });
  // Captions and the smaller cameras lie over the code in the picture's corner.
  for (const cover of document.querySelectorAll('figcaption, figure.inset')) cover.style.opacity = 0;
}"""

_BOX = """() => { const screen = document.querySelector('figure[data-camera=front] .screen');
  const box = screen.getBoundingClientRect();
  const [own_width, own_height] = [screen.videoWidth ?? screen.width, screen.videoHeight ?? screen.height];
  const scale = Math.min(box.width / own_width, box.height / own_height);
  const [width, height] = [own_width * scale, own_height * scale];
  return [box.x + (box.width - width) / 2, box.y + (box.height - height) / 2, width, height]; }"""


@dataclass(frozen=True)
class Tick:
    """One row, in ms of the system clock."""

    start: float
    state_before: float
    target_x: float
    driven: bool


class PressTrace:
    """Collects rows, commands and frames from ROS, key events and shown frames from the page, and what it paints.

    Args:
        page: The operator's page.
        workcell_id: His workcell.
        debugging_port: Of the browser.
    """

    def __init__(self, page: Any, workcell_id: str, debugging_port: int) -> None:
        self._page = page
        self._node = rclpy.create_node('bench_latency')
        self._rows = TakenSubscription(self._node, topics.CONTROL_STEP, workcell_id)
        self._infos = TakenSubscription(self._node, topics.camera_info(CAMERA), workcell_id)
        self._video = TakenSubscription(self._node, topics.video(CAMERA), workcell_id)
        self._commands = TakenSubscription(self._node, topics.teleop_command('arm'), workcell_id)
        self._samples = TakenSubscription(self._node, topics.operator_sample('keyboard', 'arm'), workcell_id)
        self._ticks: list[Tick] = []
        self._arrivals: list[tuple[float, float]] = []
        self._told: dict[int, float] = {}
        self._answered: dict[int, float] = {}
        self._rendered: dict[float, float] = {}
        self._published: dict[float, float] = {}
        page.evaluate(_WATCH)
        self._box = page.evaluate(_BOX)
        self._screencast = Screencast(debugging_port, page.url)

    def begin(self) -> None:
        """Forgets the presses before."""
        self._page.evaluate('window.benchKeys = []')

    def wait(self, seconds: float) -> None:
        """Lets time pass and takes what comes."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._page.wait_for_timeout(min(left, 0.1) * 1e3)
            for row, _ in self._rows.take_all():
                self._ticks.append(_tick(row))
            for sample, info in self._samples.take_all():
                self._told[to_nanoseconds(sample.device_stamp)] = info['source_timestamp'] * 1e-6
            for command, info in self._commands.take_all():
                self._answered[to_nanoseconds(command.device_stamp)] = info['source_timestamp'] * 1e-6
                self._arrivals.append((to_nanoseconds(command.device_stamp) * 1e-6, info['received_timestamp'] * 1e-6))
            for message, info in self._infos.take_all():
                self._rendered[to_nanoseconds(message.header.stamp) * 1e-6] = info['source_timestamp'] * 1e-6
            for frame, info in self._video.take_all():
                self._published[to_nanoseconds(frame.timestamp) * 1e-6] = info['source_timestamp'] * 1e-6

    def close(self) -> tuple[int, list[dict[str, float]]]:
        """Ends it; returns the number of presses, and the stages [ms] of each that could be followed to the screen."""
        self._screencast.stop()
        keys = [(code, at) for code, at in self._page.evaluate('window.benchKeys') if code in ('KeyS', 'KeyW')]
        frames = self._page.evaluate('window.benchFrames')
        self._node.destroy_node()
        painted = self._read_screen()
        followed = [stages for code, at in keys if (stages := self._follow(code, at, frames, painted)) is not None]
        return len(keys), followed

    def device_node_ms(self) -> list[float]:
        """Returns how long the device's node took from each sample that the bridge sent to the command that it made."""
        return [at - self._told[stamp] for stamp, at in self._answered.items() if stamp in self._told]

    def _read_screen(self) -> list[tuple[float, int]]:
        """Reads the codes of the painted frames."""
        x, y, width, height = self._box
        codes = []
        for painted_ms, data in self._screencast.frames:
            picture = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
            scale = picture.shape[1] / self._page.viewport_size['width']
            top, left = round(y * scale), round(x * scale)
            value = frame_code.read(picture[top : round((y + height) * scale), left : round((x + width) * scale)])
            if value is not None:
                codes.append((painted_ms, value))
        return codes

    def _follow(
        self, code: str, pressed: float, frames: list[list[float | None]], painted: list[tuple[float, int]]
    ) -> dict[str, float] | None:
        direction = 1.0 if code == 'KeyS' else -1.0
        arrived = next((at for stamp, at in self._arrivals if stamp >= pressed - 1.0), None)
        if arrived is None:
            return None
        first = next((tick for tick in self._ticks if tick.start >= arrived), None)
        found = next(
            (
                (tick, after)
                for before, tick, after in zip(self._ticks, self._ticks[1:], self._ticks[2:], strict=False)
                if tick.driven and tick.start >= arrived and direction * (tick.target_x - before.target_x) > 2e-4
            ),
            None,
        )
        if first is None or found is None or found[0].start - pressed > _LONGEST_MS:
            return None
        tick, after = found
        state = after.state_before
        wanted = frame_code.value_of_stamp(round(state * 1e6))
        paint = next((at for at, value in painted if 0 <= (value - wanted) % _CODE_RANGE < 2000), None)
        shown = next((frame for frame in frames if frame[0] is not None and frame[0] >= state - 1.5), None)
        rendered = _at(self._rendered, state)
        published = _at(self._published, state)
        if paint is None or shown is None or rendered is None or published is None:
            return None
        _, sent_age, received, drawn = shown
        if received is None or drawn is None:
            return None
        # A track's frames do not tell when they were sent: the bridge's share is in the network's there.
        sent = state + sent_age if sent_age is not None else received
        return {
            'upstream': arrived - pressed,
            'tick_wait': first.start - arrived,
            'idle_ticks': tick.start - first.start,
            'step': state - tick.start,
            'render': rendered - state,
            'encode': published - rendered,
            'bridge': sent - published,
            'network': received - sent,
            'decode': drawn - received,
            'paint': paint - drawn,
            'server': sent - arrived,
            'input_to_picture': paint - pressed,
            'all_but_tick_wait': paint - pressed - (first.start - arrived),
        }


def _at(times: dict[float, float], stamp: float) -> float | None:
    return next((at for key, at in times.items() if abs(key - stamp) < 0.01), None)


def _tick(row: ControlStep) -> Tick:
    offset_ms = (time.time_ns() - time.monotonic_ns()) * 1e-6
    part = row.parts[0]
    return Tick(
        start=row.monotonic_ns * 1e-6 + offset_ms,
        state_before=to_nanoseconds(row.header.stamp) * 1e-6,
        target_x=part.target.position.x,
        driven=part.authority == ControlStep.AUTHORITY_HUMAN,
    )
