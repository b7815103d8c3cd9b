#!/usr/bin/env python3
"""A tracker for trying out `pose_adapter`: a hand that circles on /hand, and its deadman switch on /hand_pressed.

The switch is pressed for four seconds, in which the hand goes around once, then let go for four. Ctrl-C ends it.
"""

import math
import time

import rclpy
from geometry_msgs.msg import PoseStamped
from rclpy.qos import qos_profile_sensor_data
from std_msgs.msg import Bool

RATE_HZ = 60.0
RADIUS_M = 0.05
TURN_S = 4.0
PRESSED_S, LET_GO_S = TURN_S, 4.0


def main() -> None:
    """Publishes until it is ended."""
    rclpy.init()
    node = rclpy.create_node('circling_tracker')
    poses = node.create_publisher(PoseStamped, '/hand', qos_profile_sensor_data)
    switch = node.create_publisher(Bool, '/hand_pressed', qos_profile_sensor_data)
    began_s, was_pressed = time.monotonic(), False
    while rclpy.ok():
        now_s = time.monotonic() - began_s
        # Let go first: a deadman that was never heard as released does not count as pressed.
        pressed = now_s % (LET_GO_S + PRESSED_S) > LET_GO_S
        if pressed != was_pressed:
            print('pressed' if pressed else 'let go', flush=True)
            was_pressed = pressed
        angle = 2.0 * math.pi * now_s / TURN_S
        pose = PoseStamped()
        pose.header.stamp, pose.header.frame_id = node.get_clock().now().to_msg(), 'room'
        pose.pose.position.x = RADIUS_M * math.cos(angle)
        pose.pose.position.y = RADIUS_M * math.sin(angle)
        pose.pose.orientation.w = 1.0
        switch.publish(Bool(data=pressed))
        poses.publish(pose)
        time.sleep(1.0 / RATE_HZ)


if __name__ == '__main__':
    try:
        main()
    except KeyboardInterrupt:
        pass
