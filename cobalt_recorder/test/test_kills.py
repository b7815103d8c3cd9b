"""Recordings that end by violence at random moments: two in each run of the tests, or as many as COBALT_KILLS says.

`COBALT_KILLS=200 python -m pytest -s cobalt_recorder/test/test_kills.py` prints the figures, and takes some 15 minutes.
"""

import contextlib
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from rosbags.highlevel import AnyReader

from cobalt_interfaces.msg import RecordingState
from cobalt_recorder.bag_reader import Decoder, find_bag, read_messages
from cobalt_recorder.recover import recover
from cobalt_teleop.core import topics

ROUNDS = int(os.environ.get('COBALT_KILLS', '2'))
SEED = 6
STEPS = f'/cell_0/{topics.CONTROL_STEP.name}'
SIGNALS = {'SIGKILL': signal.SIGKILL, 'SIGTERM': signal.SIGTERM, 'SIGINT': signal.SIGINT}
WAYS = ('SIGKILL', 'full disk', 'yanked folder', 'SIGTERM', 'SIGINT')
EARLIER = 5
"""Episodes that stay on the small disk, to be looked at after each round."""


@pytest.fixture
def disk(tmp_path):
    """A file system of 24 MB; a plain folder where none may be mounted."""
    folder = tmp_path / 'disk'
    folder.mkdir()
    mounted = not subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', folder]).returncode
    yield folder, mounted
    if mounted:
        subprocess.run(['umount', '-l', folder], check=True)


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def fill(folder):
    """Fills a file system but for a page, while somebody else writes to it."""
    with (folder / 'filler').open('wb') as file:
        for _ in range(20):
            with contextlib.suppress(OSError):
                os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(folder).free - 4096)
                return
    raise AssertionError('the file system cannot be filled')


def last_row(path, output):
    """Recovers a copy of a bag; returns the log time of its last row, and checks that no row before it is missing.

    None if it was killed before its first chunk was closed.
    """
    recovery = recover(path, output)
    rows, decoder = [], Decoder()
    for summary, schema, message in read_messages(find_bag(output)):
        if summary.name == STEPS:
            rows.append((decoder.decode(schema, message).step, message.log_time))
    steps = [step for step, _ in rows]
    assert not steps or steps == list(range(steps[0], steps[0] + len(steps)))
    with AnyReader([output]) as reader:
        assert sum(1 for _ in reader.messages()) == sum(recovery.messages.values())
    shutil.rmtree(output)
    return rows[-1][1] if rows else None


@pytest.mark.timeout(120 + 15 * ROUNDS)
def test_at_most_a_second_is_lost_and_no_earlier_episode(disk, tmp_path, start_recorder, start_host):
    folder, mounted = disk
    dataset = folder / 'data'
    chance = random.Random(SEED)
    host = start_host()
    recorder = start_recorder(dataset)
    earlier = {Path(host.record(0.4).uri): ''}
    host.wait_report()
    lost_s = {}
    for index in range(ROUNDS):
        earlier = {one: sha256(next(one.glob('*.mcap'))) for one in list(earlier)[-EARLIER:]}
        way = WAYS[index % len(WAYS)]
        if way == 'full disk' and not mounted:
            continue
        if recorder.process.poll() is not None:
            recorder = start_recorder(dataset)
        host.start()
        try:
            bag = Path(host.wait_state(RecordingState.STATE_READY, 30.0).uri)
        except AssertionError as error:
            raise AssertionError(f'round {index}: not ready: {recorder.process.poll()} {recorder.output}') from error
        host.run()
        began_ns = time.time_ns()
        time.sleep(chance.uniform(0.3, 2.5))
        ended_ns = time.time_ns()
        if way in SIGNALS:
            code = recorder.end(SIGNALS[way])
            assert code == (-signal.SIGKILL if way == 'SIGKILL' else 0), recorder.output
        elif way == 'full disk':
            fill(folder)
            assert 'is full' in host.wait_state(RecordingState.STATE_FAILED).reason
            (folder / 'filler').unlink()
        else:
            yanked = bag.rename(folder / 'yanked')
            assert 'was removed or moved' in host.wait_state(RecordingState.STATE_FAILED).reason
            bag = yanked
        host.finished()
        lost_s.setdefault(way, []).append((ended_ns - (last_row(bag, tmp_path / 'recovered') or began_ns)) / 1e9)
        assert lost_s[way][-1] <= 1.0, (way, index, lost_s)
        assert {one: sha256(next(one.glob('*.mcap'))) for one in earlier} == earlier, (way, index)
        if way in ('SIGTERM', 'SIGINT', 'full disk'):
            earlier[bag] = ''
        for one in dataset.glob('*/*'):
            if one not in list(earlier)[-EARLIER:]:
                shutil.rmtree(one)
        shutil.rmtree(folder / 'yanked', ignore_errors=True)
    figures = {way: {'rounds': len(lost), 'worst_lost_s': round(max(0.0, *lost), 3)} for way, lost in lost_s.items()}
    print(json.dumps(figures))
