"""The thin shell between rclpy and the core: endpoints, parameters, processes."""
