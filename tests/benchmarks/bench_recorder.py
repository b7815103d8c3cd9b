#!/usr/bin/env python3
"""What the recorder writes: raw pictures beside plain mcap and rosbags, overload, and the CPU for eight workcells."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import harness

harness.enter_workspace()

import numpy as np  # noqa: E402
import psutil  # noqa: E402
from mcap.writer import CompressionType, Writer  # noqa: E402
from rosbags.rosbag2 import StoragePlugin  # noqa: E402
from rosbags.rosbag2 import Writer as RosbagsWriter  # noqa: E402
from rosbags.typesys import Stores, get_typestore  # noqa: E402

from cobalt_recorder.bag_reader import read_bag  # noqa: E402
from cobalt_recorder.bag_thread import BagThread, NewTopic, RawMessage  # noqa: E402
from cobalt_recorder.bag_writer import BagWriter  # noqa: E402
from cobalt_teleop.ros.interface_text import message_text  # noqa: E402

WIDTH, HEIGHT = 640, 480
TOPIC, TYPE = '/cell_0/camera/front/image_raw', 'sensor_msgs/msg/Image'
OFFERED_MB_S = 220.0
"""Above the goal of 200 MB/s, so that it can be seen to be kept."""
QUEUE_BYTES = 256_000_000
SPLIT_BYTES = 2_000_000_000
WORKCELLS = 8
PICTURE_BYTES = 64 + WIDTH * HEIGHT * 3
DIFFERENT = 16
"""Pictures that are written in turn."""


def pictures() -> list[bytes]:
    """Returns bytes as long as serialised pictures, 921 kB, that compress as a camera's might: gradients with noise."""
    chance = np.random.default_rng(6)
    head = b'\x00\x01\x00\x00' + bytes(60)
    across = np.linspace(0, 200, WIDTH)[None, :, None] + np.linspace(0, 40, HEIGHT)[:, None, None]
    found = []
    for shift in range(DIFFERENT):
        noisy = np.roll(across, shift * 7, axis=1) + chance.normal(0, 2.0, (HEIGHT, WIDTH, 3))
        found.append(head + noisy.clip(0, 255).astype(np.uint8).tobytes())
    return found


def cobalt_bag(folder: Path) -> BagThread:
    """Returns a bag that the recorder's own thread writes."""
    bag = BagThread(BagWriter(folder, {}, split_bytes=SPLIT_BYTES), queue_bytes=QUEUE_BYTES)
    bag.add_topic(NewTopic(TOPIC, TYPE, (), ''))
    return bag


def offer(folder: Path, rate_mb_s: float, seconds: float) -> tuple[harness.Figures, str]:
    """Offers pictures at a rate for a time; returns what came of it, and what went wrong.

    Args:
        folder: Of the bag.
        rate_mb_s: 0 for as many as can be offered.
        seconds: How long.
    """
    shown = pictures()
    bag = cobalt_bag(folder)
    offered = refused = 0
    worst_s = 0.0
    began = time.monotonic()
    while (now := time.monotonic()) - began < seconds:
        if rate_mb_s and offered * PICTURE_BYTES / 1e6 > (now - began) * rate_mb_s:
            time.sleep(0.001)
            continue
        stamp_ns = time.time_ns()
        accepted = bag.write(RawMessage(TOPIC, shown[offered % DIFFERENT], stamp_ns, stamp_ns, offered + 1))
        worst_s = max(worst_s, time.monotonic() - now)
        offered, refused = offered + 1, refused + (not accepted)
        if not rate_mb_s and not accepted:
            time.sleep(0.001)
    took = time.monotonic() - began
    bag.finish('cobalt.end', {}, {})
    closed = bag.wait(300.0)
    closed_s = time.monotonic() - began - took
    written = read_bag(folder).topics[TOPIC].count
    return {
        'mb_per_s': written * PICTURE_BYTES / 1e6 / took,
        'messages_per_s': written / took,
        'dropped': float(refused),
        'drops_uncounted': float(offered - refused - written),
        'worst_stall_ms': worst_s * 1e3,
        'closed_after_s': closed_s,
    }, bag.fault or ('' if closed else 'it was not closed in time')


def disk_rate(folder: Path, rate_mb_s: float, seconds: float) -> float:
    """Returns how many MB/s the disk itself takes of what is offered at a rate, made durable five times a second."""
    shown, ending = pictures(), threading.Event()
    file = os.open(folder, os.O_WRONLY | os.O_CREAT)

    def sync() -> None:
        while not ending.wait(0.2):
            os.fdatasync(file)

    syncer = threading.Thread(target=sync)
    syncer.start()
    began, count = time.monotonic(), 0
    while (now := time.monotonic()) - began < seconds:
        if count * PICTURE_BYTES / 1e6 > (now - began) * rate_mb_s:
            time.sleep(0.001)
            continue
        os.write(file, shown[count % DIFFERENT])
        count += 1
    took = time.monotonic() - began
    ending.set()
    syncer.join()
    os.close(file)
    folder.unlink()
    return count * PICTURE_BYTES / 1e6 / took


def rate_of(write: Callable[[int], None], close: Callable[[], None], seconds: float) -> float:
    """Returns how many MB/s a writer takes, until it is closed and on the disk."""
    began, count = time.monotonic(), 0
    while time.monotonic() - began < seconds:
        write(count)
        count += 1
    close()
    os.sync()
    return count * PICTURE_BYTES / 1e6 / (time.monotonic() - began)


def cobalt_rate(folder: Path, seconds: float) -> float:
    """Returns the rate of the recorder's own writer."""
    shown, writer = pictures(), BagWriter(folder, {}, split_bytes=SPLIT_BYTES)
    writer.add_topic(TOPIC, TYPE)

    def write(index: int) -> None:
        stamp_ns = time.time_ns()
        writer.write(TOPIC, shown[index % DIFFERENT], received_ns=stamp_ns, published_ns=stamp_ns, sequence=index + 1)
        if writer.close_old_chunk():
            writer.sync()

    return rate_of(write, lambda: writer.close('cobalt.end', {}, {}), seconds)


def mcap_rate(folder: Path, seconds: float) -> float:
    """Returns the rate of plain mcap with the same compression."""
    shown = pictures()
    with folder.with_suffix('.mcap').open('wb') as file:
        writer = Writer(file, compression=CompressionType.ZSTD)
        writer.start(profile='ros2')
        schema = writer.register_schema(TYPE, 'ros2msg', message_text(TYPE).encode())
        channel = writer.register_channel(TOPIC, 'cdr', schema)

        def write(index: int) -> None:
            writer.add_message(channel, time.time_ns(), shown[index % DIFFERENT], time.time_ns(), index)

        def close() -> None:
            writer.finish()  # type: ignore[no-untyped-call]
            file.flush()

        return rate_of(write, close, seconds)


def rosbags_rate(folder: Path, seconds: float) -> float:
    """Returns the rate of rosbags' writer, into MCAP as it writes it."""
    shown = pictures()
    writer = RosbagsWriter(folder, version=9, storage_plugin=StoragePlugin.MCAP)
    writer.open()
    connection = writer.add_connection(TOPIC, TYPE, typestore=get_typestore(Stores.ROS2_JAZZY))

    def write(index: int) -> None:
        writer.write(connection, time.time_ns(), shown[index % DIFFERENT])

    return rate_of(write, writer.close, seconds)


def workcells(folder: Path, seconds: float, *, watched: bool) -> harness.Figures:
    """Returns what recording eight workcells with H.264 costs.

    Args:
        folder: Of the data set.
        seconds: How long it is measured.
        watched: Somebody hears of each workcell's live quality, as the bridge does while a page is open.
    """
    code = 'from cobalt_recorder.recorder_node import main; main()'
    arguments = ['--ros-args', '-p', f'dataset:={folder}', '-p', 'min_free_mb:=1']
    quiet = {'stdout': subprocess.DEVNULL, 'stderr': subprocess.DEVNULL}
    recorder = subprocess.Popen([sys.executable, '-c', code, *arguments], **quiet)  # type: ignore[call-overload]
    hosts = subprocess.Popen(
        [sys.executable, Path(__file__).with_name('recorded_hosts.py'), str(WORKCELLS), *(['watched'] * watched)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert hosts.stdin is not None and hosts.stdout is not None
    try:
        if hosts.stdout.readline().strip() != 'running':
            raise SystemExit('The workcells were not recorded.')
        time.sleep(2.0)
        process = psutil.Process(recorder.pid)
        process.cpu_percent()
        time.sleep(seconds)
        percent = process.cpu_percent()
        hosts.stdin.write('\n')
        hosts.stdin.flush()
        told = json.loads(hosts.stdout.readline())
    finally:
        hosts.stdin.close()
        hosts.wait(20.0)
        recorder.terminate()
        recorder.wait(20.0)
    return {'core_percent': percent, 'dropped': float(told['dropped']), 'megabytes': told['bytes'] / 1e6}


def measure(arguments: argparse.Namespace) -> harness.Figures:
    """Measures all of it."""
    seconds = 4.0 if arguments.quick else arguments.seconds
    figures: harness.Figures = {}
    with tempfile.TemporaryDirectory(dir=arguments.folder, prefix='bench-recorder-') as place:
        folder = Path(place)
        for part, rate_mb_s in (('raw', OFFERED_MB_S), ('overload', 0.0)):
            harness.say(f'{part}: {seconds:g} s of pictures of 921 kB ...')
            found, fault = offer(folder / part, rate_mb_s, seconds)
            if fault:
                raise SystemExit(f'{part}: {fault}')
            figures |= {f'{part}.{what}': value for what, value in found.items()}
            shutil.rmtree(folder / part)
        harness.say(f'the disk itself: {seconds:g} s of the same bytes ...')
        figures['disk.mb_per_s'] = disk_rate(folder / 'disk', OFFERED_MB_S, seconds)
        figures['raw.share_of_disk'] = figures['raw.mb_per_s'] / figures['disk.mb_per_s']
        short = min(seconds, 10.0)
        writers = {'cobalt': cobalt_rate, 'mcap': mcap_rate, 'rosbags': rosbags_rate}
        for writer, rate in writers.items():
            harness.say(f'{writer} alone: {short:g} s ...')
            figures[f'{writer}.mb_per_s'] = rate(folder / writer, short)
        figures['ratio_to_mcap'] = figures['cobalt.mb_per_s'] / figures['mcap.mb_per_s']
        figures['ratio_to_rosbags'] = figures['cobalt.mb_per_s'] / figures['rosbags.mb_per_s']
        harness.say(f'{WORKCELLS} workcells with video: {seconds:g} s ...')
        for name, watched in ((f'workcells_{WORKCELLS}', False), (f'workcells_{WORKCELLS}_watched', True)):
            cells = workcells(folder / name, min(seconds, 20.0), watched=watched)
            figures |= {f'{name}.{what}': value for what, value in cells.items()}
    return figures


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds --seconds and --folder."""
    parser.add_argument('--seconds', type=float, default=60.0, help='of each of the two long parts (60)')
    parser.add_argument('--folder', type=Path, help='on the disk that is measured; that of temporary files otherwise')


if __name__ == '__main__':
    sys.exit(harness.run('recorder', __doc__, measure, add_arguments))
