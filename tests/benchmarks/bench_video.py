#!/usr/bin/env python3
"""CPU of video for numbers of viewers, and age of its pictures: ours, stock aiortc, MJPEG; the same frames for all.

Roads: track and units are ours, host and bridge together; track_vp8 is ours for browsers without H.264; stock is aiortc
with an encoder for each peer, as its examples do (VP8, its default; stock_h264 likewise); mjpeg sends JPEGs over
WebSockets. CPU is that of the senders, for each picture that reached a viewer: a road that falls behind gains nothing
by it. Of ours, what the same pages cost without video is taken off, as the others have no control and no state.
Viewers are peers in a process of their own. The age of a picture is that at which Chromium shows it, one viewer alone:
from its making to its hand-over to the compositor.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import harness

harness.enter_workspace()

import numpy as np  # noqa: E402
import psutil  # noqa: E402
from chromium import open_page  # noqa: E402
from playwright.sync_api import Page  # noqa: E402
from running_stack import free_domain, free_port  # noqa: E402

from cobalt_sim.in_process import GuardedPlant, run_expert  # noqa: E402
from cobalt_sim.mujoco_plant import MujocoPlant  # noqa: E402
from cobalt_sim.render_profile import load_profile  # noqa: E402
from cobalt_sim.scene import focal_px  # noqa: E402
from cobalt_sim.sim_world import SimWorld  # noqa: E402
from cobalt_sim.tasks import load_task  # noqa: E402
from cobalt_teleop.kinematics.robot_description import load_robot  # noqa: E402
from cobalt_teleop.workcell_host.plant import CameraModel  # noqa: E402

_FOLDER = Path(__file__).parent
_OURS = ('track', 'units', 'track_vp8')
_ROADS = (*_OURS, 'stock', 'stock_h264', 'mjpeg')
_NO_VIDEO = 'pages_alone'
"""Pages that see no video: what control and state cost, which the other roads don't have."""

_WINDOW = {'width': 800, 'height': 600}

_VP8_ALONE = """RTCRtpReceiver.getCapabilities = () => ({ codecs: [{ mimeType: 'video/VP8' }] });"""
"""Makes a page believe that its browser has no H.264."""

_QUICK_ROADS = ('track', 'units', 'stock', 'mjpeg')
_QUICK_WEIGHED = ('track', 'stock')
"""Of which a quick run measures the CPU; of the others the age alone."""


def film(width: int, height: int, count: int) -> 'np.ndarray[tuple[int, ...], np.dtype[np.uint8]]':
    """Returns pictures of the simulated arm that lifts the cube, (count, height, width, 3) RGB."""
    robot = load_robot('franka_panda')
    camera = CameraModel(
        name='front', width=width, height=height, rate_hz=20.0, focal_px=focal_px(robot, 'front', height)
    )
    world = SimWorld(robot, load_task('lift'), (camera,), load_profile('fast'), tick_s=0.05)
    frames = []

    def after_tick(guarded: GuardedPlant) -> None:
        if len(frames) < count:
            frames.append(guarded.plant.capture('front'))

    plant = MujocoPlant(world)
    run_expert(plant, seed=3, limit_s=count * 0.05, after_tick=after_tick)
    plant.close()
    return np.stack(frames)


@contextmanager
def process(*command: str) -> Iterator[psutil.Process]:
    """Runs a process."""
    running = subprocess.Popen([sys.executable, *command], stdout=subprocess.DEVNULL, env=os.environ)
    try:
        yield psutil.Process(running.pid)
    finally:
        running.terminate()
        try:
            running.wait(8.0)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()


@dataclass(frozen=True)
class Sender:
    """What sends pictures.

    Attributes:
        port: Where it is asked for them.
        processes: Those that it consists of; the first has the encoders.
        told: File into which that one tells, when it is asked, how many.
    """

    port: str
    processes: list[psutil.Process]
    told: Path

    def cpu_s(self) -> float:
        """Returns the CPU time used so far [s]."""
        return sum(sum(one.cpu_times()[:2]) for one in self.processes)

    def encoders(self) -> int:
        """Returns how many encoders there are."""
        self.told.unlink(missing_ok=True)
        self.processes[0].send_signal(signal.SIGUSR1)
        end = time.monotonic() + 5.0
        while not self.told.is_file() and time.monotonic() < end:
            time.sleep(0.05)
        return int(self.told.read_text())


@contextmanager
def sender(roads: Sequence[str], frames: Path) -> Iterator[Sender]:
    """Runs what sends pictures by a road of another, or by any of ours."""
    port = str(free_port())
    script = str(_FOLDER / 'video_senders.py')
    with ExitStack() as stack:
        if roads[0] in _OURS:
            os.environ['ROS_DOMAIN_ID'] = str(free_domain())
            bridge = ('-m', 'cobalt_teleop.bridge.bridge_node', '--ros-args', '-p', f'port:={port}')
            own = ('-p', f'state_dir:={frames.parent}', '-p', 'adaptive_video:=false', '--log-level', 'warn')
            started = [process(script, 'host', port, str(frames)), process(*bridge, *own)]
        else:
            started = [process(script, roads[0], port, str(frames))]
        processes = [stack.enter_context(one) for one in started]
        wait_until_served(port)
        yield Sender(port, processes, frames.with_name('encoders'))


def wait_until_served(port: str) -> None:
    """Waits until a sender answers, and a bridge knows its host."""
    end = time.monotonic() + 20.0
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(f'http://127.0.0.1:{port}/healthz', timeout=2.0) as health:
                if json.load(health)['workcells']:
                    return
        except urllib.error.HTTPError:
            return
        except OSError:
            pass
        time.sleep(0.1)
    raise TimeoutError(f'nothing serves on port {port}')


def watch(running: Sender, road: str, viewers: int, seconds: float) -> harness.Figures:
    """Lets viewers watch, and returns figures of the sender."""
    script = str(_FOLDER / 'video_viewers.py')
    watched_s = seconds + 0.8
    command = [sys.executable, script, road, running.port, str(viewers), str(watched_s)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None and watching.stderr is not None
        if 'watching' not in watching.stdout.readline():
            raise RuntimeError(f'{road}: {watching.stderr.read()}')
        count = running.encoders()
        before_s, start_s = running.cpu_s(), time.monotonic()
        time.sleep(seconds)
        used_s, elapsed_s = running.cpu_s() - before_s, time.monotonic() - start_s
        pictures = json.loads(watching.stdout.readline())
    return {
        f'viewers_{viewers}.{road}.fps': sum(pictures) / viewers / watched_s,
        f'viewers_{viewers}.{road}.cpu_percent': 100.0 * used_s / elapsed_s,
        f'viewers_{viewers}.{road}.encoders': count,
    }


def path_ages(first: Page, road: str, port: str, seconds: float) -> list[float]:
    """Returns the ages [ms] of pictures when Chromium hands them to its compositor."""
    ours, kind = road in _OURS, road.partition('_')[0]
    page = first.context.browser.new_page(viewport=_WINDOW)
    if road == 'track_vp8':
        page.add_init_script(_VP8_ALONE)
    page.goto(f'http://127.0.0.1:{port}/' + (f'?road={kind}' if ours else ''))
    if ours:
        end = time.monotonic() + 20.0
        while not page.evaluate('cobalt.cameras.front?.fps > 10') and time.monotonic() < end:
            page.wait_for_timeout(50)
    page.evaluate((_FOLDER / 'video_page.js').read_text())
    page.evaluate(f'benchWatch.{"ours" if ours else kind}()')
    page.wait_for_timeout(700)
    page.evaluate('void (benchAges.length = 0)')
    page.wait_for_timeout(seconds * 1e3)
    ages: list[float] = page.evaluate('benchAges')
    page.evaluate('benchEnd()')  # or stock goes on to encode for it
    page.wait_for_timeout(200)
    page.close()
    if len(ages) < 5 * seconds:
        harness.say(f'{road}: only {len(ages)} pictures could be read')
    return ages


def measure(arguments: argparse.Namespace) -> harness.Figures:
    """Measures each road for each number of viewers."""
    seconds = 1.5 if arguments.quick else arguments.seconds
    counts = [8] if arguments.quick else arguments.viewers
    roads = arguments.roads or (_QUICK_ROADS if arguments.quick else _ROADS)
    weighed = [road for road in roads if not arguments.quick or road in _QUICK_WEIGHED]
    ours = [road for road in roads if road in _OURS]
    groups = [group for group in (ours, *([road] for road in roads if road not in _OURS)) if group]
    figures: harness.Figures = {}
    with tempfile.TemporaryDirectory() as folder, open_page('about:blank', size=_WINDOW) as first:
        file = Path(folder) / 'frames.npy'
        np.save(file, film(arguments.width, arguments.height, 30 if arguments.quick else 120))
        for group in groups:
            with sender(group, file) as running:
                for count in counts if group is ours else ():
                    figures |= watch(running, _NO_VIDEO, count, seconds)
                for road in group:
                    harness.say(f'{road} ...')
                    ages = path_ages(first, road, running.port, seconds)
                    figures |= harness.percentiles(f'path.{road}', ages, (50, 95))
                    for count in counts if road in weighed else ():
                        figures |= watch(running, road, count, seconds)
    return figures | summary(figures, counts, roads, weighed)


def summary(
    figures: harness.Figures, counts: list[int], roads: Sequence[str], weighed: Sequence[str]
) -> harness.Figures:
    """Returns what the figures come to."""
    result: harness.Figures = {}
    for count in counts:
        cost = {}
        for road in weighed:
            name = f'viewers_{count}.{road}'
            without = figures[f'viewers_{count}.{_NO_VIDEO}.cpu_percent'] if road in _OURS else 0.0
            pictures_s = count * figures[f'{name}.fps']
            cost[road] = 10.0 * (figures[f'{name}.cpu_percent'] - without) / max(pictures_s, 0.1)
            result[f'{name}.cpu_ms_per_picture'] = cost[road]
        for stock in ('stock', 'stock_h264'):
            if 'track' in cost and stock in cost:
                result[f'viewers_{count}.cpu_ratio_to_{stock}'] = cost['track'] / cost[stock]
        if 'track' in weighed:
            result[f'viewers_{count}.encoders'] = figures[f'viewers_{count}.track.encoders']
    for road in roads:
        if f'path.{road}_p50_ms' in figures:
            result[f'path_p50_ms.{road}'] = figures[f'path.{road}_p50_ms']
    return result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds --viewers, --roads, --seconds, --width and --height."""
    parser.add_argument('--viewers', type=int, nargs='+', metavar='N', default=[1, 8, 16], help='(1 8 16)')
    parser.add_argument('--roads', nargs='+', metavar='ROAD', choices=_ROADS, help=', '.join(_ROADS))
    parser.add_argument('--seconds', type=float, default=10.0, help='length of each measurement [s] (10)')
    parser.add_argument('--width', type=int, default=480, help="of the frames [px] (480, the simulator's own)")
    parser.add_argument('--height', type=int, default=360, help='of the frames [px] (360)')


if __name__ == '__main__':
    sys.exit(harness.run('video', __doc__.splitlines()[0], measure, add_arguments))
