"""Records episodes of workcells into rosbag2 bags, and judges them."""
