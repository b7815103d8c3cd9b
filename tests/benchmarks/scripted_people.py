#!/usr/bin/env python3
"""Scripted operators: each drives a workcell with a page of aiortc on the fast road, by keys, and draws no picture.

As a program: a load beside real pages, for bench_latency.py. It drives until it is ended.
"""

import argparse
import asyncio
import functools
import itertools
import json
import random
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import harness

harness.enter_workspace()
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'cobalt_teleop' / 'test'))

from page_client import PageClient  # noqa: E402

from cobalt_teleop.bridge.media.video_units import HEADER  # noqa: E402
from cobalt_teleop.core.keyboard_actions import ACTIONS, BITS  # noqa: E402

KEPT_EVENTS = 100
SAMPLE_S = 0.04
IDLE_SAMPLE_S = 0.2
PATIENCE_S = 3.0

_INDEX = {action.name: index for index, action in enumerate(ACTIONS)}


@dataclass
class Series:
    """Values over time."""

    times: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def add(self, at_s: float, value: float) -> None:
        """Adds one."""
        self.times.append(at_s)
        self.values.append(value)

    def between(self, since_s: float, until_s: float) -> list[float]:
        """Returns the values of a time."""
        return [value for at, value in zip(self.times, self.values, strict=True) if since_s <= at < until_s]


class Page(PageClient):  # type: ignore[misc]
    """A page that measures what comes, and forgets it.

    Args:
        started_s: Monotonic time of the soak's start [s].
    """

    def __init__(self, *arguments: Any, started_s: float, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.started_s = started_s
        self.ages = Series()
        self.trips = Series()
        self.key_now = ''
        self.shown_frame: tuple[str, int] | None = None
        self.picture_s = time.monotonic()
        self.video_restarts = 0
        self._heard_channels: set[Any] = set()

    def listen_to_video(self) -> None:
        """Looks for channels of video that have come."""
        for place, channel in self.channels.items():
            if place[0] == 'video' and channel not in self._heard_channels:
                self._heard_channels.add(channel)
                channel.on('message', functools.partial(self._on_fragment, place[1]))

    async def keep_video(self) -> None:
        """Asks for video anew when no picture has come for a while, as the real page does."""
        self.listen_to_video()
        if time.monotonic() - self.picture_s > PATIENCE_S:
            self.picture_s = time.monotonic()
            self.video_restarts += 1
            await self.say('restart_video', road='units')

    def _on_fragment(self, camera: str, data: bytes) -> None:
        stamp_ms, _, unit, index, count, _ = HEADER.unpack_from(data)
        if index == count - 1:
            self.shown_frame = (camera, unit)
            self.picture_s = time.monotonic()
            if unit % 10 == 0:
                self.ages.add(self.picture_s - self.started_s, time.time() * 1e3 - stamp_ms)

    def _on_sample(self, text: str) -> None:
        message = json.loads(text)
        if message['type'] == 'pong':
            self.trips.add(time.monotonic() - self.started_s, time.time() * 1e3 - message['sent_ms'])

    def _take(self, event: dict[str, Any]) -> None:
        super()._take(event)
        if event['type'] == 'session':
            self.key_now = event['key']
        if event['type'] == 'quality' and event['final'] and event['uri']:
            shutil.rmtree(event['uri'], ignore_errors=True)
        kept = {name: self.newest(name) for name in ('session', 'you', 'control', 'episode')}
        if len(self.events) > KEPT_EVENTS:
            self.events[:] = [event for event in kept.values() if event] + self.events[-20:]


@dataclass
class Person:
    """One scripted operator.

    Attributes:
        number: Whose workcell it drives.
        records: It runs one episode after the other.
        dropped: How often its page or its control was gone without its doing.
        reconnects: How often it came back.
        episodes: That it started.
        video_restarts: How often its pictures stood so long that it asked for them anew.
        ages: Of its pictures at arrival [ms].
        trips: Of its pings [ms].
    """

    number: int
    records: bool = True
    dropped: int = 0
    reconnects: int = 0
    episodes: int = 0
    video_restarts: int = 0
    ages: Series = field(default_factory=Series)
    trips: Series = field(default_factory=Series)

    async def work(self, port: int, started_s: float, until_s: float) -> None:
        """Drives until a time; comes back into its session when it is dropped."""
        key = ''
        for attempt in itertools.count():
            if time.monotonic() >= until_s:
                return
            page = Page(port, key, f'env_{self.number}', f'Operator {self.number}', road='units', started_s=started_s)
            page.ages, page.trips = self.ages, self.trips
            self.reconnects += attempt > 0
            try:
                async with page:
                    await self._drive(page, until_s)
            except (AssertionError, OSError, ConnectionError) as error:
                harness.say(f'operator {self.number} was dropped: {str(error)[:200]}')
                self.dropped += 1
                await asyncio.sleep(1.0)
            key = page.key_now
            self.video_restarts += page.video_restarts

    async def _drive(self, page: Page, until_s: float) -> None:
        await page.until(
            lambda: page.samples is not None and page.samples.readyState == 'open', 'the samples channel', 30
        )
        await page.say('acquire', ask=False)
        await page.until_event('control', timeout_s=20.0, yours=True)
        counts = [0] * len(ACTIONS)
        epoch = int(time.time()) % 2**30
        rhythm = random.Random(self.number)
        for name in itertools.cycle(('up', 'down', 'left', 'right')):
            counts[_INDEX[name]] += 1
            epoch += 1
            await self._hold(page, BITS[name], 0.5, counts, epoch, SAMPLE_S)
            await self._hold(page, 0, rhythm.uniform(0.3, 0.9), counts, epoch, IDLE_SAMPLE_S)
            await self._look_after_episode(page)
            if time.monotonic() >= until_s:
                return

    async def _hold(
        self, page: Page, buttons: int, seconds: float, counts: Sequence[int], epoch: int, period_s: float
    ) -> None:
        end_s = time.monotonic() + seconds
        while time.monotonic() < end_s:
            if page.socket.closed or page.samples.readyState != 'open':
                raise ConnectionError('its connection is closed')
            page.keys(buttons, engaged=bool(buttons), epoch=epoch, press_counts=list(counts), frame=page.shown_frame)
            await asyncio.sleep(period_s)
        page.ping()
        await page.keep_video()

    async def _look_after_episode(self, page: Page) -> None:
        control, episode = page.newest('control'), page.newest('episode')
        if control is not None and not control['yours']:
            raise ConnectionError('its control is gone')
        if self.records and (episode is None or episode['phase'] in ('idle', 'ended')):
            self.episodes += 1
            await page.say('start')


async def drive(port: int, numbers: Sequence[int]) -> None:
    """Has scripted operators drive workcells, without episodes, until it is cancelled."""
    started_s = time.monotonic()
    people = [Person(number, records=False) for number in numbers]
    await asyncio.gather(*(person.work(port, started_s, float('inf')) for person in people))


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--port', type=int, required=True, help='of the page')
    parser.add_argument('--workcells', type=int, nargs='+', required=True, help='numbers of the workcells to drive')
    options = parser.parse_args()
    try:
        asyncio.run(drive(options.port, options.workcells))
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == '__main__':
    sys.exit(main())
