#!/usr/bin/env python3
"""Bad networks between a real browser and a stack: age of pictures, freezes, holds, and how long it takes to come back.

Client, router and server are network namespaces of this machine; the router drops packets or everything. A freeze is a
pause of more than 200 ms between two pictures. Needs root, iproute2 and nftables.
"""

import argparse
import contextlib
import functools
import itertools
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import harness

harness.enter_workspace()
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'cobalt_teleop' / 'test'))

import namespaces  # noqa: E402
from namespaces import SmallInternet  # noqa: E402
from playwright.sync_api import Page  # noqa: E402
from remote_stack import RemoteStack, remote_page, remote_stack, take_control, wait_until_live  # noqa: E402

ROADS = ('units', 'track')
LOSSES = (0, 1, 2, 5, 20)
QUICK_LOSSES = (0, 5)
FREEZE_MS = 200.0
GRACE_S = 30.0

_WATCH = """() => {
  window.benchPictures = [];
  let last = null;
  const look = () => {
    const { frame, shown_at_ms, stamp_ms } = cobalt.cameras.front;
    if (shown_at_ms !== last) {
      last = shown_at_ms;
      const age_ms = stamp_ms === null ? null : shown_at_ms + cobalt.clock.offset_ms - stamp_ms;
      window.benchPictures.push([shown_at_ms, age_ms]);
    }
    requestAnimationFrame(look);
  };
  look();
}"""


def pictures_during(page: Page, seconds: float) -> list[tuple[float, float | None]]:
    """Returns when each picture was shown and how old it was then [ms]."""
    page.evaluate('window.benchPictures.length = 0')
    page.wait_for_timeout(seconds * 1000)
    return [(at, age) for at, age in page.evaluate('window.benchPictures')]


def figures_of(name: str, pictures: list[tuple[float, float | None]], seconds: float) -> harness.Figures:
    """Returns age, freezes and the longest pause."""
    times = [at for at, _ in pictures]
    pauses = [later - earlier for earlier, later in itertools.pairwise(times)]
    figures = harness.percentiles(f'{name}.picture_age', [age for _, age in pictures if age is not None], (50, 95))
    figures[f'{name}.freezes'] = sum(pause > FREEZE_MS for pause in pauses)
    figures[f'{name}.longest_pause_ms'] = max(pauses, default=seconds * 1000)
    figures[f'{name}.pictures_hz'] = len(pictures) / seconds
    return figures


def lossy(internet: SmallInternet, page: Page, road: str, losses: tuple[int, ...], seconds: float) -> harness.Figures:
    """Measures pictures at each loss."""
    figures: harness.Figures = {}
    for percent in losses:
        internet.lose(percent) if percent else internet.open()
        page.wait_for_timeout(1500)
        pictures = pictures_during(page, seconds)
        figures |= figures_of(f'{road}.loss_{percent}', pictures, seconds)
        harness.say(f'{road}, {percent} % lost: {len(pictures)} pictures, road now {page.evaluate("cobalt.road")}')
    internet.open()
    return figures


def _until(condition: Callable[[], bool], page: Page, timeout_s: float) -> float:
    """Returns how long it took [ms]; NaN if it did not come."""
    started = time.monotonic()
    while time.monotonic() - started < timeout_s:
        if condition():
            return (time.monotonic() - started) * 1e3
        page.wait_for_timeout(20)
    return float('nan')


def _back_for_good(page: Page, timeout_s: float = 60.0, calm_s: float = 5.0) -> float:
    """Returns after how long all was well and stayed so [ms]; NaN if it did not come."""
    started = well_since = time.monotonic()
    was_well = True
    while time.monotonic() - started < timeout_s:
        if not _is_back(page):
            was_well = False
        elif not was_well:
            was_well, well_since = True, time.monotonic()
        elif time.monotonic() - well_since > calm_s:
            return (well_since - started) * 1e3
        page.wait_for_timeout(20)
    return float('nan')


def _is_back(page: Page) -> bool:
    return bool(
        page.evaluate("cobalt.connection.level === 'live' && cobalt.cameras.front.age_ms < 500 && cobalt.control.yours")
    )


def interrupted(
    name: str, stack: RemoteStack, page: Page, break_it: Callable[[], None], mend_it: Callable[[float], None]
) -> harness.Figures:
    """Breaks the network while a key is held, and watches the arm and the page.

    Args:
        name: Of the figures.
        stack: Whose arm is driven.
        page: From which it is driven.
        break_it: Breaks the network.
        mend_it: Takes the seconds that it has been broken, and returns when it is mended.
    """
    _until(lambda: _is_back(page), page, 30.0)
    lease, session = stack.lease_id, page.evaluate('cobalt.session')
    key = 'KeyE' if stack.height < 0.3 else 'KeyQ'
    page.keyboard.down(key)
    _until(lambda: stack.moves, page, 5.0)
    page.wait_for_timeout(200)
    break_it()
    broken_s = time.monotonic()
    figures: harness.Figures = {f'{name}.held_after_ms': _until(lambda: not stack.moves, page, 5.0)}
    page.wait_for_timeout(300)  # it comes to rest gently
    seen, held_at = stack.steps, stack.height
    mend_it(time.monotonic() - broken_s)
    figures[f'{name}.back_after_ms'] = _back_for_good(page)
    figures[f'{name}.stale_motion_mm'] = abs(stack.height - held_at) * 1e3
    figures[f'{name}.stale_ticks'] = sum(row.parts[0].authority == 1 for row in stack.steps_since(seen))
    same = stack.lease_id == lease and page.evaluate('cobalt.session') == session
    figures[f'{name}.lease_kept'] = float(same)
    figures[f'{name}.reloads'] = float(not page.evaluate('window.loadedOnce === true'))
    page.keyboard.up(key)
    page.wait_for_timeout(700)
    harness.say(f'{name}: back after {figures[f"{name}.back_after_ms"]:.0f} ms, road {page.evaluate("cobalt.road")}')
    return figures


def measure(arguments: argparse.Namespace) -> harness.Figures:
    """Runs all of it."""
    reason = namespaces.why_not()
    if reason:
        sys.exit(reason)
    seconds = arguments.seconds or (3.0 if arguments.quick else 20.0)
    cuts = arguments.cuts[:1] if arguments.quick else arguments.cuts
    losses = QUICK_LOSSES if arguments.quick else LOSSES
    figures: harness.Figures = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        SmallInternet() as internet,
        remote_stack(internet, grace_s=GRACE_S) as stack,
    ):
        with remote_page(internet, stack.address, Path(folder)) as page:
            wait_until_live(page, 60.0)
            page.evaluate('window.loadedOnce = true')
            take_control(page)
            for cut in cuts:
                figures |= interrupted(
                    f'cut_{cut}',
                    stack,
                    page,
                    internet.cut,
                    functools.partial(_wait_and_open, internet, page, cut),
                )
            if not arguments.quick:
                moved = interrupted('new_address', stack, page, internet.change_address, lambda _: None)
                # The arm need not hold: a browser may take its connections along, with the key still down.
                kept = ('back_after_ms', 'lease_kept', 'reloads')
                figures |= {name: value for name, value in moved.items() if name.endswith(kept)}
        for road in ROADS:
            with remote_page(internet, stack.address, Path(folder), query=f'road={road}') as page:
                wait_until_live(page, 60.0)
                page.evaluate(_WATCH)
                figures |= lossy(internet, page, road, losses, seconds)
    return figures


def _wait_and_open(internet: SmallInternet, page: Page, seconds: float, since_s: float) -> None:
    with contextlib.ExitStack() as exits:
        exits.callback(internet.open)
        page.wait_for_timeout(max(0.0, seconds - since_s) * 1000)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds --seconds and --cuts."""
    parser.add_argument('--seconds', type=float, help='for each loss and road (20)')
    parser.add_argument('--cuts', type=int, nargs='+', default=[2, 20], help='lengths of the cuts [s] (2 20)')


if __name__ == '__main__':
    sys.exit(harness.run('network', __doc__.splitlines()[0], measure, add_arguments))
