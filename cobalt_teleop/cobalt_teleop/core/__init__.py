"""What Cobalt knows of teleoperation, in pure Python: no rclpy, no mujoco, so that it is tested in milliseconds."""
