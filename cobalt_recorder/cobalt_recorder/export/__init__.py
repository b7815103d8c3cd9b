"""Training data out of bags: LeRobot and robomimic data sets."""
