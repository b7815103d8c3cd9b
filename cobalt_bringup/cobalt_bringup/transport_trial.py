"""Sends large pictures from one process to another, to see whether the middleware's transport carries them."""

import array
import os
import subprocess
import sys
import time

PICTURES = 20
_WIDTH, _HEIGHT = 640, 480
_DOMAIN = 87


def arrived_pictures(profile: str, *, limit_s: float) -> int:
    """Returns how many of PICTURES arrived in another process.

    Args:
        profile: Fast DDS profile file of both processes.
        limit_s: Time after which both are ended [s].
    """
    environment = {**os.environ, 'FASTDDS_DEFAULT_PROFILES_FILE': profile, 'ROS_DOMAIN_ID': str(_DOMAIN)}
    command = [sys.executable, '-m', 'cobalt_bringup.transport_trial']
    topic = f'cobalt_doctor_{os.getpid()}'
    with subprocess.Popen([*command, 'receive', topic], env=environment, stdout=subprocess.PIPE, text=True) as receiver:
        try:
            subprocess.run([*command, 'send', topic], env=environment, timeout=limit_s, check=False)
            answer, _ = receiver.communicate(timeout=10.0)
        except subprocess.TimeoutExpired:
            receiver.kill()
            return 0
    return int(answer.strip() or 0)


def _send(topic: str) -> None:
    import rclpy
    from rclpy.qos import qos_profile_sensor_data
    from sensor_msgs.msg import Image

    rclpy.init()
    node = rclpy.create_node('doctor_sender')
    publisher = node.create_publisher(Image, topic, qos_profile_sensor_data)
    picture = Image(width=_WIDTH, height=_HEIGHT, encoding='rgb8', step=_WIDTH * 3)
    picture.data = array.array('B', bytes(_WIDTH * _HEIGHT * 3))
    give_up_s = time.monotonic() + 8.0
    while not publisher.get_subscription_count() and time.monotonic() < give_up_s:
        time.sleep(0.05)
    time.sleep(0.3)
    for _ in range(PICTURES):
        publisher.publish(picture)
        time.sleep(0.05)
    time.sleep(0.3)
    node.destroy_node()
    rclpy.shutdown()


def _receive(topic: str) -> None:
    import rclpy
    from rclpy.qos import qos_profile_sensor_data
    from sensor_msgs.msg import Image

    rclpy.init()
    node = rclpy.create_node('doctor_receiver')
    count = 0

    def on_picture(_: bytes) -> None:
        nonlocal count
        count += 1

    node.create_subscription(Image, topic, on_picture, qos_profile_sensor_data, raw=True)
    quiet_since_s = time.monotonic() + 9.0
    while count < PICTURES and time.monotonic() < quiet_since_s:
        before = count
        rclpy.spin_once(node, timeout_sec=0.2)
        if count != before:
            quiet_since_s = time.monotonic() + 1.0
    print(count)
    node.destroy_node()
    rclpy.shutdown()


if __name__ == '__main__':
    (_send if sys.argv[1] == 'send' else _receive)(sys.argv[2])
