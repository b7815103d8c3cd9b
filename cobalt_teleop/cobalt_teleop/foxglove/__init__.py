"""A server for Foxglove: any topic of the ROS graph as it is, and services for episodes and authority."""
