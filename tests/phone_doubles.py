"""Doubles of a phone's hardware in Chromium: its place in the room, its sensors, and fingers on its screen."""

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

_PHONE = Path(__file__).with_name('phone_double.js')
_IWER = Path(sys.prefix) / 'npm' / 'node_modules' / 'iwer' / 'build' / 'iwer.min.js'

IPHONE = (
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) '
    'Version/18.5 Mobile/15E148 Safari/604.1'
)


def phone_with_webxr() -> str:
    """Returns a script that gives a page a phone with WebXR, which `window.hand` moves."""
    return _IWER.read_text() + _PHONE.read_text()


class Fingers:
    """Fingers on the screen of a page, by the browser's own input.

    Args:
        page: Of a context with touch.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self._input = page.context.new_cdp_session(page)
        self._down: dict[int, tuple[float, float]] = {}

    def press(self, selector: str, finger: int = 1, at: tuple[float, float] = (0.5, 0.5)) -> None:
        """Puts a finger onto an element, at a share of its width and height."""
        box = self._page.locator(selector).bounding_box()
        assert box is not None, selector
        self._down[finger] = (box['x'] + box['width'] * at[0], box['y'] + box['height'] * at[1])
        self._send('touchStart')

    def move(self, right: float, down: float, seconds: float = 0.5, finger: int = 1) -> None:
        """Moves a finger by a way [px] at an even pace."""
        x, y = self._down[finger]
        self._evenly(seconds, lambda share: self._put(finger, x + right * share, y + down * share))

    def lift(self, finger: int = 1) -> None:
        """Takes a finger away."""
        self._send('touchEnd', [finger])
        del self._down[finger]

    def turn_phone(self, angles: tuple[float, float, float], to: tuple[float, float, float], seconds: float) -> None:
        """Turns the phone evenly: alpha, beta and gamma of its sensors [deg]."""
        self._evenly(
            seconds, lambda share: self.hold_phone(*(a + (b - a) * share for a, b in zip(angles, to, strict=True)))
        )

    def hold_phone(self, alpha: float, beta: float, gamma: float) -> None:
        """Sets what the phone's sensors tell [deg]."""
        angles = {'alpha': alpha, 'beta': beta, 'gamma': gamma}
        self._input.send('DeviceOrientation.setDeviceOrientationOverride', angles)

    def turn_screen(self, angle: int, width: int, height: int) -> None:
        """Turns the screen, as a phone does whose content turns with it."""
        kind = 'landscapePrimary' if angle in (90, 270) else 'portraitPrimary'
        metrics = {'width': width, 'height': height, 'deviceScaleFactor': 2, 'mobile': True}
        self._input.send(
            'Emulation.setDeviceMetricsOverride', metrics | {'screenOrientation': {'type': kind, 'angle': angle}}
        )

    def _put(self, finger: int, x: float, y: float) -> None:
        self._down[finger] = (x, y)
        self._send('touchMove')

    def _send(self, kind: str, fingers: Sequence[int] | None = None) -> None:
        points: list[dict[str, Any]] = [
            {'x': x, 'y': y, 'id': finger}
            for finger, (x, y) in self._down.items()
            if fingers is None or finger in fingers
        ]
        self._input.send('Input.dispatchTouchEvent', {'type': kind, 'touchPoints': points})

    def _evenly(self, seconds: float, put: Callable[[float], None]) -> None:
        start = time.monotonic()
        share = 0.0
        while share < 1.0:
            self._page.wait_for_timeout(12)
            share = min(1.0, (time.monotonic() - start) / seconds)
            put(share)
