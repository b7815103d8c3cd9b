"""The Fast DDS profile that the launch files set, with real participants."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

CONFIG = Path(__file__).parent.parent / 'config'
PROFILE = CONFIG / 'fastdds_local.xml'

PUBLISH = """
import rclpy
from std_msgs.msg import String
rclpy.init()
node = rclpy.create_node('victim')
publisher = node.create_publisher(String, 'lease_of_the_killed', 1)
rclpy.spin(node)
"""
WATCH = """
import time, rclpy
rclpy.init()
node = rclpy.create_node('watcher')
def wait(there, limit_s):
    end = time.monotonic() + limit_s
    while bool(node.count_publishers('lease_of_the_killed')) != there and time.monotonic() < end:
        time.sleep(0.02)
    print(node.count_publishers('lease_of_the_killed'), flush=True)
wait(True, 15.0)
wait(False, 10.0)
"""

THREADS = """
import os, rclpy
rclpy.init()
node = rclpy.create_node('one')
print(*(open(f'/proc/self/task/{task}/comm').read().strip() for task in os.listdir('/proc/self/task')))
"""


@pytest.mark.parametrize('profile', ['fastdds_local.xml', 'fastdds_machines.xml'])
def test_no_process_waits_for_types_from_another(profile):
    # Measured without this: one in six bridges never saw a workcell whose first host had ended within its first second.
    environment = {**os.environ, 'FASTDDS_DEFAULT_PROFILES_FILE': str(CONFIG / profile), 'ROS_DOMAIN_ID': '86'}
    threads = subprocess.run(
        [sys.executable, '-c', THREADS], env=environment, capture_output=True, text=True, check=True, timeout=30.0
    ).stdout
    assert 'dds.ev' in threads
    assert 'dds.tls' not in threads, 'the threads of its type lookup'


def test_a_killed_process_leaves_the_graph_within_the_lease():
    environment = {**os.environ, 'FASTDDS_DEFAULT_PROFILES_FILE': str(PROFILE), 'ROS_DOMAIN_ID': '86'}
    watcher, victim = (
        subprocess.Popen(
            [sys.executable, '-c', code],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for code in (WATCH, PUBLISH)
    )
    try:
        # Any other line would be a warning of Fast DDS about its profile.
        assert watcher.stdout.readline() == '1\n'
        time.sleep(2.0)
        victim.send_signal(signal.SIGKILL)
        killed_s = time.monotonic()
        assert watcher.stdout.readline() == '0\n'
        assert time.monotonic() - killed_s < 8.0
        assert victim.communicate(timeout=5.0)[0] == ''
    finally:
        for process in (watcher, victim):
            process.kill()
            process.communicate()
