"""`vr_node`: drives arms by the controllers of VR headsets, whose pages send poses through the bridge."""

import sys

from cobalt_devices.pose_device import run_pose_device


def main() -> int:
    """Entry point of `vr_node`."""
    return run_pose_device('vr', 'Drives arms by the controllers of VR headsets.')


if __name__ == '__main__':
    sys.exit(main())
