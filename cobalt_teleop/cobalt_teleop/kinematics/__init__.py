"""What both kinds of host know of an arm: its description and its kinematics."""
