"""Video in a real browser behind a road that carries less than half of it: it gets simpler, and runs smoothly again."""

import time

import cv2
import namespaces
import numpy as np
import pytest
from chromium import wait_for
from remote_stack import remote_page, remote_stack, wait_until_live
from ros_operator import until

from cobalt_teleop.workcell_host.ideal_plant import IdealPlant

pytestmark = pytest.mark.skipif(bool(namespaces.why_not()), reason=namespaces.why_not() or 'it can')

NARROW_KBYTES_S = 60
CALM_S = 6.0


class RestlessPlant(IdealPlant):
    """Films a landscape that passes by: more than a narrow road carries."""

    def __init__(self):
        super().__init__()
        noise = np.random.default_rng(0).integers(0, 256, (240, 2000, 3), dtype=np.uint8)
        smooth = cv2.GaussianBlur(noise, (0, 0), 1.2).astype(int)
        self.landscape = np.clip((smooth - 127) * 3 + 127, 0, 255).astype(np.uint8)
        self.place = 0

    def capture(self, camera, size_px=None):
        self.place = (self.place + 13) % 1600
        return np.ascontiguousarray(self.landscape[:, self.place : self.place + 320])


def test_a_narrow_road_gets_video_that_fits_it(tmp_path):
    with (
        namespaces.SmallInternet() as internet,
        remote_stack(internet, plant=RestlessPlant, state_dir=tmp_path) as stack,
        remote_page(internet, stack.address, tmp_path) as page,
    ):
        wait_until_live(page)
        wait_for(page, 'cobalt.cameras.front.fps > 10', 30)
        until(lambda: stack.link and stack.link.cameras[0].kbit_s > 2 * 8 * NARROW_KBYTES_S, 'a full stream', 30.0)
        internet.narrow(NARROW_KBYTES_S)
        end = time.monotonic() + 90.0
        calm_since, freezes = time.monotonic(), None
        while time.monotonic() - calm_since < CALM_S:
            assert time.monotonic() < end, f'it never came to rest; {stack.link}'
            page.wait_for_timeout(500)
            front = page.evaluate('cobalt.cameras.front')
            if front['freezes'] != freezes or front['fps'] < 10 or page.evaluate("cobalt.connection.level !== 'live'"):
                calm_since, freezes = time.monotonic(), front['freezes']
        (camera,) = stack.link.cameras
        assert 50 < camera.kbit_s < 8 * NARROW_KBYTES_S
