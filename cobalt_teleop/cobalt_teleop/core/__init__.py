"""Pure Python: what Cobalt knows of teleoperation. Imports neither rclpy nor mujoco, so that it is tested in milliseconds."""
