"""Disks that really run full."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from cobalt_interfaces.msg import EpisodeState, QualityReport, RecordingState
from cobalt_recorder.bag_reader import read_bag
from cobalt_recorder.bag_writer import BagWriter
from cobalt_recorder.mcap_file import RESERVE_BYTES
from cobalt_recorder.reserved_file import ReservedFile

LIMITED = """
import os, resource, sys, time
from pathlib import Path
from rclpy.serialization import serialize_message
from std_msgs.msg import String
from cobalt_recorder.bag_thread import BagThread, NewTopic, RawMessage
from cobalt_recorder.bag_writer import BagWriter
from cobalt_recorder.mcap_file import RESERVE_BYTES
bag = BagThread(BagWriter(Path(sys.argv[1]), {}), queue_bytes=10**8)
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
bag.add_topic(NewTopic('/text', 'std_msgs/msg/String', (), ''))
for index in range(100):
    bag.write(RawMessage('/text', b'\\0\\1\\0\\0' + os.urandom(50_000), 1 + index, 1, index + 1))
bag.finish('cobalt.end', {}, {})
assert bag.wait(10.0)
print(bag.fault)
"""


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 8 MB."""
    folder = tmp_path / 'disk'
    folder.mkdir()
    mounted = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder], capture_output=True)
    if mounted.returncode:
        pytest.skip(f'no file system may be mounted here: {mounted.stderr.decode().strip()}')
    yield folder
    subprocess.run(['umount', '-l', folder], check=True)


def fill(folder, *, leave):
    """Fills a file system but for a few bytes."""
    free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_bsize
    with (folder / 'filler').open('wb') as file:
        os.posix_fallocate(file.fileno(), 0, free - leave)


def test_the_reserve_lets_a_full_disk_take_the_end(small_disk):
    file = ReservedFile(small_disk / 'file', reserve_bytes=1_000_000)
    fill(small_disk, leave=8192)
    file.write(bytes(4096))
    assert not file.full
    file.write(bytes(500_000))
    assert file.full
    file.close()
    assert (small_disk / 'file').stat().st_size == 504_096


def test_a_disk_without_room_for_the_reserve_is_left_as_it_was(small_disk):
    fill(small_disk, leave=RESERVE_BYTES // 2)
    with pytest.raises(OSError, match='No space left'):
        BagWriter(small_disk / 'one', {})
    assert [path.name for path in small_disk.iterdir()] == ['filler']


def test_a_file_that_cannot_grow_keeps_its_whole_chunks(tmp_path):
    done = subprocess.run(
        [sys.executable, '-c', LIMITED, str(tmp_path / 'one')], capture_output=True, text=True, timeout=30, check=True
    )
    assert 'File too large' in done.stdout
    bag = read_bag(tmp_path / 'one')
    assert bag.damage
    assert 5 <= bag.topics['/text'].count <= 20
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY


def test_recording_onto_a_disk_that_runs_full(small_disk, start_recorder, start_host):
    recorder = start_recorder(small_disk, min_free_mb=4)
    host = start_host()
    saved = host.record(0.6)
    host.wait_report()
    host.start()
    host.wait_state(RecordingState.STATE_READY)
    host.run()
    fill(small_disk, leave=4096)
    failed = host.wait_state(RecordingState.STATE_FAILED)
    assert 'is full' in failed.reason
    host.finished()
    assert host.wait_report(2).verdict == QualityReport.VERDICT_REJECT
    host.label(EpisodeState.OUTCOME_SUCCESS)
    labelled = host.wait_report(3)
    assert labelled.verdict == QualityReport.VERDICT_REJECT
    assert any('is full' in reason for reason in labelled.reasons)

    broken = read_bag(Path(failed.uri))
    assert broken.complete
    assert broken.topics['/cell_0/control_step'].count > 5
    assert broken.fact('cobalt.end', 'outcome') == 'ABORTED'
    assert read_bag(Path(saved.uri)).complete

    host.start()
    refused = host.wait_state(RecordingState.STATE_FAILED)
    assert 'min_free_mb' in refused.reason
    assert 'free some space' in refused.reason

    (small_disk / 'filler').unlink()
    again = host.record(0.6, EpisodeState.OUTCOME_FAILURE)
    assert read_bag(Path(again.uri)).complete
    assert recorder.end() == 0
    assert 'Traceback' not in recorder.output
