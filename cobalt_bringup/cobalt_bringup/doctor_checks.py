"""The checks of `cobalt doctor`: each looks at one thing and says what to do about it."""

import errno
import json
import os
import re
import shutil
import socket
import subprocess
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from urllib.parse import quote

from cobalt_bringup.launch_substitution import SubstitutionError
from cobalt_bringup.live_workcells import domain, live_workcells
from cobalt_bringup.machines_check import ask_machines, own_addresses
from cobalt_bringup.machines_profile import machines_of
from cobalt_bringup.packages import INSTALLED
from cobalt_bringup.transport_trial import PICTURES, arrived_pictures
from cobalt_teleop.core.errors import CobaltError

_PACKAGES = (
    'cobalt_interfaces', 'cobalt_teleop', 'cobalt_devices', 'cobalt_sim', 'cobalt_recorder', 'foxglove_msgs',
)  # fmt: skip
_BROWSERS = ('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable')
_LIMIT_S = 30.0
_SCRIPT = (
    "<script>const c=RTCRtpReceiver.getCapabilities('video').codecs.map(x=>x.mimeType);"
    "document.documentElement.textContent='CODECS'+JSON.stringify([...new Set(c)])+'CODECS'</script>"
)


class Status(StrEnum):
    """How bad it is."""

    OK = 'OK'
    WARN = 'WARN'
    FAIL = 'FAIL'


@dataclass(frozen=True)
class Finding:
    """What one check found.

    Attributes:
        name: What was looked at.
        status: How bad it is.
        detail: What was found.
        advice: What to do; empty if nothing.
    """

    name: str
    status: Status
    detail: str
    advice: str = ''


def processors() -> Finding:
    """Enough cores for a simulated workcell or two."""
    cores = len(os.sched_getaffinity(0))
    if cores < 2:
        return Finding('processors', Status.WARN, f'{cores} core', 'Use num_envs:=1 cameras:=front.')
    return Finding('processors', Status.OK, f'{cores} cores')


def ros() -> Finding:
    """ROS 2, installed or from wheels."""
    distribution = os.environ.get('ROS_DISTRO', '')
    try:
        import rclpy  # noqa: F401
    except ImportError as error:
        return Finding('ROS 2', Status.FAIL, f'rclpy is not there: {error}', "Type 'make setup', or source ROS 2.")
    try:
        return Finding('ROS 2', Status.OK, f'wheels of PyPI, rclpy {version("ros-rclpy")}')
    except PackageNotFoundError:
        return Finding('ROS 2', Status.OK, f'installed: {distribution or "unknown distribution"}')


def workspace() -> Finding:
    """All of Cobalt's packages are built."""
    missing = []
    for package in _PACKAGES:
        try:
            INSTALLED.find_share(package)
        except SubstitutionError:
            missing.append(package)
    if missing:
        return Finding('workspace', Status.FAIL, f'not built or sourced: {", ".join(missing)}', "Type 'make setup'.")
    return Finding('workspace', Status.OK, 'all packages are there')


def transport() -> Finding:
    """Pictures get from one process to another without loss."""
    profile = os.environ.get('FASTDDS_DEFAULT_PROFILES_FILE') or str(
        Path(INSTALLED.find_share('cobalt_bringup')) / 'config' / 'fastdds_local.xml'
    )
    free_mb = shutil.disk_usage('/dev/shm').free / 1e6
    count = arrived_pictures(profile, limit_s=_LIMIT_S)
    detail = f'{count} of {PICTURES} pictures of 921 kB arrived in another process'
    if count >= PICTURES - 1:
        return Finding('shared memory', Status.OK, detail)
    advice = f'/dev/shm has {free_mb:.0f} MB free and should have 300 (Docker: --shm-size=1g). Profile: {profile}'
    return Finding('shared memory', Status.WARN if count else Status.FAIL, detail, advice)


def machines() -> Finding:
    """The machines of the network profile that is in use find each other."""
    name = 'machines'
    profile = os.environ.get('FASTDDS_DEFAULT_PROFILES_FILE', '')
    try:
        addresses = machines_of(Path(profile)) if profile else []
    except CobaltError as error:
        return Finding(name, Status.FAIL, str(error), 'Correct FASTDDS_DEFAULT_PROFILES_FILE, or unset it.')
    if not addresses:
        return Finding(name, Status.OK, 'this one alone; for several see docs/several_machines.md')
    if not own_addresses(addresses):
        advice = f'Write the profile anew, with an address of this machine: cobalt machines ... -o {profile}'
        return Finding(name, Status.FAIL, f'none of {", ".join(addresses)} is an address of this machine', advice)
    answered, silent = ask_machines(addresses, domain())
    heard = [f'{peer} answers ({len(nodes)} nodes)' for peer, nodes in answered.items()]
    if silent:
        advice = '. '.join(f'{peer}: {reason}' for peer, reason in silent.items())
        return Finding(name, Status.FAIL, '; '.join([*heard, *(f'{peer} is silent' for peer in silent)]), advice + '.')
    return Finding(name, Status.OK, '; '.join(heard) or 'this one alone is listed')


def workcells() -> Finding:
    """Workcells that tick in this ROS domain: each name can be served once there."""
    live = live_workcells(limit_s=_LIMIT_S)
    if not live:
        return Finding('workcells', Status.OK, f'none is live in ROS domain {domain()}')
    detail = f'live in ROS domain {domain()}: {", ".join(live)}; a second simulator here needs another ROS_DOMAIN_ID'
    return Finding('workcells', Status.OK, detail)


def graphics() -> Finding:
    """A way to render pictures, tried in a child process."""
    from cobalt_sim.render_backend import find_backend

    try:
        return Finding('graphics', Status.OK, f'{find_backend()} draws pictures')
    except CobaltError as error:
        return Finding('graphics', Status.FAIL, str(error), 'Without it the simulator has no cameras: cameras:=""')


def encoder() -> Finding:
    """The H.264 encoder."""
    import numpy as np

    from cobalt_teleop.video.h264_encoder import H264Encoder

    frame = H264Encoder(320, 240, 20.0, 2000).encode(np.zeros((240, 320, 3), np.uint8), key_frame=True)
    if not frame.key_frame or not frame.data:
        return Finding('encoder', Status.FAIL, 'x264 gave no key frame', 'Install PyAV (av) again.')
    return Finding('encoder', Status.OK, f'x264 by PyAV {version("av")}')


def browser() -> Finding:
    """Codecs of a browser on this machine; operators may use another one."""
    path = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if path is None:
        return Finding('browser', Status.OK, 'no Chromium here (only the tests need it)')
    page = f'data:text/html,{quote(_SCRIPT)}'
    command = [path, '--headless', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--dump-dom']
    if os.geteuid() == 0:
        command.append('--no-sandbox')
    try:
        answer = subprocess.run(
            [*command, page],
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Finding('browser', Status.WARN, f'{path} did not answer within {_LIMIT_S:.0f} s', 'Try another browser.')
    found = re.search(r'CODECS(\[.*\])CODECS', answer.stdout.replace('&quot;', '"'))
    if found is None:
        return Finding('browser', Status.WARN, f'{path} has no WebRTC', 'Use Chrome, Firefox or Safari.')
    codecs = [codec.removeprefix('video/') for codec in json.loads(found.group(1))]
    known = [codec for codec in codecs if codec in ('H264', 'VP8', 'VP9', 'AV1')]
    detail = f'{Path(path).name} receives {", ".join(known)}'
    if 'H264' not in codecs:
        return Finding('browser', Status.WARN, detail, 'It has no H.264. Install the full Chromium or Chrome.')
    return Finding('browser', Status.OK, detail)


def spacemouse() -> Finding:
    """A SpaceMouse that is plugged into this machine may be opened."""
    from cobalt_devices.spacemouse_hid import how_to_allow, plugged_in

    name = 'SpaceMouse'
    try:
        found = plugged_in()
    except CobaltError as error:
        return Finding(name, Status.WARN, 'cannot be looked for', f'{error}.')
    if not found:
        return Finding(name, Status.OK, 'none is plugged in')
    closed = [mouse for mouse in found if not mouse.may_open()]
    if not closed:
        return Finding(name, Status.OK, ', '.join(f'{mouse.name} ({mouse.file})' for mouse in found))
    absent = [mouse.file for mouse in closed if not Path(mouse.file).exists()]
    if absent:
        advice = f'This container was not given the device: start it with --device {absent[0]}'
        return Finding(name, Status.WARN, f'the {closed[0].name} is plugged in, but {absent[0]} is not there', advice)
    return Finding(name, Status.WARN, f'you may not open the {closed[0].name} at {closed[0].file}', how_to_allow())


def tcp_port(port: int) -> Finding:
    """The page's port is free."""
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind(('127.0.0.1', port))
        except (OSError, OverflowError) as error:
            busy = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
            why = 'is in use: is Cobalt running already?' if busy else f'cannot be used: {error}'
            return Finding('port', Status.WARN, f'{port} {why}', f'Choose another: port:={min(port + 1, 65535)}')
    return Finding('port', Status.OK, f'{port} is free')


def disk(dataset: str) -> Finding:
    """Room for recordings."""
    folder = Path(dataset).absolute()
    while not folder.exists():
        folder = folder.parent
    free_gb = shutil.disk_usage(folder).free / 1e9
    if not os.access(folder, os.W_OK):
        return Finding('disk', Status.FAIL, f'{folder} cannot be written', 'Choose another folder: dataset:=FOLDER')
    status = Status.OK if free_gb > 5 else Status.WARN if free_gb > 0.5 else Status.FAIL
    advice = 'Free some space, or choose another disk: dataset:=FOLDER. An hour of one workcell takes about 1 GB.'
    return Finding('disk', status, f'{free_gb:.1f} GB free for {dataset}', advice)
