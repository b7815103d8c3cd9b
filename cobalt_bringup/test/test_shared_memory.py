import fcntl
import mmap
import os
import signal
import subprocess
import sys
import time

from cobalt_bringup.shared_memory import remove_dead, segments

YOUNG_S = 0.3
NODE = 'import rclpy, time; rclpy.init(); node = rclpy.create_node("shm"); print("up", flush=True); time.sleep(60)'


def make(folder, *names):
    for name in names:
        (folder / name).write_bytes(bytes(4096))


def test_files_of_the_dead_go_and_others_stay(tmp_path):
    make(
        tmp_path,
        'fastdds_0011',
        'fastdds_0011_el',
        'fastdds_port7400',
        'sem.fastdds_port7400_mutex',
        'other',
        'fast_datasharing_1',
    )
    assert {path.name for path in remove_dead(tmp_path, older_than_s=0.0)} == {
        'fastdds_0011', 'fastdds_0011_el', 'fastdds_port7400', 'sem.fastdds_port7400_mutex', 'fast_datasharing_1',
    }  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ['other']


def test_young_files_stay(tmp_path):
    make(tmp_path, 'fastdds_0011')
    assert remove_dead(tmp_path) == []


def test_a_mapped_segment_keeps_its_lock_file(tmp_path):
    make(tmp_path, 'fastdds_0011', 'fastdds_0011_el')
    with (tmp_path / 'fastdds_0011').open('r+b') as file, mmap.mmap(file.fileno(), 4096):
        assert remove_dead(tmp_path, older_than_s=0.0) == []


def test_a_lock_that_cannot_be_seen_in_proc_keeps_its_segment(tmp_path, monkeypatch):
    make(tmp_path, 'fastdds_0011', 'fastdds_0011_el')
    monkeypatch.setattr('cobalt_bringup.shared_memory._in_use', lambda folder: set())
    with (tmp_path / 'fastdds_0011_el').open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert remove_dead(tmp_path, older_than_s=0.0) == []
    assert len(remove_dead(tmp_path, older_than_s=0.0)) == 2


def test_segments_of_a_real_node_stay_while_it_lives_and_go_when_it_was_killed():
    before = segments()
    environment = {**os.environ, 'ROS_DOMAIN_ID': '86'}
    with subprocess.Popen([sys.executable, '-c', NODE], env=environment, stdout=subprocess.PIPE, text=True) as node:
        try:
            assert node.stdout is not None
            assert node.stdout.readline() == 'up\n'
            own = segments() - before
            assert own
            time.sleep(YOUNG_S)
            remove_dead(older_than_s=YOUNG_S)
            assert own <= segments()
        finally:
            node.send_signal(signal.SIGKILL)
    time.sleep(YOUNG_S)
    remove_dead(older_than_s=YOUNG_S)
    assert not own & segments()
