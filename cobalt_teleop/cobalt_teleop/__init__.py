"""Cobalt's floor: the core rules of teleoperation, the host of workcells, video, and the bridge to operators."""
